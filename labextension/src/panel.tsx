/** The Lab panel. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import React from 'react';
import { StartOrResume } from './banner';
import { actsOf, coreOf, IAct, IStep, notDone, stateOf } from './contract';
import { DueTime } from './due';
import { Follower, ILab } from './follow';
import { labIcon } from './icons';
import { NewVersion } from './new_version';
import { problemOf } from './problems';
import { IDesign, IEntry, IHandedIn, IReport, IResults } from './server';
import { Kept } from './site';
import { LabStart } from './start';
import { Watch } from './watch';
import { canWait, isBetween, isPassed, nextOnWay } from './way';
import {
  capitalized,
  counted,
  localTime,
  nameOf,
  readable,
  spoken,
  taskOf,
  when,
  withLocalTimes
} from './words';

/** What can be done from the panel. */
export interface IActions {
  openLab(): void;
  goTo(step: IStep): void;
  goToNext(): void;
  /** Have the cards say what they earned, and go to one of them. */
  showResults(step: IStep): void;
  checkMissing(): void;
  toggleReading(): void;
  isReading(): boolean;
  toggleBeside(): void;
  isBeside(): boolean;
  besideIsOffered(): boolean;
  present(): void;
  beginAgain(): void;
  handIn(): void;
  startOf(lab: ILab): LabStart | null;
}

export class LabPanel extends ReactWidget {
  constructor(
    readonly follower: Follower,
    readonly watch: Watch,
    private _actions: IActions
  ) {
    super();
    this.id = 'mlsys-lab-panel';
    this.addClass('mlsys-Lab');
    this.title.icon = labIcon;
    this.title.caption = 'Lab panel';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Lab panel');
    follower.changed.connect(this.update, this);
    watch.changed.connect(this.update, this);
  }

  /** Emitted when the panel is shown or hidden. */
  get seen(): ISignal<this, void> {
    return this._seen;
  }

  override dispose(): void {
    this.follower.changed.disconnect(this.update, this);
    this.watch.changed.disconnect(this.update, this);
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._seen.emit();
  }

  protected override onAfterDetach(message: Message): void {
    super.onAfterDetach(message);
    this._seen.emit();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._seen.emit();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._seen.emit();
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this.node.querySelector('button')?.focus();
  }

  protected override render(): JSX.Element {
    const { lab } = this.follower;
    return lab ? (
      <OpenLab
        lab={lab}
        report={this.watch.report}
        ledgers={this.watch.ledgers}
        trouble={this.watch.trouble}
        actions={this._actions}
      />
    ) : (
      <div className="mlsys-Lab-section">
        <p>No lab is open.</p>
        <button className="mlsys-Lab-button" onClick={this._actions.openLab}>
          Open a lab…
        </button>
      </div>
    );
  }

  private _seen = new Signal<this, void>(this);
}

