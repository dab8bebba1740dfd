/**
 * What a notebook says about itself: that it is a lab, and which of its cells are its steps.
 *
 * The contract is documented in docs/lab_panel.md.
 */
import { INotebookModel } from '@jupyterlab/notebook';
import { IReport } from './server';

/** What a lab notebook says in its metadata, under `mlsys`. */
export interface IAbout {
  lab: string;
  title: string;
  acts: string[];
}

const STEPS = ['prediction', 'reflection', 'answer', 'design'] as const;
export type Kind = (typeof STEPS)[number];

/** A cell in which a student does something that the ledger keeps. */
export interface IStep {
  index: number;
  id: string;
  kind: Kind;
  act: number;
  title: string;
}

export interface IAct {
  number: number;
  title: string;
  steps: IStep[];
}

/** Begun: tried, and the last attempt is not right. */
export type Progress = 'open' | 'begun' | 'done';

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object'
    ? (value as Record<string, unknown>)
    : {};
}

function text(value: unknown): string | null {
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
    acts: acts.map(title => text(title) ?? '')
  };
}

/** The steps of a lab in the order of its cells. */
export function stepsOf(model: INotebookModel): IStep[] {
  const steps: IStep[] = [];
  let act = 0;
  for (let index = 0; index < model.cells.length; index++) {
    const said = record(model.cells.get(index).getMetadata('mlsys'));
    if (Number.isInteger(said.act)) {
      act = said.act as number;
    }
    const kind = STEPS.find(each => each === said.kind);
    const id = text(said.id);
    if (kind && id) {
      steps.push({ index, id, kind, act, title: text(said.title) ?? id });
    }
  }
  return steps;
}

/** The indices of the cells that draw an instrument. */
export function instrumentsOf(model: INotebookModel): number[] {
  const found: number[] = [];
  for (let index = 0; index < model.cells.length; index++) {
    if (record(model.cells.get(index).getMetadata('mlsys')).kind === 'instrument') {
      found.push(index);
    }
  }
  return found;
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

/** How far along a step is, according to the ledger. */
export function progress(step: IStep, report: IReport | null): Progress {
  if (report === null) {
    return 'open';
  }
  switch (step.kind) {
    case 'prediction':
      return step.id in report.predictions ? 'done' : 'open';
    case 'answer':
      return step.id in report.answers ? 'done' : 'open';
    case 'design':
      return report.design !== null ? 'done' : 'open';
    case 'reflection': {
      const said = report.reflections[step.id];
      return said ? (said.correct === false ? 'begun' : 'done') : 'open';
    }
  }
}

/** The first step that is not done, or null at the end of the lab. */
export function nextStep(steps: IStep[], report: IReport | null): IStep | null {
  return steps.find(step => progress(step, report) !== 'done') ?? null;
}
