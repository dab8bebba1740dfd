/** The lab in the status bar: how far along it is, and when it was last saved or handed in. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import React from 'react';
import { coreOf, notDone } from './contract';
import { Follower } from './follow';
import { problemOf } from './problems';
import { IHandedIn } from './server';
import { Watch } from './watch';
import { when } from './words';

/** When the lab was handed in; whether a file was uploaded, nobody here knows. */
function handedIn({ time, file, newer }: IHandedIn): string {
  const done = file === null ? 'handed in' : 'file to hand in made';
  return `${done} ${when(time)}${newer ? ', changed since' : ''}`;
}

export class LabStatus extends ReactWidget {
  constructor(
    private _follower: Follower,
    private _watch: Watch,
    private _showPanel: () => void
  ) {
    super();
    this.addClass('mlsys-Status');
    _follower.changed.connect(this.update, this);
    _watch.changed.connect(this.update, this);
  }

  /** Emitted when the item is shown or hidden. */
  get seen(): ISignal<this, void> {
    return this._seen;
  }

  override dispose(): void {
    this._follower.changed.disconnect(this.update, this);
    this._watch.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._seen.emit();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._seen.emit();
  }

  /** How far along the lab is, in a few words; and why the panel has to be looked at, if it has. */
  get words(): { words: string; problem: string | null } {
    const { lab } = this._follower;
    const { report, trouble } = this._watch;
    if (lab === null) {
      return { words: '', problem: null };
    }
    const many = coreOf(lab.steps).length;
    const done = many - notDone(lab.steps, report).length;
    const problem = problemOf(lab.about.lab, report, trouble);
    const saved = report?.last ? `saved ${when(report.last.time)}` : 'nothing saved yet';
    const last = report?.handed_in ? handedIn(report.handed_in) : saved;
    // A count beside a ledger that is not this student's would be a promise.
    return {
      words: problem === null ? `${done} of ${many} done, ${last}` : 'see the Lab panel',
      problem
    };
  }

  protected override render(): JSX.Element {
    if (this._follower.lab === null) {
      // Rendering nothing at all would leave what was on the page before.
      return <></>;
    }
    const { words, problem } = this.words;
    return (
      <button
        className={problem === null ? '' : 'mlsys-mod-problem'}
        title={problem ?? 'Show the Lab panel'}
        onClick={this._showPanel}
      >
        Lab: {words}
      </button>
    );
  }

  private _seen = new Signal<this, void>(this);
}
