/**
 * The instrument of the step at hand, live, beside the notebook.
 *
 * It is a second view of the same output: what is moved in one moves in the other. It follows the
 * student through the lab.
 */
import { JupyterFrontEnd, ILabShell } from '@jupyterlab/application';
import { CodeCell } from '@jupyterlab/cells';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Throttler } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';
import React from 'react';
import { IInstrument } from './contract';
import { Follower, ILab } from './follow';
import { linkQuestions } from './question_links';
import { scroller } from './scroll';
import { isNarrow } from './sidebars';
import { LabStart } from './start';

/** Milliseconds between two looks at where a student has scrolled to. */
const LOOK = 150;
/** In a window less wide than this, the instrument takes the place of the Lab panel. */
const ROOM_FOR_BOTH = 1700;

/** The instrument for a cell: the last one up to there, or else the first. */
export function instrumentFor(instruments: IInstrument[], index: number): IInstrument | null {
  return instruments.filter(each => each.index <= index).pop() ?? instruments[0] ?? null;
}

/** The cell that a student looks at: the one a third down the page. */
function cellInView(lab: ILab): number {
  const frame = scroller(lab.panel).getBoundingClientRect();
  const line = frame.top + frame.height / 3;
  const { widgets } = lab.panel.content;
  const found = widgets.findIndex(
    ({ node }) => node.isConnected && node.getBoundingClientRect().bottom >= line
  );
  return found < 0 ? widgets.length - 1 : found;
}

/** Offers the instrument beside the open lab, and closes it with the lab. */
export class Beside {
  constructor(
    private _app: JupyterFrontEnd,
    private _labShell: ILabShell | null,
    private _follower: Follower,
    private _startOf: (lab: ILab) => LabStart | null
  ) {
    _follower.changed.connect(() => {
      if (this._view && this._follower.lab?.panel !== this._view.lab.panel) {
        this.close();
      }
      this._link();
      this._changed.emit();
    });
    this._link();
    window.addEventListener('resize', () => {
      if (isNarrow()) {
        this.close();
      }
      this._changed.emit();
    });
    // Cards link to the instruments they are about, and show these links where this can follow them.
    this._changed.connect(() => document.body.classList.toggle('mlsys-mod-offersBeside', this.isOffered));
    document.addEventListener('mlsys-beside', event => this._bring((event as CustomEvent).detail));
  }

  /** Emitted when it is opened or closed, or can or cannot be opened any more. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isOpen(): boolean {
    return this._view !== null;
  }

  /** Whether there is an instrument, and room for it. */
  get isOffered(): boolean {
    return this._labShell !== null && (this._follower.lab?.instruments.length ?? 0) > 0 && !isNarrow();
  }

  toggle(): void {
    if (this._view) {
      this.close();
    } else if (this.isOffered && this._follower.lab) {
      this._open(this._follower.lab);
    }
  }

  close(): void {
    this._view?.dispose();
  }

  /** Show the instrument with this title beside the notebook. */
  private _bring(title: unknown): void {
    const lab = this._follower.lab;
    const found = lab?.instruments.find(each => each.title === title);
    if (!lab || !found || !this.isOffered) {
      return;
    }
    if (!this._view) {
      this._open(lab);
    }
    this._view?.bring(found.index);
  }

  /** Offer the instruments below the questions of the open lab. */
  private _link(): void {
    if (this._follower.lab && this._labShell) {
      linkQuestions(this._follower.lab, title => this._bring(title));
    }
  }

  private _open(lab: ILab): void {
    const view = (this._view = new InstrumentView(lab, () => this._follower.lab ?? lab, this._startOf(lab)));
    const labShell = this._labShell!;
    const tookPlace = !labShell.rightCollapsed && window.innerWidth < ROOM_FOR_BOTH;
    if (tookPlace) {
      labShell.collapseRight();
    }
    view.disposed.connect(() => {
      this._view = null;
      if (tookPlace) {
        labShell.expandRight();
      }
      if (!lab.panel.isDisposed) {
        lab.panel.activate();
      }
      this._changed.emit();
    });
    this._app.shell.add(view, 'main', { mode: 'split-right', ref: lab.panel.id, activate: false });
    view.activate();
    this._changed.emit();
  }

