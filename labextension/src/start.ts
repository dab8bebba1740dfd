/**
 * Starts and resumes a lab: knows whether its cells are alive, runs them, and finds the next step.
 *
 * There is one for every open lab. What it says is shown by the banner above the notebook and by
 * the Lab panel.
 */
import { Cell, CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { INotebookModel, Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { Contents, Kernel } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { cellsToRun, isBegun } from './contract';
import { beginKernel, hasWidgets, isSetUp, kernelOf, runCells, warmUp } from './run';
import { saveQuietly } from './saving';
import { cellInView, goToCell, rememberPlace, returnToPlace, stayAt, StudentMoves } from './scroll';
import { fetchReport, IReport } from './server';
import { bringUpToDate, introduce, keepStorage, storageTrouble } from './site';
import { SITE } from './site/site';
import { markFresh, markStale, widgetsIn } from './stale';
import { wayOf, whereLeftOff } from './way';
import { whenReplaced } from './widgets/replaced';

/**
 * Looking: not known yet. Waiting: cells have to run first, for a reason. Running: they do.
 * Failed: they have, and some failed. Ready: nothing has to be done.
 */
export type Stage = 'looking' | 'waiting' | 'running' | 'failed' | 'ready';

/** Why a lab waits. New: nothing is saved yet. Left: something is. */
export type Reason = 'new' | 'left' | 'restarted' | 'stopped' | 'died';

export class LabStart implements IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    private readonly _contents: Contents.IManager
  ) {
    const { sessionContext } = panel;
    panel.disposed.connect(this.dispose, this);
    sessionContext.statusChanged.connect(this._onStatus, this);
    sessionContext.kernelChanged.connect(this._onKernel, this);
    NotebookActions.executionScheduled.connect(this._onScheduled, this);
    NotebookActions.executed.connect(this._onExecuted, this);
    void this._look();
  }

  /** Emitted when there is something new to show. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get stage(): Stage {
    return this._stage;
  }

  get reason(): Reason {
    return this._reason;
  }

  /** How many cells have run, and of how many. */
  get count(): { done: number; all: number } {
    return this._count;
  }

  /** Whether cells wait for a kernel that is still starting. */
  get waitsForKernel(): boolean {
    return this._stage === 'running' && this._count.all === 0;
  }

  /** The first line of each cell that failed, or why nothing could run. */
  get failures(): string[] {
    return this._failures;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._turn++;
    Signal.clearData(this);
  }

  /** Run what has to run, and go to where the student left off. */
  async run(): Promise<void> {
    if (this._stage === 'running' || !(await this._isKnown())) {
      return;
    }
    const all = (): CodeCell[] =>
      cellsToRun(this.panel.context.model).map(
        index => this.panel.content.widgets[index] as CodeCell
      );
    const fresh = this._reason === 'new';
    // Before anything is drawn again and moves what is below it.
    const seen = cellInView(this.panel);
    const moves = new StudentMoves();
    const isWhole = await this._run(all);
    moves.dispose();
    if (isWhole) {
      // Whoever has begun to read or work meanwhile, as with Begin on the cover, is not called away.
      if (!moves.any) {
        await this._goOn(fresh, seen);
      }
      // A page that is loaded again shows what was saved: it finds the widgets of this kernel there.
      // Not before: while a notebook is saved, the server cannot tell what is done in it.
      void saveQuietly(this.panel, this._contents);
    }
  }

  /** Wait for Start: the lab was restarted from the beginning, and there is nothing to resume. */
  beginAgain(): void {
    this._wait('new');
  }

  /** Wait for Resume: the kernel was restarted for a reason that was told. */
  resume(): void {
    this._wait('restarted');
  }

  /** Stop saying which cells failed. */
  close(): void {
    this._show('ready');
  }

  /** Go to the first cell that failed. */
  async goToFailure(): Promise<void> {
    if (this._firstFailure && !this._firstFailure.isDisposed) {
      await goToCell(this.panel, this.panel.content.widgets.indexOf(this._firstFailure));
    }
  }

  /** Whether somebody has said who works here and the notebook goes with its questions, on a site. */
  private async _isKnown(): Promise<boolean> {
    if (SITE === '') {
      return true;
    }
    const before = this._stage;
    this._count = { done: 0, all: 0 };
    this._show('running');
    try {
      const trouble = await storageTrouble();
      if (trouble !== null) {
        throw new Error(trouble);
      }
      await kernelOf(this.panel.sessionContext);
      const isKnown = await introduce(this.panel.context.localPath);
      // The browser grants it to somebody who works here, and says nothing where it does not.
      void keepStorage();
      const isCurrent = isKnown && (await bringUpToDate(this.panel));
      if (this._stage === 'running') {
        this._show(before);
      }
      return isCurrent;
    } catch (error) {
      this._firstFailure = null;
      this._failures = [error instanceof Error ? error.message : `${error}`];
      this._show('failed');
      return false;
    }
  }

  /** Run cells once the kernel is there; returns whether nothing came in between. */
  private async _run(cells: () => CodeCell[]): Promise<boolean> {
    const turn = ++this._turn;
    this._count = { done: 0, all: 0 };
    this._failures = [];
    this._show('running');
    const { content, sessionContext } = this.panel;
    try {
      const kernel = await kernelOf(sessionContext);
      if (turn !== this._turn) {
        return false;
      }
      const some = cells();
      this._count = { done: 0, all: some.length };
      this._changed.emit();
      const isOver = (): boolean => turn !== this._turn;
      const onDone = (cell: CodeCell, done: number): void => {
        if (!isOver()) {
          this._alive(cell);
          this._count.done = done;
          this._changed.emit();
        }
      };
      const failed = await runCells(some, sessionContext, kernel, onDone, isOver);
      if (isOver()) {
        return false;
      }
      const inOrder = content.widgets.filter(cell => failed.includes(cell as CodeCell));
      this._firstFailure = inOrder[0] ?? null;
      this._failures = inOrder.map(cell => nameOf(cell));
    } catch (error) {
      if (turn !== this._turn) {
        return false;
      }
      this._firstFailure = null;
      this._failures = [error instanceof Error ? error.message : `${error}`];
    }
    this._show(this._failures.length > 0 ? 'failed' : 'ready');
    return true;
  }

  /**
   * Go to where the student left off; to the top when nothing is done yet. When all is done, or nobody
   * knows what is, stay at the cell that was in view.
   */
  private async _goOn(fresh: boolean, seen: number): Promise<void> {
    const { panel } = this;
    const report = await this._report();
    const left = report && whereLeftOff(wayOf(panel.context.model), report);
    const place = fresh && !isBegun(report) ? 0 : (left?.index ?? seen);
    if (!this._isDisposed) {
      await goToCell(panel, place);
      void stayAt(panel, place);
    }
  }

  private async _look(): Promise<void> {
    const { panel } = this;
    await panel.context.ready;
    if (panel.isDisposed) {
      return;
    }
    staysClean(panel.context.model);
    void panel.revealed.then(() => returnToPlace(panel)).then(() => rememberPlace(panel));
    const hadKernel = this._hasSession();
    beginKernel(panel);
    if (!hadKernel) {
      // At once, and not when the server has answered: that is a second later on a busy machine.
      this._wait(hasRun(panel.context.model) ? 'left' : 'new');
    }
    // A page that was closed before it was saved has left its kernel the lab, and us no card of it, or
    // cards of an earlier kernel.
    const drawn = hadKernel && hasRun(panel.context.model);
    const [alive, report] = await Promise.all([drawn && this._isAlive(), this._report()]);
    if (this._isDisposed) {
      return;
    }
    const reason = isBegun(report) ? 'left' : 'new';
    if (alive && this._stage === 'looking') {
      this._show('ready');
    } else if (
      this._stage === 'looking' ||
      // What the notebook led to expect is not what the ledger says.
      (this._stage === 'waiting' && isFirst(this._reason) && this._reason !== reason)
    ) {
      this._wait(reason);
    }
  }

  /** Whether the notebook had a kernel before this page was loaded. */
  private _hasSession(): boolean {
    const { path, sessionManager } = this.panel.sessionContext;
    return [...sessionManager.running()].some(session => session.path === path);
  }

  /** Whether a kernel that was there before this page still has the lab. */
  private async _isAlive(): Promise<boolean> {
    const { sessionContext } = this.panel;
    try {
      await sessionContext.initialize();
      const kernel = sessionContext.session?.kernel;
      return kernel ? (await isSetUp(kernel)) && (await hasWidgets(kernel, this._drawn())) : false;
    } catch (error) {
      return false;
    }
  }

  /** The widgets that the lab shows, by their models. */
  private _drawn(): string[] {
    const { model } = this.panel.context;
    return cellsToRun(model).flatMap(index => widgetsIn(model.cells.get(index) as ICodeCellModel));
  }

  private async _report(): Promise<IReport | null> {
    try {
      const path = this.panel.context.localPath;
      const news = await fetchReport(path, null, 0, new AbortController().signal);
      return news?.report ?? null;
    } catch (error) {
      // The panel says what is wrong; a lab can be run without.
      return null;
    }
  }

  /** Wait for the student to press the button, with everything that was drawn marked. */
  private _wait(reason: Reason): void {
    this._turn++;
    this._reason = reason;
    const { content, context } = this.panel;
    this._left = new Set(cellsToRun(context.model).map(index => content.widgets[index]));
    for (const cell of content.widgets) {
      if (cell instanceof CodeCell) {
        void markStale(cell);
      }
    }
    this._show('waiting');
  }

  private _alive(cell: Cell): void {
    if (cell instanceof CodeCell) {
      markFresh(cell);
    }
    this._left.delete(cell);
  }

  private _onStatus(_: unknown, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting') {
      this._wait('restarted');
    } else if (status === 'dead') {
      this._wait('died');
    }
  }

  private _onKernel(
    _: unknown,
    change: { oldValue?: Kernel.IKernelConnection | null; newValue?: Kernel.IKernelConnection | null }
  ): void {
    const { oldValue, newValue } = change;
    if (oldValue && !newValue) {
      this._wait('stopped');
    } else if (oldValue && newValue && oldValue.id !== newValue.id) {
      this._wait('restarted');
    } else if (newValue && this._early.length > 0) {
      const cells = this._early.splice(0);
      void this._run(() => cells.filter(cell => !cell.isDisposed));
    }
    if (newValue) {
      this._watch(newValue);
    }
    if (newValue && newValue.status !== 'dead') {
      warmUp(newValue);
    }
  }

  /** Notice that another window has restarted the kernel. */
  private _watch(kernel: Kernel.IKernelConnection): void {
    whenReplaced(kernel, () => {
      const isOurs = this.panel.sessionContext.session?.kernel === kernel;
      if (isOurs && !this._isDisposed && (this._stage === 'ready' || this._stage === 'failed')) {
        this._wait('restarted');
      }
    });
  }

  /** Jupyter drops a cell that is run before the kernel is there: remember it until then. */
  private _onScheduled(_: unknown, { notebook, cell }: { notebook: Notebook; cell: Cell }): void {
    const { content, sessionContext } = this.panel;
    if (notebook === content && !sessionContext.session?.kernel && cell instanceof CodeCell) {
      this._early.push(cell);
    }
  }

  private _onExecuted(_: unknown, { notebook, cell }: { notebook: Notebook; cell: Cell }): void {
    if (notebook !== this.panel.content || this._early.includes(cell as CodeCell)) {
      return;
    }
    this._alive(cell);
    if (this._stage === 'waiting' && this._left.size === 0) {
      this._show('ready');
    }
  }

  private _show(stage: Stage): void {
    this._stage = stage;
    if (!this._isDisposed) {
      const begun = stage === 'ready' || stage === 'failed';
      this.panel.toggleClass('mlsys-mod-fresh', this._reason === 'new' && !begun);
      this._changed.emit();
    }
  }

  private _changed = new Signal<this, void>(this);
  private _count = { done: 0, all: 0 };
  private _early: CodeCell[] = [];
  private _failures: string[] = [];
  private _firstFailure: Cell | null = null;
  private _isDisposed = false;
  /** Cells that have to run and have not, since the kernel began. */
  private _left = new Set<Cell>();
  private _reason: Reason = 'new';
  private _stage: Stage = 'looking';
  /** Whatever began in an earlier turn has nothing to say any more. */
  private _turn = 0;
}

