/** Goes to a cell, and stays there while the cells above it are still being drawn. */
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';

/** Milliseconds for which a cell is kept in its place. */
const LONGEST = 4000;
/** Pixels by which a cell may be off. */
const SLACK = 8;
/** What a student does to go elsewhere. */
const MOVES = ['wheel', 'keydown', 'pointerdown', 'touchstart'] as const;

/** Scroll to a cell and focus it. */
export async function goToCell(panel: NotebookPanel, index: number): Promise<void> {
  const notebook = panel.content;
  const cell = notebook.widgets[index];
  if (!cell) {
    return;
  }
  NotebookActions.expandParent(cell, notebook);
  notebook.mode = 'command';
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, 'start');
  notebook.activate();
}

/** Notices whether the student goes elsewhere, until it is disposed of. */
export class StudentMoves implements IDisposable {
  constructor() {
    MOVES.forEach(move => document.addEventListener(move, this._leave, { capture: true, passive: true }));
  }

  get any(): boolean {
    return this._any;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    MOVES.forEach(move => document.removeEventListener(move, this._leave, { capture: true }));
  }

  private _leave = (): void => {
    this._any = true;
  };
  private _any = false;
  private _isDisposed = false;
}

/** Keep a cell at the top of the page until everything above it is drawn, or the student moves. */
export async function stayAt(panel: NotebookPanel, index: number): Promise<void> {
  const cell = panel.content.widgets[index];
  const moves = new StudentMoves();
  const until = performance.now() + LONGEST;
  while (!moves.any && !panel.isDisposed && performance.now() < until) {
    await new Promise(requestAnimationFrame);
    const place = panel.content.widgets.indexOf(cell);
    if (!moves.any && place >= 0) {
      await bringBack(panel, place);
    }
  }
  moves.dispose();
}

/** Scroll by as much as a cell is off the top of the page. */
async function bringBack(panel: NotebookPanel, index: number): Promise<void> {
  const { node } = panel.content.widgets[index];
  if (!node.isConnected) {
    await panel.content.scrollToItem(index, 'start');
    return;
  }
  const frame = scroller(panel);
  const off = node.getBoundingClientRect().top - frame.getBoundingClientRect().top;
  if (Math.abs(off) > SLACK) {
    // Not by scrollToItem: it takes the heights of cells that were never drawn for known.
    frame.scrollTop += off;
  }
}

/** The first cell that can be seen, or -1. */
export function cellInView(panel: NotebookPanel): number {
  const top = scroller(panel).getBoundingClientRect().top;
  return panel.content.widgets.findIndex(
    ({ node }) => node.isConnected && node.getBoundingClientRect().bottom > top + SLACK
  );
}

/** Where a student is in each notebook of this tab, so that a reload returns there. */
const PLACES = 'mlsys-place:';
/** Milliseconds between two notes of it. */
const REST = 400;

/** Keep where the student is, for as long as the tab is open. */
export function rememberPlace(panel: NotebookPanel): void {
  const frame = scroller(panel);
  const note = new Debouncer(() => {
    const cell = panel.content.widgets[cellInView(panel)];
    if (cell && !panel.isDisposed) {
      sessionStorage.setItem(PLACES + panel.context.path, cell.model.id);
    }
  }, REST);
  const later = (): void => void note.invoke();
  frame.addEventListener('scroll', later, { passive: true });
  panel.disposed.connect(() => note.dispose());
}

/** Return to where the student was before the page was loaded again. */
export async function returnToPlace(panel: NotebookPanel): Promise<void> {
  const id = sessionStorage.getItem(PLACES + panel.context.path);
  const index = panel.content.widgets.findIndex(cell => cell.model.id === id);
  if (index > 0) {
    await panel.content.scrollToItem(index, 'start');
    await stayAt(panel, index);
  }
}

/** The element of a notebook that scrolls. */
export function scroller(panel: NotebookPanel): HTMLElement {
  return panel.content.node.querySelector<HTMLElement>('.jp-WindowedPanel-outer') ?? panel.content.node;
}
