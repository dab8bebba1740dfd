/**
 * A lab on a page with room for one column: a phone, a tablet, a small window, or a large zoom.
 *
 * Nothing is beside or above it but one bar. The Lab panel comes over it as a sheet, and the menus of
 * JupyterLab come back when they are asked for.
 */
import { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { NotebookPanel } from '@jupyterlab/notebook';
import { ReactWidget } from '@jupyterlab/ui-components';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import React from 'react';
import { Follower } from './follow';
import { isNarrow, whenWidthChanges } from './sidebars';

const NARROW = 'mlsys-mod-narrow';

export class NarrowView {
  /**
   * @param _panel - The Lab panel, which is on the right where there is room.
   * @param _putBack - Puts it there.
   */
  constructor(
    app: JupyterFrontEnd,
    private _shell: ILabShell,
    private _follower: Follower,
    private _panel: Widget,
    private _putBack: () => void
  ) {
    this._sheet.className = 'mlsys-Sheet';
    this._sheet.setAttribute('role', 'dialog');
    this._sheet.setAttribute('aria-modal', 'true');
    this._sheet.setAttribute('aria-label', 'Lab panel');
    const back = document.createElement('button');
    back.type = 'button';
    back.textContent = 'Back to the lab';
    back.addEventListener('click', () => this.closePanel());
    this._sheet.append(back);
    this._sheet.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        this.closePanel();
      }
    });
    // Until then, what was open the last time is still put back.
    void app.restored.then(() => {
      whenWidthChanges(() => this._draw());
      _follower.changed.connect(() => this._draw());
      _shell.layoutModified.connect(() => this._draw());
      this._draw();
    });
  }

  /** Emitted when something that its bar shows has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Whether the lab has the page for itself. */
  get isOn(): boolean {
    return this._lab !== null;
  }

  /** Whether the menus of JupyterLab were asked for on a page that has no room for them. */
  get hasMenus(): boolean {
    return this._hasMenus;
  }

  toggleMenus(): void {
    this._hasMenus = !this._hasMenus;
    this._draw();
  }

  /** Show the Lab panel over the lab. */
  openPanel(): void {
    if (!this._sheet.isConnected) {
      document.body.append(this._sheet);
      this._shell.node.inert = true;
      this._panel.parent = null;
      // A side bar hides what it does not show.
      this._panel.show();
      Widget.attach(this._panel, this._sheet);
      this._sheet.querySelector('button')?.focus();
    }
  }

  closePanel(): void {
    if (this._sheet.isConnected) {
      Widget.detach(this._panel);
      this._sheet.remove();
      this._shell.node.inert = false;
      this._putBack();
      this._lab?.activate();
    }
  }

  private _draw(): void {
    const narrow = isNarrow();
    this._hasMenus &&= narrow;
    const open = this._follower.lab?.panel;
    // Another document may be in front of it, which has no bar.
    const lab = narrow && !this._hasMenus && open?.isVisible ? open : null;
    if (lab !== this._lab) {
      const before = this._lab;
      this.closePanel();
      this._lab = lab;
      document.body.classList.toggle(NARROW, lab !== null);
      fitAround(lab ?? before);
    }
    if (lab && !this._sheet.isConnected) {
      // JupyterLab opens side bars by itself, as for the folder of a notebook; nobody sees that here.
      this._wasShown ||= this._panel.isVisible;
      this._foldSides();
    } else if (!narrow && this._wasShown) {
      this._wasShown = false;
      this._shell.activateById(this._panel.id);
      open?.activate();
    }
    this._changed.emit();
  }

  private _foldSides(): void {
    if (!this._shell.leftCollapsed) {
      this._shell.collapseLeft();
    }
    if (!this._shell.rightCollapsed) {
      this._shell.collapseRight();
    }
  }

  private _changed = new Signal<this, void>(this);
  private _hasMenus = false;
  private _lab: NotebookPanel | null = null;
  private _sheet = document.createElement('div');
  /** Whether the panel was on the right before the page became narrow. */
  private _wasShown = false;
}

/** Have everything around a notebook ask its parts again how much room they need. */
function fitAround(panel: NotebookPanel | null): void {
  for (let each: Widget | null = panel?.isDisposed ? null : panel; each; each = each.parent) {
    each.fit();
  }
}

/** What is above a lab on a narrow page: how far along it is, which opens the panel, and the menus. */
export class NarrowBar extends ReactWidget {
  constructor(
    private _view: NarrowView,
    private _words: () => string,
    private _changes: ISignal<object, void>[]
  ) {
    super();
    this.addClass('mlsys-NarrowBar');
    this._onChanged();
    _view.changed.connect(this._onChanged, this);
    _changes.forEach(each => each.connect(this._onChanged, this));
  }

  override dispose(): void {
    this._view.changed.disconnect(this._onChanged, this);
    this._changes.forEach(each => each.disconnect(this._onChanged, this));
    super.dispose();
  }

  protected override render(): JSX.Element {
    const { isOn, hasMenus } = this._view;
    return (
      <>
        {isOn && <button onClick={() => this._view.openPanel()}>Lab: {this._words()}</button>}
        <button aria-pressed={hasMenus} onClick={() => this._view.toggleMenus()}>
          {hasMenus ? 'Hide menus' : 'Menus'}
        </button>
      </>
    );
  }

  private _onChanged(): void {
    this.setHidden(!isNarrow());
    this.update();
  }
}
