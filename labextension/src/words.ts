/** Values, times and counts as a student reads them. */
import { ReadonlyJSONValue } from '@lumino/coreutils';
import { IAct, Kind } from './contract';

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

/** A time on the student's own clock, with its zone, as the cards write it: Mon 16 Nov, 14:05 EST. */
export function localTime(time: string, now: Date = new Date()): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) {
    return time;
  }
  const zone = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })
    .formatToParts(at)
    .find(part => part.type === 'timeZoneName');
  return `${day(at, now)}, ${clock(at)} ${zone?.value ?? ''}`.trim();
}

/** Words in which every time is on the student's own clock. */
export function withLocalTimes(words: string): string {
  return words.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, time => localTime(time));
}

/** A time in short: no zone, and no date if it is today. */
export function when(time: string, now: Date = new Date()): string {
  const at = new Date(time);
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? clock(at) : `${day(at, now)}, ${clock(at)}`;
}

function clock(at: Date): string {
  return [at.getHours(), at.getMinutes()].map(part => `${part}`.padStart(2, '0')).join(':');
}

function day(at: Date, now: Date): string {
  const weekday = at.toLocaleDateString('en-US', { weekday: 'short' });
  const month = at.toLocaleDateString('en-US', { month: 'short' });
  const year = at.getFullYear() === now.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${weekday} ${at.getDate()} ${month}${year}`;
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
  myths: 'Claims',
  checklist: 'Check yourself',
  measurement: 'Measure',
  design: 'Decide',
  explore: 'Explore',
  compare: 'Compare'
};

/** What a student does in a step. */
export function taskOf(kind: Kind): string {
  return TASKS[kind];
}

/** `lab_07_kernel_fusion` as `Lab 07 kernel fusion`. */
export function readable(lab: string): string {
  return capitalized(lab.replace(/[_-]+/g, ' ').trim());
}

export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
