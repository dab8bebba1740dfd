/**
 * The way through a lab: its steps in order and, between them, what to explore and to compare.
 *
 * *Next* leads along the way: from a prediction to the instrument, once everything was tried there
 * to the comparison, and then to the questions. Neither exploring nor comparing counts as a step,
 * and what is deeper does not lie on it.
 */
import { INotebookModel } from '@jupyterlab/notebook';
import { cellsOf, coreOf, IStep, notDone, stateOf, stepsOf, text } from './contract';
import { IReport } from './server';

/** Something to explore or to compare, and the names under which the ledger keeps that it was done. */
interface IBetween extends IStep {
  needs: string[];
}

/** What an instrument or a comparison asks of a student, if it asks for anything. */
function* asked(model: INotebookModel): Generator<IBetween> {
  for (const { index, act, said } of cellsOf(model)) {
    if (said.kind === 'instrument' && Array.isArray(said.explores)) {
      const names = said.explores.map(text).filter(name => name !== null);
      if (names.length > 0) {
        const needs = names.map(name => `explored.${name}`);
        const title = text(said.title) ?? names[0];
        yield { index, id: names[0], kind: 'explore', act, title, needs, deeper: said.deeper === true };
      }
    } else if (said.kind === 'compare') {
      const id = text(said.id);
      if (id !== null) {
        const title = text(said.title) ?? id;
        const needs = [`compared.${id}`];
        yield { index, id, kind: 'compare', act, title, needs, deeper: said.deeper === true };
      }
    }
  }
}

/** The steps of a lab and what lies between them, in the order of its cells. */
export function wayOf(model: INotebookModel): IStep[] {
  return [...stepsOf(model), ...asked(model)].sort((one, other) => one.index - other.index);
}

/** Whether something between steps was done, as far as the ledger knows. */
export function isPassed(step: IStep, report: IReport | null): boolean {
  return isBetween(step) && step.needs.every(name => name in (report?.answers ?? {}));
}

/** Whether nobody has to explore any more, because all that it leads to was compared without it. */
function isSkipped(step: IBetween, report: IReport | null): boolean {
  const compared = step.needs.map(name => name.replace(/^explored\./, 'compared.'));
  return step.kind === 'explore' && compared.every(name => name in (report?.answers ?? {}));
}

/**
 * Where to go next: what comes first on the way and is not done; null once no step is left.
 *
 * What was answered and is only not right yet holds nobody up: its turn comes when nothing else is left,
 * and what was tried longest ago comes first, so that nobody is led to the same question for ever.
 */
export function nextOnWay(way: IStep[], report: IReport | null): IStep | null {
  const core = coreOf(way);
  const between = core.filter(isBetween);
  const left = new Set(notDone(core.filter(step => !isBetween(step)), report));
  if (left.size === 0) {
    return null;
  }
  for (const step of between) {
    if (!isPassed(step, report) && !isSkipped(step, report)) {
      left.add(step);
    }
  }
  const waiting = core.filter(step => left.has(step) && canWait(step, report));
  const open = core.find(step => left.has(step) && !waiting.includes(step));
  waiting.sort((one, other) => stateOf(one, report).last - stateOf(other, report).last);
  return open ?? waiting[0] ?? null;
}

/** Whether a step was answered in full and is not right yet. */
export function canWait(step: IStep, report: IReport | null): boolean {
  return !isBetween(step) && stateOf(step, report).can_wait;
}

/**
 * Where the texts and messages begin that lead to a step: after the cell before them that has a part
 * in the lab, or at the heading of the act.
 */
export function leadsTo(model: INotebookModel, step: IStep): number {
  const cells = [...cellsOf(model)].slice(0, step.index).reverse();
  for (const { index, cell, said } of cells) {
    if (text(said.kind) !== null) {
      return index + 1;
    }
    if (cell.type === 'markdown' && /^## /.test(cell.sharedModel.getSource())) {
      return index;
    }
  }
  return step.index;
}

/**
 * Where a student left off: what is not done and comes after the last thing that is. What was skipped
 * before that does not call anybody back; *Next* still leads there.
 */
export function whereLeftOff(way: IStep[], report: IReport | null): IStep | null {
  const core = coreOf(way);
  const isDone = (step: IStep): boolean =>
    isBetween(step) ? isPassed(step, report) : !stateOf(step, report).left;
  const last = core.map(isDone).lastIndexOf(true);
  return nextOnWay(core.slice(last + 1), report) ?? nextOnWay(core, report);
}

export function isBetween(step: IStep): step is IBetween {
  return step.kind === 'explore' || step.kind === 'compare';
}
