/** The banner above a lab: Start or Resume, how far that is, and what failed. */
import { ReactWidget } from '@jupyterlab/ui-components';
import React from 'react';
import { LabStart, Reason } from './start';
import { counted } from './words';

const SENTENCES: Record<Reason, string> = {
  new: 'Start the lab to see its cards and instruments.',
  left: 'Your work is saved. Press Resume to go on where you left off.',
  restarted: 'The kernel was restarted. Press Resume.',
  stopped: 'The kernel was shut down. Press Resume.',
  died: 'The kernel stopped by itself. Press Resume.'
};
/** How many failed cells are named. */
const NAMED = 3;

/** What a lab that has to be started says; nothing when it runs. */
export function StartOrResume({ start }: { start: LabStart }): JSX.Element | null {
  switch (start.stage) {
    case 'waiting':
      return (
        <>
          <button className="mlsys-Start-button" onClick={() => void start.run()}>
            {start.reason === 'new' ? 'Start' : 'Resume'}
          </button>
          <p role="status">{SENTENCES[start.reason]}</p>
        </>
      );
    case 'running': {
      const { done, all } = start.count;
      return (
        <>
          <progress
            aria-label="Cells that have run"
            max={all || 1}
            value={start.waitsForKernel ? undefined : done}
          />
          <p>{start.waitsForKernel ? 'Waiting for the kernel…' : `${done} of ${all} cells`}</p>
        </>
      );
    }
    case 'failed': {
      const { failures, count } = start;
      const named = failures.slice(0, NAMED).join('; ');
      const more = failures.length > NAMED ? `; and ${failures.length - NAMED} more` : '';
      return (
        <>
          <p role="status">
            {count.all === 0
              ? `The lab could not be started: ${named}`
              : `${failures.length} of ${counted(count.all, 'cell', 'cells')} failed: ${named}${more}.` +
                ' Everything else has run.'}
          </p>
          {count.all > 0 && (
            <button className="mlsys-Lab-button" onClick={() => void start.goToFailure()}>
              Show the first one
            </button>
          )}
          <button className="mlsys-Lab-button" onClick={() => void start.run()}>
            Try again
          </button>
          <button className="mlsys-Lab-button" onClick={() => start.close()}>
            Close
          </button>
        </>
      );
    }
    default:
      return null;
  }
}

export class LabBanner extends ReactWidget {
  constructor(readonly start: LabStart) {
    super();
    this.addClass('mlsys-Banner');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Start or resume the lab');
    start.changed.connect(this._onChanged, this);
    this.hide();
  }

  override dispose(): void {
    this._resized.disconnect();
    super.dispose();
  }

  protected override render(): JSX.Element {
    return (
      <div className="mlsys-Banner-row" ref={this._watch}>
        <StartOrResume start={this.start} />
      </div>
    );
  }

  private _onChanged(): void {
    const { stage } = this.start;
    this.setHidden(stage === 'looking' || stage === 'ready');
    this.update();
  }

  /**
   * Watch the height of the row, from the moment that it is there.
   *
   * React tells, and nothing else does: the promise of a widget that it has rendered waits for an idle moment, which
   * may come before the row or, on a busy page, not at all. The banner then had no height, and its button lay behind
   * the toolbar.
   */
  private _watch = (row: HTMLElement | null): void => {
    this._resized.disconnect();
    if (row) {
      this._resized.observe(row);
    }
  };

  /** The layout asks for a height, and a sentence that wraps has another one than one that fits. */
  private _fit(row: Element): void {
    const height = `${Math.ceil(row.getBoundingClientRect().height)}px`;
    if (!this.isHidden && this.node.style.minHeight !== height) {
      this.node.style.minHeight = this.node.style.maxHeight = height;
      this.parent?.fit();
    }
  }

  private _resized = new ResizeObserver(([{ target }]) => this._fit(target));
}
