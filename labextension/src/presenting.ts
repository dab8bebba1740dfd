/**
 * Presenting: a lab as a lecture hall sees it. Type and instruments are large, and nothing else is
 * on the page. All sizes come from the design system, so it only names other ones (index.css).
 */
import { ILabShell } from '@jupyterlab/application';
import { NotebookPanel } from '@jupyterlab/notebook';
import { ISignal, Signal } from '@lumino/signaling';

const PRESENTING = 'mlsys-mod-presenting';

export class Presenting {
  constructor(private _shell: ILabShell | null) {}

  /** Emitted when it is switched on or off. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  isOn(panel: NotebookPanel): boolean {
    return panel.hasClass(PRESENTING);
  }

  toggle(panel: NotebookPanel): void {
    const begins = !this.isOn(panel);
    panel.toggleClass(PRESENTING, begins);
    panel.toolbar.setHidden(begins);
    if (begins) {
      this._hadPanel = this._shell !== null && !this._shell.rightCollapsed;
      this._shell?.collapseLeft();
      this._shell?.collapseRight();
      panel.node.append(this._wayBack(panel));
    } else {
      panel.node.querySelector('.mlsys-Presenting-end')?.remove();
      if (this._hadPanel) {
        this._shell?.expandRight();
      }
    }
    // Plots draw themselves for the room they have.
    window.dispatchEvent(new Event('resize'));
    this._changed.emit();
  }

  private _wayBack(panel: NotebookPanel): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'mlsys-Presenting-end';
    button.textContent = 'Stop presenting';
    button.addEventListener('click', () => this.toggle(panel));
    return button;
  }

  /** Whether the right side bar was open before. */
  private _hadPanel = false;
  private _changed = new Signal<this, void>(this);
}
