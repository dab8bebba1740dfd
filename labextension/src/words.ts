/** Values, times and counts as a student reads them. */
import { ReadonlyJSONValue } from '@lumino/coreutils';
import { IAct, Kind, Progress } from './contract';

/** A committed value in words. */
export function spoken(value: ReadonlyJSONValue): string {
  if (value === null) {
    return 'none';
  }
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  if (typeof value === 'number') {
    return Number(value.toPrecision(6)).toLocaleString('en', { maximumSignificantDigits: 6 });
  }
  if (typeof value === 'string') {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(spoken).join(', ');
  }
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${spoken(each ?? null)}`)
    .join(', ');
}

/** A time of the ledger on the student's own clock; with the date unless it is today. */
export function when(time: string, now: Date = new Date()): string {
  const moment = new Date(time);
  const clock = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return moment.toDateString() === now.toDateString()
    ? clock
    : `${moment.toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${clock}`;
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function nameOf(act: IAct): string {
  if (act.number === 0) {
    return act.title || 'The whole lab';
  }
  return act.title ? `Act ${act.number}: ${act.title}` : `Act ${act.number}`;
}

const TASKS: Record<Kind, string> = {
  prediction: 'Predict',
  reflection: 'Reflect',
  answer: 'Answer',
  essay: 'Write',
  quiz: 'Quiz',
  myths: 'Myths',
  checklist: 'Check yourself',
  measurement: 'Measure',
  design: 'Decide'
};

/** What a student does in a step. */
export function taskOf(kind: Kind): string {
  return TASKS[kind];
}

const MARKS: Record<Progress, { sign: string; words: string }> = {
  open: { sign: '○', words: 'not done' },
  begun: { sign: '◐', words: 'begun, not finished' },
  failing: { sign: '✗', words: 'saved, but it does not fit' },
  done: { sign: '✓', words: 'done' }
};

/** How far along a step is, as a sign and in words. */
export function markOf(kind: Kind, along: Progress): { sign: string; words: string } {
  // A check mark beside an answer would look like praise: nobody here knows whether it is right.
  if (along === 'done' && (kind === 'answer' || kind === 'essay')) {
    return { sign: '●', words: 'recorded' };
  }
  const { sign, words } = MARKS[along];
  // A reflection has no parts: it was tried, and the last attempt is wrong.
  return { sign, words: kind === 'reflection' && along === 'begun' ? 'tried, not right yet' : words };
}

/** `lab_07_kernel_fusion` as `Lab 07 kernel fusion`. */
export function readable(lab: string): string {
  return capitalized(lab.replace(/[_-]+/g, ' ').trim());
}

export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