  private _changed = new Signal<this, void>(this);
  private _view: InstrumentView | null = null;
}

class InstrumentView extends Panel {
  constructor(
    readonly lab: ILab,
    private _now: () => ILab,
    private _start: LabStart | null
  ) {
    super();
    this.id = 'mlsys-instrument-beside';
    this.addClass('mlsys-Beside');
    this.title.label = 'Instrument';
    this.title.caption = `The instrument for where you are in ${lab.about.title}`;
    this.title.closable = true;
    this._chooser = new Chooser(index => this.bring(index));
    this.addWidget(this._chooser);
    this._frame = scroller(lab.panel);
    this._frame.addEventListener('scroll', this._later, { passive: true });
    lab.panel.content.activeCellChanged.connect(this._follow, this);
    lab.panel.disposed.connect(this.dispose, this);
    _start?.changed.connect(this._onStart, this);
    this._follow();
    this._onStart();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._frame.removeEventListener('scroll', this._later);
      this._looks.dispose();
      // As a receiver only: those who wait for it to be disposed are still to be told.
      Signal.disconnectReceiver(this);
      super.dispose();
    }
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    void this._chooser.renderPromise?.then(() => this._chooser.node.querySelector('select')?.focus());
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose();
  }

  private _later = (): void => void this._looks.invoke();

  /** Show the instrument of another part of the lab once the student is there. */
  private _follow(): void {
    const lab = this._now();
    if (this.isDisposed || lab.panel !== this.lab.panel) {
      return;
    }
    const due = instrumentFor(lab.instruments, cellInView(lab));
    if (due && due.index !== this._due) {
      this._due = due.index;
      this.bring(due.index);
    }
  }

  /** Show another instrument, until the student is where yet another one is due. */
  bring(index: number): void {
    const { instruments, panel } = this._now();
    const cell = panel.content.widgets[index];
    if (!(cell instanceof CodeCell) || cell === this._cell) {
      return;
    }
    this._cell = cell;
    this._copy?.dispose();
    this._copy = cell.cloneOutputArea();
    this._copy.addClass('mlsys-Beside-copy');
    this.addWidget(this._copy);
    this._onStart();
    this.title.label = instruments.find(each => each.index === index)?.title ?? 'Instrument';
    this._chooser.offer(instruments, index);
  }

  /** What the kernel has left behind takes no input here either. */
  private _onStart(): void {
    if (this._copy) {
      const stale = this._start?.stage === 'waiting';
      this._copy.node.inert = stale;
      this._copy.toggleClass('mlsys-mod-stale', stale);
    }
  }

  private _cell: CodeCell | null = null;
  private _chooser: Chooser;
  private _copy: Widget | null = null;
  private _due: number | null = null;
  private _frame: HTMLElement;
  private _looks = new Throttler(() => this._follow(), LOOK);
}

/** Lets a student choose another instrument of the lab than the one at hand. */
class Chooser extends ReactWidget {
  constructor(private _choose: (index: number) => void) {
    super();
    this.addClass('mlsys-Beside-chooser');
  }

  offer(instruments: IInstrument[], index: number): void {
    this._instruments = instruments;
    this._index = index;
    this.update();
  }

  protected override render(): JSX.Element {
    return (
      <>
        <label htmlFor="mlsys-beside-choice">Instrument</label>{' '}
        <select
          id="mlsys-beside-choice"
          value={this._index}
          onChange={event => this._choose(Number(event.target.value))}
        >
          {this._instruments.map(({ index, title }) => (
            <option key={index} value={index}>
              {title}
            </option>
          ))}
        </select>
      </>
    );
  }

  private _index = 0;
  private _instruments: IInstrument[] = [];
}
