/**
 * What a notebook says about itself: that it is a lab, and which of its cells are its steps.
 *
 * The contract is documented in docs/contributors/lab_panel.md.
 */
import { ICellModel } from '@jupyterlab/cells';
import { INotebookModel } from '@jupyterlab/notebook';
import { IReport, IStepState } from './server';

/** What a lab notebook says in its metadata, under `mlsys`. */
export interface IAbout {
  lab: string;
  title: string;
  acts: string[];
  /** Whether it is a copy for practice, which is not handed in. */
  practice: boolean;
}

const STEPS = [
  'prediction',
  'reflection',
  'answer',
  'essay',
  'quiz',
  'myths',
  'checklist',
  'measurement',
  'design'
] as const;
/** What lies on the way between steps; see way.ts. */
export type Kind = (typeof STEPS)[number] | 'explore' | 'compare';

/** A cell in which a student does something that the ledger keeps. */
export interface IStep {
  index: number;
  id: string;
  kind: Kind;
  act: number;
  title: string;
  /** Whether it is optional, beyond the core of the lab. */
  deeper: boolean;
  /** Titles of the instruments that a question names. */
  reads?: string[];
}

/** A cell that draws an instrument. */
export interface IInstrument {
  index: number;
  act: number;
  title: string;
}

export interface IAct {
  number: number;
  title: string;
  steps: IStep[];
}

export function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object'
    ? (value as Record<string, unknown>)
    : {};
}

export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** What a notebook says about itself, or null if it is not a lab. */
export function aboutLab(model: INotebookModel): IAbout | null {
  const said = record(model.getMetadata('mlsys'));
  const lab = text(said.lab);
  if (lab === null) {
    return null;
  }
  const acts = Array.isArray(said.acts) ? said.acts : [];
  return {
    lab,
    title: text(said.title) ?? lab,
    acts: acts.map(title => text(title) ?? ''),
    practice: said.way === 'practice'
  };
}

/** Every cell with what it says about itself, and the act it belongs to. */
export function* cellsOf(
  model: INotebookModel
): Generator<{ index: number; act: number; cell: ICellModel; said: Record<string, unknown> }> {
  let act = 0;
  for (let index = 0; index < model.cells.length; index++) {
    const cell = model.cells.get(index);
    const said = record(cell.getMetadata('mlsys'));
    if (Number.isInteger(said.act)) {
      act = said.act as number;
    }
    yield { index, act, cell, said };
  }
}

/** The steps of a lab in the order of its cells. */
export function stepsOf(model: INotebookModel): IStep[] {
  const steps: IStep[] = [];
  for (const { index, act, said } of cellsOf(model)) {
    const kind = STEPS.find(each => each === said.kind);
    const id = text(said.id);
    // A cell that a student has copied is the same step, as it is for the HUD.
    if (kind && id && !steps.some(each => each.kind === kind && each.id === id)) {
      const reads = Array.isArray(said.reads) ? said.reads.map(text).filter(title => title !== null) : [];
      steps.push({ index, id, kind, act, title: titleOf(said, kind, id), deeper: said.deeper === true, reads });
    }
  }
  return steps;
}

function titleOf(said: Record<string, unknown>, kind: Kind, id: string): string {
  return text(said.title) ?? (kind === 'design' ? 'What you hand on' : id);
}

/** The cells that draw an instrument, in their order. */
export function instrumentsOf(model: INotebookModel): IInstrument[] {
  return [...cellsOf(model)]
    .filter(({ said }) => said.kind === 'instrument')
    .map(({ index, act, said }) => ({ index, act, title: text(said.title) ?? 'Instrument' }));
}

/** Whether a cell is the lab's and not the student's: one that is locked. */
export function isLocked(cell: ICellModel): boolean {
  return record(cell.getMetadata('nbgrader')).locked === true || cell.getMetadata('editable') === false;
}

/** Whether a cell has points of its own. */
export function isGraded(cell: ICellModel): boolean {
  return record(cell.getMetadata('nbgrader')).grade === true;
}

/** What a cell of a lab says that it is, or null. */
export function kindOf(cell: ICellModel): string | null {
  return text(record(cell.getMetadata('mlsys')).kind);
}

/**
 * The cells that have to run before a lab can be used: all code that is the lab's own.
 *
 * What a student wrote for a calculation stays as it is: an error there would be in the way, and
 * nothing of the lab needs it. Where an answer is typed into a cell, that cell is a step of the lab.
 */
export function cellsToRun(model: INotebookModel): number[] {
  return [...cellsOf(model)]
    .filter(
      ({ cell, said }) =>
        cell.type === 'code' &&
        said.kind !== 'scratch' &&
        (isLocked(cell) || text(said.kind) !== null) &&
        cell.sharedModel.getSource().trim() !== ''
    )
    .map(({ index }) => index);
}

/** Steps by act, in the order in which the acts first appear. */
export function actsOf(steps: IStep[], about: IAbout): IAct[] {
  const acts = new Map<number, IAct>();
  for (const step of steps) {
    let act = acts.get(step.act);
    if (!act) {
      act = { number: step.act, title: about.acts[step.act - 1] ?? '', steps: [] };
      acts.set(step.act, act);
    }
    act.steps.push(step);
  }
  return [...acts.values()];
}

/** What is shown until the server knows the step, as in a notebook that was just opened. */
const UNKNOWN: IStepState = {
  state: 'to_do',
  sign: '○',
  words: 'to do',
  left: true,
  can_wait: false,
  last: 0
};

/** How far along a step is, as the server says; the cards of the lab say the same. */
export function stateOf(step: IStep, report: IReport | null): IStepState {
  return report?.steps.find(each => each.kind === step.kind && each.id === step.id) ?? UNKNOWN;
}

/** Whether the ledger holds anything of a lab. */
export function isBegun(report: IReport | null): boolean {
  return report?.steps.some(each => each.state !== 'to_do') ?? false;
}

/** The steps that are left; what is deeper is nobody's duty. */
export function notDone(steps: IStep[], report: IReport | null): IStep[] {
  return coreOf(steps).filter(step => stateOf(step, report).left);
}

/** The steps that everybody is asked to do. */
export function coreOf(steps: IStep[]): IStep[] {
  return steps.filter(step => !step.deeper);
}
