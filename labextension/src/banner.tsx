/** The banner above a lab: Start or Resume, how far that is, and what failed. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
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
    this._resized = new ResizeObserver(() => this._fit());
    this.hide();
  }

  override dispose(): void {
    this._resized.disconnect();
    super.dispose();
  }

  protected override render(): JSX.Element {
    return (
      <div className="mlsys-Banner-row">
        <StartOrResume start={this.start} />
      </div>
    );
  }

  protected override onUpdateRequest(message: Message): void {
    super.onUpdateRequest(message);
    void this.renderPromise?.then(() => {
      // The row, and not the banner: that has the height of the row when it was last looked at, and would never
      // notice one that is laid out later. Its button then lay behind the toolbar.
      const row = this.node.firstElementChild;
      if (row) this._resized.observe(row);
      this._fit();
    });
  }

  private _onChanged(): void {
    const { stage } = this.start;
    this.setHidden(stage === 'looking' || stage === 'ready');
    this.update();
  }

  /** The layout asks for a height, and a sentence that wraps has another one than one that fits. */
  private _fit(): void {
    const row = this.node.firstElementChild;
    const height = row ? `${Math.ceil(row.getBoundingClientRect().height)}px` : '0';
    if (this.node.style.minHeight !== height) {
      this.node.style.minHeight = this.node.style.maxHeight = height;
      this.parent?.fit();
    }
  }

  private _resized: ResizeObserver;
}
