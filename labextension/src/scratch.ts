/**
 * Scratch cells: room for a calculation below a question, a line until somebody wants it.
 *
 * It is a matter of the page alone: nothing in the notebook changes. What a student has written
 * is never folded away unasked.
 */
import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { kindOf } from './contract';

const SCRATCH = 'mlsys-mod-scratch';
const FOLDED = 'mlsys-mod-folded';

/** Fold the scratch cells of a lab for as long as it is open. */
export function foldScratch(panel: NotebookPanel): void {
  const notebook = panel.content;
  const draw = (): void => {
    for (const cell of notebook.widgets) {
      if (kindOf(cell.model) === 'scratch' && !cell.hasClass(SCRATCH)) {
        cell.addClass(SCRATCH);
        void addLine(panel, cell);
      }
    }
  };
  // Also those that are moved or undone: each has a new widget then.
  panel.context.model.cells.changed.connect(draw);
  // Enter on a folded cell begins to edit it, so it has to be seen.
  notebook.stateChanged.connect(() => {
    if (notebook.mode === 'edit') {
      notebook.activeCell?.removeClass(FOLDED);
      tell(notebook.activeCell);
    }
  });
  draw();
}

/** Put the line above a cell that opens and folds it. */
async function addLine(panel: NotebookPanel, cell: Cell): Promise<void> {
  await cell.ready;
  if (cell.isDisposed) {
    return;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'mlsys-Scratch-line';
  button.textContent = 'Compute here';
  button.addEventListener('click', () => {
    const opens = cell.hasClass(FOLDED);
    cell.toggleClass(FOLDED, !opens);
    tell(cell);
    if (opens) {
      panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
      panel.content.mode = 'edit';
    }
  });
  cell.node.prepend(button);
  cell.toggleClass(FOLDED, isEmpty(cell));
  tell(cell);
}

function tell(cell: Cell | null): void {
  const line = cell?.node.querySelector(':scope > .mlsys-Scratch-line');
  line?.setAttribute('aria-expanded', String(!cell?.hasClass(FOLDED)));
}

/** Whether nobody has written anything into a cell: what we put there are comments. */
function isEmpty(cell: Cell): boolean {
  const lines = cell.model.sharedModel.getSource().split('\n');
  return lines.every(line => /^\s*(#|$)/.test(line));
}
