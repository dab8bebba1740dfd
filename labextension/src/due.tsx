/** When the open lab is due: how much time is left, and what handing in now costs. */
import React from 'react';
import { IDue } from './server';
import { localTime } from './words';

/** Whether the clock of this browser shows another time than that of the course. */
export function onAnotherClock(due: string): boolean {
  const found = /([+-])(\d\d):(\d\d)$/.exec(due);
  const minutes = found ? Number(`${found[1]}1`) * (60 * Number(found[2]) + Number(found[3])) : 0;
  return -new Date(due).getTimezoneOffset() !== minutes;
}

/** The sentences about a due time, in the order in which they are read. */
export function dueWords(due: IDue): string[] {
  const { headline, more } = due;
  const own =
    due.due !== null && due.state !== 'closed' && onAnotherClock(due.due)
      ? [`On your clock, it is due ${localTime(due.due)}.`]
      : [];
  return [headline, ...own, ...more];
}

export function DueTime({ due }: { due: IDue | null }): JSX.Element | null {
  if (due === null) {
    return null;
  }
  const [headline, ...more] = dueWords(due);
  const pressing = due.state === 'late' || due.state === 'closed';
  return (
    <section className="mlsys-Lab-due" aria-label="When it is due" data-state={due.state}>
      {/* Not a live region: it would be read aloud every minute. */}
      <p className={pressing ? 'mlsys-Lab-problem' : ''}>{headline}</p>
      {more.map(words => (
        <p key={words} className="mlsys-Lab-aside">
          {words}
        </p>
      ))}
    </section>
  );
}
