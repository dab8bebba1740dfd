/**
 * Marks a lab as unsaved when something was done in its cards.
 *
 * The file of a notebook also holds how its cards look, for exports and for whoever opens it
 * without a kernel. A click in a card changes no cell, so JupyterLab would not save it.
 */
import { ILab } from './follow';
import { IReport } from './server';

export class Unsaved {
  /** Compare what the ledger of the open lab holds with what it held before. */
  note(lab: ILab | null, report: IReport | null): void {
    if (lab === null || report === null || report.path !== lab.path) {
      return;
    }
    const before = this._events.get(lab.path);
    this._events.set(lab.path, report.events);
    if (before !== undefined && report.events > before && !isSaved(lab, report)) {
      lab.panel.context.model.dirty = true;
    }
  }

  private _events = new Map<string, number>();
}

/** Whether the notebook was saved after the last event, which we may hear of only afterward. */
function isSaved(lab: ILab, report: IReport): boolean {
  const saved = Date.parse(lab.panel.context.contentsModel?.last_modified ?? '');
  return report.last !== null && saved >= Date.parse(report.last.time);
}
