/**
 * What a course tells about a lab: it is fetched when the lab is opened, and the kernel is told to
 * draw its cards again when there is something new.
 *
 * The server hands in and fetches, and the kernel draws the cards, each of which says whether what it
 * holds was handed in, and what it earned. The kernel reads the server's files whenever it draws.
 */
import { ILab } from './follow';
import { fetchTold, IReport } from './server';

/** Draws all cards again, and neither loads a library nor leaves a name behind. */
const LOOK =
  "getattr(__import__('sys').modules.get('mlsys_widgets.cards.announcements'), 'look_everywhere', bool)()";

export function lookAgain(lab: ILab): void {
  const future = lab.panel.sessionContext.session?.kernel?.requestExecute({
    code: LOOK,
    silent: true,
    store_history: false,
    stop_on_error: false
  });
  // A kernel that is restarted meanwhile reads the files when it draws its cards.
  void future?.done.catch(() => undefined);
}

export class ToldKernels {
  /** Have the kernel of a lab look again, once for each time that it was handed in or told about. */
  tell(lab: ILab | null, report: IReport | null): void {
    const news = [report?.handed_in?.time, report?.results?.tag].join(' ');
    const kernel = lab?.panel.sessionContext.session?.kernel;
    if (!kernel || news === ' ' || report?.path !== lab.path || this._told.get(kernel.id) === news) {
      return;
    }
    this._told.set(kernel.id, news);
    lookAgain(lab);
  }

  private _told = new Map<string, string>();
}

export class ResultsFetcher {
  /** Ask for what is told about a lab: nothing is lost if nobody answers now. */
  fetch(lab: ILab | null): void {
    if (lab && !lab.about.practice) {
      void fetchTold(lab.path).catch(() => undefined);
    }
  }

  /** Ask again when the due time has passed while the lab was open. */
  follow(lab: ILab | null, report: IReport | null): void {
    const state = report?.due?.state ?? '';
    if (lab && report?.path === lab.path && this._states.get(lab.path) !== state) {
      if (this._states.has(lab.path)) {
        this.fetch(lab);
      }
      this._states.set(lab.path, state);
    }
  }

  private _states = new Map<string, string>();
}