/** Whether a reason tells how a lab was found when it was opened. */
function isFirst(reason: Reason): boolean {
  return reason === 'new' || reason === 'left';
}

/**
 * Keep a notebook from counting as changed because a kernel has told its language: nothing that a
 * student did would be lost, and whoever only opened a lab is not asked whether to save it.
 */
function staysClean(model: INotebookModel): void {
  let told = false;
  let turned = false;
  const settle = (): void => {
    if (told && turned && !model.isDisposed) {
      model.dirty = false;
    }
    told = turned = false;
  };
  model.metadataChanged.connect((_, { key }) => {
    if (key === 'language_info' || key === 'kernelspec') {
      told = true;
      queueMicrotask(settle);
    }
  });
  model.stateChanged.connect((_, { name, newValue }) => {
    if (name === 'dirty' && newValue) {
      turned = true;
      queueMicrotask(settle);
    }
  });
}

/** Whether a notebook was saved after some of its cells had run. */
function hasRun(model: INotebookModel): boolean {
  return [...model.cells].some(cell => cell.type === 'code' && (cell as ICodeCellModel).executionCount);
}

/** What the builder writes into the first line of a cell: "# Instrument: Iron law". */
function nameOf(cell: Cell): string {
  const [first] = cell.model.sharedModel.getSource().trim().split('\n');
  return first.replace(/^#\s*/, '');
}
