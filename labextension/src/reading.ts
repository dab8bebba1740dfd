/**
 * Reading view: the code of the lab's own cells is out of sight, and what it draws is not.
 *
 * It is a matter of the page alone. Nothing in the notebook changes, so it needs no saving.
 */
import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ISignal, Signal } from '@lumino/signaling';
import { isGraded, isLocked, kindOf } from './contract';

const READING = 'mlsys-mod-reading';
const LOCKED = 'mlsys-mod-locked';
const GRADED = 'mlsys-mod-graded';
const ESSAY = 'mlsys-mod-essay';
/** Remembers that a student wants to see the code. */
const CODE_SHOWN = 'mlsys-widgets-lab:code-shown';

export class ReadingView {
  constructor(private _memory: IStateDB | null) {
    void _memory?.fetch(CODE_SHOWN).then(shown => {
      if (shown === true && this._isOn) {
        this._set(false);
      }
    });
  }

  /** Emitted when it is switched on or off. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isOn(): boolean {
    return this._isOn;
  }

  toggle(): void {
    this._set(!this._isOn);
    void this._memory?.save(CODE_SHOWN, !this._isOn);
  }

  /** Show a lab in this view for as long as it is open. */
  add(panel: NotebookPanel): void {
    this._panels.add(panel);
    panel.disposed.connect(() => this._panels.delete(panel));
    // Also those that are moved or undone: each has a new widget then.
    panel.context.model.cells.changed.connect(() => this._draw(panel));
    this._draw(panel);
  }

  private _set(isOn: boolean): void {
    this._isOn = isOn;
    this._panels.forEach(panel => this._draw(panel));
    this._changed.emit();
  }

  private _draw(panel: NotebookPanel): void {
    panel.toggleClass(READING, this._isOn);
    for (const cell of panel.content.widgets) {
      if (cell.model.type === 'code' && isLocked(cell.model)) {
        cell.addClass(LOCKED);
        // What it prints stands in the question's card already, where it is never old.
        cell.toggleClass(GRADED, kindOf(cell.model) === 'graded');
        void this._fold(cell);
      }
      // What was written in the card of an essay, in the cell that a person grades (essays.ts).
      cell.toggleClass(ESSAY, cell.model.type === 'markdown' && isGraded(cell.model));
    }
  }

  /** Unfold a cell whose notebook says that it is folded, without telling the notebook. */
  private async _fold(cell: Cell): Promise<void> {
    await cell.ready;
    if (cell.isDisposed) {
      return;
    }
    if (!this._isOn && cell.inputHidden) {
      cell.syncCollapse = false;
      cell.inputHidden = false;
      this._unfolded.add(cell);
    } else if (this._isOn && this._unfolded.delete(cell)) {
      // Reads again what the notebook says.
      cell.syncCollapse = true;
    }
  }

  private _changed = new Signal<this, void>(this);
  private _isOn = true;
  private _panels = new Set<NotebookPanel>();
  private _unfolded = new WeakSet<Cell>();
}
