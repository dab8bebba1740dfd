/** Drafts of cards through our server, and recording them before a lab is handed in. */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import { createElement, ReactElement } from 'react';
import { taskOf } from './words';
import { ILab } from './follow';
import { goTo } from './actions';
import { fetchReport, IReport, request } from './server';
import { flushDrafts, unrecordedIn } from './widgets/open_cards';

/** Where the drafts beside a notebook are read and written, and what its ledger says. */
interface IRemote {
  load(): Promise<Record<string, unknown>>;
  save(changes: object[]): Promise<void>;
  /** When any of these names was last recorded; empty if never. */
  recorded(names: string[]): Promise<string>;
}

/** What stands in the boxes of an item and is not recorded. */
interface IUnrecorded {
  item: string;
  /** Whether it is a saved design that is not the present one any more. */
  isOutdated: boolean;
  entered: string;
  /** Records it, and resolves with what was wrong; null if that needs a decision or a kernel. */
  record: (() => Promise<string>) | null;
}

/** What lies beside a notebook. */
interface IBeside {
  drafts: Record<string, unknown>;
  /** The id of the ledger, empty if there is none; null if it cannot be read. */
  ledger: string | null;
  /** What is recorded as boxes show it, by name. */
  recorded: Record<string, unknown>;
}

/** What stands before the name of a prediction that a student says something about. */
const OWN_WORDS = 'words.';
/** A request that must outlive its page may hold this many characters. */
const LONGEST_FAREWELL = 60000;

async function draftsBeside(path: string): Promise<IBeside> {
  return (await request('drafts', { path })).json();
}

export function draftsThroughServer(path: string): IRemote {
  return {
    load: async () => (await draftsBeside(path)).drafts,
    save: async changes => {
      const body = JSON.stringify({ path, changes });
      await request('drafts', {}, { method: 'PUT', body, keepalive: body.length < LONGEST_FAREWELL });
    },
    recorded: async names => {
      const news = await fetchReport(path, null, 0, new AbortController().signal);
      return news ? lastRecorded(names, news.report) : '';
    }
  };
}

function lastRecorded(names: string[], report: IReport): string {
  const kept = [report.predictions, report.reflections, report.answers];
  const times = names.flatMap(name => kept.map(each => each[name]?.time ?? ''));
  return times.reduce((latest, time) => (time > latest ? time : latest), '');
}

/** What a lab holds that is not recorded. */
async function unrecorded(lab: ILab): Promise<IUnrecorded[]> {
  await flushDrafts(lab.path);
  const beside = await draftsBeside(lab.path).catch(() => null);
  return unrecordedIn(lab.path, beside) as IUnrecorded[];
}

/** The step of an item; a question that is asked again is the same step. */
function stepOf(lab: ILab, item: string): ILab['steps'][number] | undefined {
  const asked = item.replace(/^again\.\d+\./, '');
  return lab.steps.find(each => each.id === asked);
}

/** What was entered, item by item. */
function unrecordedList(lab: ILab, found: Omit<IUnrecorded, 'record'>[]): ReactElement {
  const lines = found.map(({ item, isOutdated, entered }) => {
    const step = stepOf(lab, item);
    const other = item.startsWith(OWN_WORDS) ? 'In your own words' : item;
    const name = step ? `${taskOf(step.kind)}: ${step.title}` : other;
    const typed = entered ? ` (you entered “${short(entered)}”)` : '';
    const changed = isOutdated ? ' (something has changed since you saved it; save it again)' : '';
    return createElement('li', { key: item }, `${name}${typed}${changed}`);
  });
  return createElement('ul', null, ...lines);
}

function short(words: string): string {
  return words.length > 80 ? `${words.slice(0, 80)} …` : words;
}

/** Record what can be recorded, and return what could not be, with the reasons. */
async function recordAll(found: IUnrecorded[]): Promise<Omit<IUnrecorded, 'record'>[]> {
  const left = [];
  for (const { item, isOutdated, entered, record } of found) {
    // One after the other: a kernel does one thing at a time, and each may open the next.
    const trouble = record ? await record() : '';
    if (!record || trouble) {
      left.push({ item, isOutdated, entered: trouble ? `${short(entered)}”: “${trouble}` : entered });
    }
  }
  return left;
}

/**
 * Before a lab is handed in: name what stands in boxes and is not recorded, and record it if the
 * student wants to. Returns whether to go on.
 */
export async function settleDrafts(lab: ILab): Promise<boolean> {
  const found = await unrecorded(lab);
  if (found.length === 0) {
    return true;
  }
  const some = found.some(({ record }) => record !== null);
  const answer = await showDialog({
    title: 'Some of what you entered is not recorded',
    body: words(
      'Only what is recorded is handed in. These cards hold something else:',
      unrecordedList(lab, found)
    ),
    buttons: [
      Dialog.cancelButton({ label: 'Go back' }),
      Dialog.warnButton({ label: 'Go on without it' }),
      ...(some ? [Dialog.okButton({ label: 'Record it' })] : [])
    ],
    defaultButton: some ? 2 : 0
  });
  if (answer.button.label === 'Go on without it') {
    return true;
  }
  if (answer.button.label !== 'Record it') {
    await goToItem(lab, found[0].item);
    return false;
  }
  const left = await whileWaiting(recordAll(found));
  if (left === null || left.length === 0) {
    return left !== null;
  }
  const again = await showDialog({
    title: 'Not all of it could be recorded',
    body: words('This still has to be decided or corrected in its card:', unrecordedList(lab, left)),
    buttons: [
      Dialog.cancelButton({ label: 'Go to it' }),
      Dialog.warnButton({ label: 'Go on without it' })
    ],
    defaultButton: 0
  });
  if (!again.button.accept) {
    await goToItem(lab, left[0].item);
  }
  return again.button.accept;
}

/** Wait for the kernel, which may be busy for long; null if the student would rather not. */
async function whileWaiting<T>(recording: Promise<T>): Promise<T | null> {
  const notice = new Dialog({
    title: 'Recording…',
    body: 'The kernel records what you entered. If it is busy with a cell, it does so after that.',
    buttons: [Dialog.cancelButton({ label: 'Stop waiting' })]
  });
  const stopped = notice.launch().then(() => null, () => null);
  const done = await Promise.race([recording, stopped]);
  notice.dispose();
  return done;
}

async function goToItem(lab: ILab, item: string): Promise<void> {
  const step = item.startsWith(OWN_WORDS)
    ? lab.way.find(each => each.kind === 'compare' && each.id === item.slice(OWN_WORDS.length))
    : stepOf(lab, item);
  if (step) {
    await goTo(lab, step);
  }
}

function words(line: string, list: ReactElement): ReactElement {
  const about = { tabIndex: 0, role: 'group', 'aria-label': 'What is not recorded' };
  return createElement('div', { className: 'mlsys-Lab-words', ...about }, createElement('p', null, line), list);
}
