/**
 * Watches one ledger at a time, and only while the panel or the status bar is visible.
 *
 * A request is kept open until the ledger changes, so that a commit shows at once and an idle lab
 * costs about two requests per minute.
 */
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import { fetchLedgers, fetchReport, IEntry, IReport } from './server';

/** Seconds for which the server keeps a request open. */
const WAIT = 25;
/** Milliseconds until a request that failed is tried again, at first and at most. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30000;

export class Watch implements IDisposable {
  /** Emitted when there is something new to show. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What the ledger says, as last seen; null before the first answer. */
  get report(): IReport | null {
    return this._report;
  }

  /** All ledgers below the root of the server, as last seen. */
  get ledgers(): IEntry[] {
    return this._ledgers;
  }

  /** Why the server could not be asked, or null. */
  get trouble(): string | null {
    return this._trouble;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Watch the ledger beside a notebook, or none.
   *
   * The last report is kept while nobody looks, and dropped when another notebook is opened.
   */
  look(path: string | null, options: { active: boolean; ledgers: boolean }): void {
    if (this._isDisposed) {
      return;
    }
    const another = path !== this._path;
    if (another) {
      this._path = path;
      this._report = this._tag = this._listed = this._trouble = null;
    }
    this._wantsLedgers = options.ledgers;
    const active = path !== null && options.active;
    if (another || active !== (this._running !== null)) {
      this._running?.abort();
      this._running = active ? new AbortController() : null;
      if (this._running) {
        void this._run(path!, this._running.signal);
      }
    } else if (this._running && options.ledgers) {
      void this._list(path!, this._running.signal);
    }
    if (another) {
      this._changed.emit();
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this.look(null, { active: false, ledgers: false });
      this._isDisposed = true;
      Signal.clearData(this);
    }
  }

  private async _run(path: string, signal: AbortSignal): Promise<void> {
    let retry = FIRST_RETRY;
    while (!signal.aborted) {
      const asked = Date.now();
      try {
        const news = await fetchReport(path, this._tag, WAIT, signal);
        if (signal.aborted) {
          return;
        }
        retry = FIRST_RETRY;
        if (news) {
          this._report = news.report;
          this._tag = news.tag;
        }
        if (news || this._trouble) {
          this._trouble = null;
          this._changed.emit();
        }
        void this._list(path, signal);
        // Something in between answers at once instead of waiting: do not ask in a tight loop.
        if (Date.now() - asked < FIRST_RETRY && (!news || !news.tag)) {
          await pause(FIRST_RETRY, signal);
        }
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        this._trouble = error instanceof Error ? error.message : `${error}`;
        this._changed.emit();
        await pause(retry, signal);
        retry = Math.min(2 * retry, LAST_RETRY);
      }
    }
  }

  /** Fetch all ledgers, if they are shown and this one has changed since the last time. */
  private async _list(path: string, signal: AbortSignal): Promise<void> {
    const tag = this._tag;
    if (!this._wantsLedgers || tag === null || tag === this._listed) {
      return;
    }
    this._listed = tag;
    try {
      const ledgers = await fetchLedgers(path, signal);
      if (!signal.aborted) {
        this._ledgers = ledgers;
        this._changed.emit();
      }
    } catch (error) {
      // The watch itself runs into the same problem, and reports it.
      this._listed = null;
    }
  }

  private _changed = new Signal<this, void>(this);
  private _isDisposed = false;
  private _ledgers: IEntry[] = [];
  private _listed: string | null = null;
  private _path: string | null = null;
  private _report: IReport | null = null;
  private _running: AbortController | null = null;
  private _tag: string | null = null;
  private _trouble: string | null = null;
  private _wantsLedgers = false;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