function OpenLab(props: {
  lab: ILab;
  report: IReport | null;
  ledgers: IEntry[];
  trouble: string | null;
  actions: IActions;
}): JSX.Element {
  const { lab, report, ledgers, trouble, actions } = props;
  const { about, steps } = lab;
  const start = actions.startOf(lab);
  const next = nextOnWay(lab.way, report);
  return (
    <>
      <h2 className="mlsys-Lab-title">{about.title}</h2>
      <Saved lab={about.lab} report={report} trouble={trouble} />
      <DueTime due={report?.due ?? null} />
      <NewVersion lab={lab} />
      {start !== null && ['waiting', 'running'].includes(start.stage) && (
        <section className="mlsys-Lab-start" aria-label="Start or resume">
          <StartOrResume start={start} />
        </section>
      )}
      <Next
        steps={steps}
        next={next}
        hasMore={lab.way.some(isBetween)}
        report={report}
        problem={problemOf(about.lab, report, trouble)}
        goToNext={actions.goToNext}
        handIn={about.practice ? null : actions.handIn}
      />
      <Results
        results={report?.results ?? null}
        steps={steps}
        goTo={actions.goTo}
        showResults={actions.showResults}
      />
      <HandedIn handedIn={report?.handed_in ?? null} handIn={actions.handIn} />
      <section className="mlsys-Lab-section" aria-labelledby="mlsys-lab-progress">
        <h3 id="mlsys-lab-progress" className="mlsys-Lab-unseen">
          The way through the lab
        </h3>
        {actsOf(lab.way, about).map(act => (
          <Act key={act.number} act={act} next={next} report={report} goTo={actions.goTo} />
        ))}
        {steps.length === 0 && <p>This lab has no marked steps.</p>}
        <Misses report={report} />
      </section>
      <Predictions steps={steps} report={report} goTo={actions.goTo} />
      <DesignLedger ledgers={ledgers} report={report} />
      {report?.kept && <Kept lab={lab} report={report} start={start} />}
      <section className="mlsys-Lab-section mlsys-Lab-actions" aria-label="This lab">
        <button className="mlsys-Lab-button" onClick={actions.checkMissing}>
          Check what is missing
        </button>
        {(actions.besideIsOffered() || actions.isBeside()) && (
          <button
            className="mlsys-Lab-button"
            aria-pressed={actions.isBeside()}
            onClick={actions.toggleBeside}
          >
            Instrument beside
          </button>
        )}
        {!about.practice && (
          <button className="mlsys-Lab-button" onClick={actions.handIn}>
            Hand in…
          </button>
        )}
        <button className="mlsys-Lab-button" onClick={actions.present}>
          Present
        </button>
        <button className="mlsys-Lab-button" onClick={actions.toggleReading}>
          {actions.isReading() ? 'Show code' : 'Reading view'}
        </button>
        <button className="mlsys-Lab-button" onClick={actions.beginAgain}>
          Restart the lab…
        </button>
      </section>
    </>
  );
}

interface IStepsProps {
  steps: IStep[];
  report: IReport | null;
  goTo(step: IStep): void;
}

function Next(props: {
  steps: IStep[];
  report: IReport | null;
  next: IStep | null;
  hasMore: boolean;
  problem: string | null;
  goToNext(): void;
  handIn: (() => void) | null;
}): JSX.Element | null {
  const { steps, next, hasMore, report, problem, goToNext, handIn } = props;
  const left = notDone(steps, report).length;
  const deeper = steps.filter(step => step.deeper && stateOf(step, report).left).length;
  const isReady = report !== null && steps.length > 0 && !next && problem === null;
  const offersHandIn = isReady && handIn !== null && report.handed_in === null;
  React.useEffect(() => {
    document.body.classList.toggle(READY, offersHandIn);
    return () => document.body.classList.remove(READY);
  }, [offersHandIn]);
  if (report === null || steps.length === 0) {
    return null;
  }
  if (!next) {
    // Nothing is done in a ledger that cannot be trusted or is somebody else's; Saved says why.
    return isReady ? (
      <section className="mlsys-Lab-next" aria-label="What to do next">
        <p>
          All steps are done.
          {handIn === null && ' This is practice: nothing is handed in.'}
          {offersHandIn && ' Hand in the lab when you are happy with it.'}
        </p>
        {offersHandIn && (
          <button className="mlsys-Lab-nextButton mlsys-mod-primary" onClick={handIn}>
            <span className="mlsys-Lab-kicker">Hand in the lab…</span>
          </button>
        )}
        {deeper > 0 && (
          <p className="mlsys-Lab-aside">
            You can go deeper: {counted(deeper, 'optional step is', 'optional steps are')} open.
          </p>
        )}
      </section>
    ) : null;
  }
  const waiting = coreOf(steps).filter(step => canWait(step, report)).length;
  const isAgain = canWait(next, report);
  return (
    <section className="mlsys-Lab-next" aria-label="What to do next">
      <button className="mlsys-Lab-nextButton" onClick={goToNext}>
        <span className="mlsys-Lab-kicker">
          Next: {taskOf(next.kind).toLowerCase()}
          {isAgain && ' again'}
        </span>
        <span>{next.title}</span>
      </button>
      <p className="mlsys-Lab-aside">
        {`${left} of ${coreOf(steps).length} steps ${left === 1 ? 'is' : 'are'} left.`}
        {hasMore && ` ${NOT_COUNTED}`}
      </p>
      {waiting > 0 && !isAgain && <p className="mlsys-Lab-aside">{notRightYet(waiting)}</p>}
    </section>
  );
}

