/**
 * The deeper sections of a lab: one click anywhere on the line opens what is folded below it.
 *
 * The fold is JupyterLab's own, so the notebook remembers it, and it works without this, too.
 */
import { MarkdownCell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { kindOf } from './contract';

const DEEPER = 'mlsys-mod-deeper';

export class DeeperSections {
  /** Have the headings of a lab's deeper sections look like it, for as long as it is open. */
  add(panel: NotebookPanel): void {
    panel.context.model.cells.changed.connect(() => this._mark(panel));
    panel.content.node.addEventListener('click', event => this._open(panel, event.target));
    this._mark(panel);
  }

  private _mark(panel: NotebookPanel): void {
    for (const cell of panel.content.widgets) {
      cell.toggleClass(DEEPER, kindOf(cell.model) === 'deeper');
    }
  }

  private _open(panel: NotebookPanel, target: EventTarget | null): void {
    // JupyterLab's own buttons do the same.
    if (!(target instanceof Element) || target.closest('button, a')) {
      return;
    }
    const cell = panel.content.widgets.find(each => each.node.contains(target));
    if (cell instanceof MarkdownCell && cell.hasClass(DEEPER) && cell.headingCollapsed) {
      NotebookActions.setHeadingCollapse(cell, false, panel.content);
    }
  }
}
