/** Follows the open notebook, and reads it again whenever it changes. */
import { INotebookModel, INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { ISignal, Signal } from '@lumino/signaling';
import { aboutLab, IAbout, IInstrument, instrumentsOf, IStep, stepsOf } from './contract';
import { wayOf } from './way';

/** Milliseconds without typing after which a notebook is read again. */
const REST = 250;

/** The lab in the open notebook. */
export interface ILab {
  panel: NotebookPanel;
  path: string;
  about: IAbout;
  steps: IStep[];
  /** The steps and what lies between them. */
  way: IStep[];
  instruments: IInstrument[];
}

export class Follower implements IDisposable {
  constructor(private _tracker: INotebookTracker) {
    _tracker.currentChanged.connect(this._follow, this);
    void this._follow();
  }

  /** Emitted when another lab is open, or the open one reads differently. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The lab in the open notebook, or null. */
  get lab(): ILab | null {
    return this._lab;
  }

  /** The notebook whose signals are listened to, or null. */
  get listening(): NotebookPanel | null {
    return this._panel;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._detach();
    this._soon.dispose();
    Signal.clearData(this);
  }

  private async _follow(): Promise<void> {
    const panel = this._tracker.currentWidget;
    if (panel === this._panel) {
      return;
    }
    this._detach();
    this._panel = panel;
    if (panel) {
      panel.disposed.connect(this._closed, this);
      // Until then the model has neither cells nor metadata.
      await panel.context.ready;
      if (this._panel !== panel || panel.isDisposed) {
        return;
      }
      panel.context.pathChanged.connect(this._read, this);
      this._model = panel.context.model;
      this._model.contentChanged.connect(this._later, this);
    }
    this._read();
  }

  private _later(): void {
    void this._soon.invoke();
  }

  private _closed(): void {
    this._detach();
    this._read();
  }

  private _detach(): void {
    this._model?.contentChanged.disconnect(this._later, this);
    this._model = null;
    if (this._panel) {
      this._panel.disposed.disconnect(this._closed, this);
      this._panel.context.pathChanged.disconnect(this._read, this);
      this._panel = null;
    }
  }

  private _read(): void {
    const before = this._lab;
    this._lab = this._model && this._panel ? this._reading(this._panel, this._model) : null;
    if (before !== this._lab && JSON.stringify(shown(before)) !== JSON.stringify(shown(this._lab))) {
      this._changed.emit();
    }
  }

  private _reading(panel: NotebookPanel, model: INotebookModel): ILab | null {
    const about = aboutLab(model);
    return (
      about && {
        panel,
        path: panel.context.localPath,
        about,
        steps: stepsOf(model),
        way: wayOf(model),
        instruments: instrumentsOf(model)
      }
    );
  }

  private _changed = new Signal<this, void>(this);
  private _isDisposed = false;
  private _lab: ILab | null = null;
  private _model: INotebookModel | null = null;
  private _panel: NotebookPanel | null = null;
  private _soon = new Debouncer(() => this._read(), REST);
}

/** The parts of a lab that can be compared. */
function shown(lab: ILab | null): unknown {
  return lab && [lab.panel.id, lab.path, lab.about, lab.way, lab.instruments];
}
