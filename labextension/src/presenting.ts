/**
 * Presenting: a lab as a lecture hall sees it. Type and instruments are large, and nothing else is
 * on the page: no menus, tabs, side bars or status bar. All sizes come from the design system, so
 * it only names other ones (index.css). Escape brings everything back.
 */
import { NotebookPanel } from '@jupyterlab/notebook';
import { ISignal, Signal } from '@lumino/signaling';
import { DockPanel, Widget } from '@lumino/widgets';

const PRESENTING = 'mlsys-mod-presenting';
/** What takes Escape for itself while it is open. */
const OPEN = '.jp-Dialog, .lm-Menu, .jp-Completer:not(.lm-mod-hidden), :popover-open';

export class Presenting {
  /** Emitted when it is switched on or off. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  isOn(panel: NotebookPanel): boolean {
    return panel.hasClass(PRESENTING);
  }

  toggle(panel: NotebookPanel): void {
    this._end?.();
    if (!this.isOn(panel)) {
      this._begin(panel);
    }
  }

  private _begin(panel: NotebookPanel): void {
    const bringBack = clearAround(panel);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'mlsys-Presenting-end';
    button.textContent = 'Stop presenting (Esc)';
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector(OPEN)) {
        end();
      }
    };
    const end = (): void => {
      this._end = null;
      panel.disposed.disconnect(end);
      document.removeEventListener('keydown', onKey);
      button.remove();
      bringBack();
      panel.removeClass(PRESENTING);
      this._tell();
    };
    this._end = end;
    panel.disposed.connect(end);
    document.addEventListener('keydown', onKey);
    button.addEventListener('click', end);
    panel.addClass(PRESENTING);
    panel.node.append(button);
    this._tell();
  }

  private _tell(): void {
    // Plots draw themselves for the room they have.
    window.dispatchEvent(new Event('resize'));
    this._changed.emit();
  }

  /** Ends what is being presented. */
  private _end: (() => void) | null = null;
  private _changed = new Signal<this, void>(this);
}

/** Hide everything around a notebook; returns what brings it back. */
function clearAround(panel: NotebookPanel): () => void {
  const around: Widget[] = [panel.toolbar];
  for (let inner: Widget = panel; inner.parent; inner = inner.parent) {
    const { parent } = inner;
    // What lies beside the lab in the main area stays: an instrument, or another document.
    around.push(...(parent instanceof DockPanel ? parent.tabBars() : (parent.layout ?? [])));
  }
  const hidden = around.filter(each => !each.isHidden && !each.contains(panel));
  hidden.forEach(each => each.hide());
  return () => hidden.filter(each => !each.isDisposed).forEach(each => each.show());
}