/** On the body while handing in is what is left to do: its button leads then, and not an optional card. */
const READY = 'mlsys-mod-readyToHandIn';
/** That the way leads on past what is not right yet, and back. */
function notRightYet(waiting: number): string {
  return waiting === 1
    ? 'One is not right yet; Next comes back to it at the end.'
    : `${waiting} are not right yet; Next comes back to them at the end.`;
}

/** The way has more stops than steps. */
const NOT_COUNTED = 'Explore and Compare do not count as steps.';

/** That there are results, the way to the cards that explain them, and what can be answered again. */
function Results(props: {
  results: IResults | null;
  steps: IStep[];
  goTo(step: IStep): void;
  showResults(step: IStep): void;
}): JSX.Element | null {
  const { results, steps, goTo, showResults } = props;
  if (results === null) {
    return null;
  }
  const first = steps.find(step => results.questions.includes(step.id));
  const again = steps.filter(step => results.again.includes(step.id));
  const share = `${Math.round(1000 * (results.share ?? 0)) / 10}%`;
  return (
    <section className="mlsys-Lab-section mlsys-Lab-results" aria-labelledby="mlsys-lab-results">
      <h3 id="mlsys-lab-results">Your results</h3>
      <div role="status">
        {results.words.map(words => (
          <p key={words}>{words}</p>
        ))}
      </div>
      {first && (
        <button className="mlsys-Lab-button" onClick={() => showResults(first)}>
          Show them in the cards
        </button>
      )}
      {again.length > 0 && (
        <>
          <p>
            You can answer {again.length === 1 ? 'this question' : 'these questions'} once more on new
            numbers
            {results.until !== null && (
              <>
                {' '}
                and hand in until <time dateTime={results.until}>{localTime(results.until)}</time>
              </>
            )}
            . {share} of the points count, if that is better.
          </p>
          <ul>
            {again.map(step => (
              <li key={step.id}>
                <button className="mlsys-Lab-link" onClick={() => goTo(step)}>
                  {step.title}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** When the lab was handed in; after a change, that what was handed in is older, and the way out. */
function HandedIn(props: { handedIn: IHandedIn | null; handIn(): void }): JSX.Element | null {
  const { handedIn, handIn } = props;
  if (handedIn === null) {
    return null;
  }
  const { course, file, newer, time } = handedIn;
  const at = <time dateTime={time}>{localTime(time)}</time>;
  return (
    <section className="mlsys-Lab-section" aria-labelledby="mlsys-lab-handed-in">
      <h3 id="mlsys-lab-handed-in">{file === null ? 'Handed in' : 'File to hand in'}</h3>
      <div role="status">
        <p>
          {file === null ? (
            <>
              Handed in{course !== null && ` to the course ${course}`}, {at}.
            </>
          ) : (
            <>
              {file}, made {at}. It counts once you have uploaded it where your course collects the
              lab.
            </>
          )}
        </p>
        {newer ? (
          <p className="mlsys-Lab-problem">
            {file === null ? 'What you handed in' : 'That file'} is older than your work: you have
            recorded something since.
          </p>
        ) : (
          <p>It holds everything that you have recorded.</p>
        )}
      </div>
      {newer && (
        <button className="mlsys-Lab-button" onClick={handIn}>
          Hand in again…
        </button>
      )}
    </section>
  );
}

function Act(props: {
  act: IAct;
  next: IStep | null;
  report: IReport | null;
  goTo(step: IStep): void;
}): JSX.Element {
  const { act, next, report, goTo } = props;
  const steps = coreOf(act.steps).filter(step => !isBetween(step));
  const beyond = act.steps.filter(step => step.deeper);
  const done = steps.length - notDone(steps, report).length;
  const name = nameOf(act);
  return (
    <div className="mlsys-Lab-act">
      <div className="mlsys-Lab-actName">
        <h4>{name}</h4>
        {steps.length > 0 && (
          <span title={act.steps.some(isBetween) ? NOT_COUNTED : undefined}>
            {done} of {steps.length}
          </span>
        )}
      </div>
      {steps.length > 0 && (
        <div
          className="mlsys-Lab-bar"
          role="progressbar"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={steps.length}
          aria-valuenow={done}
          aria-valuetext={`${done} of ${counted(steps.length, 'step', 'steps')} done`}
        >
          <div style={{ width: `${(100 * done) / steps.length}%` }} />
        </div>
      )}
      <Path steps={coreOf(act.steps)} next={next} report={report} goTo={goTo} />
      {beyond.length > 0 && (
        <details className="mlsys-Lab-deeper">
          <summary>
            Deeper
            <span className="mlsys-Lab-aside">
              {begunOf(beyond, report)} of {stepsAmong(beyond).length}, optional
            </span>
          </summary>
          <Path steps={beyond} next={next} report={report} goTo={goTo} />
        </details>
      )}
    </div>
  );
}

function stepsAmong(way: IStep[]): IStep[] {
  return way.filter(step => !isBetween(step));
}

function begunOf(way: IStep[], report: IReport | null): number {
  return stepsAmong(way).filter(step => !stateOf(step, report).left).length;
}

/** A part of the way, each step with how far along it is. */
function Path(props: IStepsProps & { next: IStep | null }): JSX.Element {
  const { steps, next, report, goTo } = props;
  return (
    <ul className="mlsys-Lab-path">
      {steps.map(step => {
        const { sign, state, words } = isPassed(step, report) ? PASSED : stateOf(step, report);
        return (
          <li key={`${step.kind} ${step.id}`}>
            <button
              className="mlsys-Lab-step"
              data-kind={isBetween(step) ? 'between' : 'step'}
              data-state={state}
              aria-current={step === next ? 'step' : undefined}
              onClick={() => goTo(step)}
            >
              <span className="mlsys-Lab-mark" aria-hidden="true">
                {sign}
              </span>
              <span>
                {taskOf(step.kind)}: {step.title}
                {/* What is not right yet is said to everybody, as is mastery; the rest is in the sign. */}
                <span className={state === 'tried' || /[●○]/.test(words) ? '' : 'mlsys-Lab-unseen'}> ({words})</span>
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** What lies between steps gives no points: it is done, or not yet. */
const PASSED = { sign: '✓', state: 'done', words: 'done' };

/** The promises that the saved design breaks. */
function Misses({ report }: { report: IReport | null }): JSX.Element | null {
  const tried = report?.steps.some(each => each.kind === 'design' && each.state === 'tried');
  const misses = tried ? report?.answers.design_misses?.value : null;
  return Array.isArray(misses) && misses.length > 0 ? (
    <div className="mlsys-Lab-problem">
      <p>Your design is saved, but it does not fit:</p>
      <ul>
        {misses.map((miss, place) => (
          <li key={place}>{spoken(miss)}</li>
        ))}
      </ul>
    </div>
  ) : null;
}

function Predictions({ steps, report, goTo }: IStepsProps): JSX.Element {
  const sealed = Object.entries(report?.predictions ?? {});
  return (
    <section className="mlsys-Lab-section" aria-labelledby="mlsys-lab-predictions">
      <h3 id="mlsys-lab-predictions">Sealed predictions</h3>
      {sealed.length === 0 && <p>None yet. An instrument unlocks once you have predicted.</p>}
      <ul>
        {sealed.map(([id, said]) => {
          const step = steps.find(each => each.kind === 'prediction' && each.id === id);
          return (
            <li key={id} className="mlsys-Lab-sealed">
              {step ? (
                <button className="mlsys-Lab-link" onClick={() => goTo(step)}>
                  {step.title}
                </button>
              ) : (
                <span>{id}</span>
              )}
              <div>
                <strong>{said.words ?? spoken(said.value)}</strong>
                {said.confidence !== null && `, confidence ${said.confidence} of 5`}
                {', sealed '}
                <Time time={said.time} />
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function DesignLedger(props: {
  ledgers: IEntry[];
  report: IReport | null;
}): JSX.Element {
  const { ledgers, report } = props;
  const student = report?.student ?? null;
  // A teacher's folders hold the ledgers of a whole class.
  const mine = ledgers.filter(entry => student === null || entry.student === student);
  const others = ledgers.length - mine.length;
  const nameOfEntry = (entry: IEntry): string => {
    const name = readable(entry.lab ?? entry.ledger);
    const twice = mine.filter(each => each.lab === entry.lab).length > 1;
    return twice ? `${name} (${entry.ledger.split('/').slice(0, -1).join('/') || '/'})` : name;
  };
  return (
    <section className="mlsys-Lab-section" aria-labelledby="mlsys-lab-designs">
      <h3 id="mlsys-lab-designs">Design Ledger</h3>
      {mine.length === 0 && <p>No lab has a ledger yet.</p>}
      {mine.map(entry => (
        <details key={entry.ledger} open={entry.ledger === report?.ledger && entry.design !== null}>
          <summary title={entry.ledger}>
            {nameOfEntry(entry)}
            <span className="mlsys-Lab-aside">
              {entry.design ? <Time time={entry.design.time} /> : 'no design yet'}
            </span>
          </summary>
          {entry.design ? (
            <Design design={entry.design} />
          ) : (
            <p>The design is saved at the end of the lab.</p>
          )}
          {!entry.ok && <p className="mlsys-Lab-problem">{withLocalTimes(entry.problem ?? '')}</p>}
        </details>
      ))}
      {others > 0 && (
        <p className="mlsys-Lab-aside">
          {counted(others, 'ledger of another student is', 'ledgers of other students are')} not
          shown.
        </p>
      )}
    </section>
  );
}

function Design({ design }: { design: IDesign }): JSX.Element {
  return (
    <dl className="mlsys-Lab-design">
      {design.fields.map(field => (
        <div key={field.name}>
          <dt title={field.name}>{capitalized(field.about ?? field.name.replace(/_/g, ' '))}</dt>
          <dd>{spoken(field.value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Saved(props: {
  lab: string;
  report: IReport | null;
  trouble: string | null;
}): JSX.Element {
  const { lab, report, trouble } = props;
  const problem = problemOf(lab, report, trouble);
  return (
    <section className="mlsys-Lab-saved" aria-label="Saved">
      <div role="status">
        {problem !== null && <p className="mlsys-Lab-problem">{problem}</p>}
        {report === null ? (
          trouble === null && <p className="mlsys-Lab-aside">Looking…</p>
        ) : report.last ? (
          <p className="mlsys-Lab-aside">
            {problem === null ? 'Saved' : 'Last saved'} <Time time={report.last.time} />,{' '}
            {counted(report.events, 'event', 'events')}.
          </p>
        ) : (
          problem === null && <p className="mlsys-Lab-aside">Nothing has been saved yet.</p>
        )}
        {report?.notices.map(notice => (
          <p key={notice}>{notice}</p>
        ))}
      </div>
      {report !== null && report.earlier > 0 && (
        <p className="mlsys-Lab-aside">
          You restarted this lab;{' '}
          {counted(report.earlier, 'earlier ledger is', 'earlier ledgers are')} kept in the same
          folder.
        </p>
      )}
    </section>
  );
}

function Time({ time }: { time: string }): JSX.Element {
  return (
    <time dateTime={time} title={localTime(time)}>
      {when(time)}
    </time>
  );
}
