/**
 * Requests to the server extension, and the shapes of its answers. In a site without a server, the kernel
 * of the lab answers them (site/kernels.ts), by the same rules.
 */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { ReadonlyJSONValue } from '@lumino/coreutils';

export interface IPrediction {
  value: ReadonlyJSONValue;
  /** The value as the student read it in the card; null where no card committed it. */
  words: string | null;
  confidence: number | null;
  time: string;
}

export interface IReflection {
  value: ReadonlyJSONValue;
  correct: boolean | null;
  attempts: number;
  time: string;
}

export interface IAnswer {
  value: ReadonlyJSONValue;
  unit: string | null;
  attempts: number;
  time: string;
}

export interface IDesign {
  lab: string;
  time: string;
  fields: { name: string; about: string | null; value: ReadonlyJSONValue }[];
}

export interface IEvent {
  kind: string;
  id: string;
  time: string;
}

/** The last time that a lab was handed in. */
export interface IHandedIn {
  time: string;
  /** The course to which it was submitted, or null where a file was made. */
  course: string | null;
  /** The name of that file, or null where the lab was submitted. */
  file: string | null;
  /** Whether something was recorded since then. */
  newer: boolean;
}

/** How far along a step is. The server says so for each, with a sign and words; see `stateOf` in contract.ts. */
export type StepState = 'to_do' | 'tried' | 'recorded' | 'done' | 'handed_in';

export interface IStepState {
  state: StepState;
  sign: string;
  words: string;
  /** Whether there is still something to do. */
  left: boolean;
  /** Whether it is recorded in full and only not right yet: the way leads on, and back to it later. */
  can_wait: boolean;
  /** The number of the last event about it; 0 before the first. */
  last: number;
}

/** What the server says about the due time of a lab; it says so again when the words change. */
export interface IDue {
  state: 'waiting' | 'open' | 'soon' | 'grace' | 'late' | 'closed';
  headline: string;
  more: string[];
  /** The due time on the clock of the course, with its difference to UTC, or null. */
  due: string | null;
}

/** What the student was told about the lab. */
export interface IResults {
  /** Changes with what was told. */
  tag: string;
  words: string[];
  /** The questions that it says something about, and which of them can be answered once more. */
  questions: string[];
  again: string[];
  /** What part of the points of a second answer counts, and until when it can be handed in. */
  share: number | null;
  until: string | null;
}

/** What the ledger beside a notebook says. */
export interface IReport {
  path: string;
  ledger: string;
  exists: boolean;
  lab: string | null;
  student: string | null;
  events: number;
  last: IEvent | null;
  ok: boolean;
  problem: string | null;
  notices: string[];
  earlier: number;
  /** Whose labs these are on this server, or null if that cannot be told. */
  you: string | null;
  /** When the lab is due for this student, or null if nobody said. */
  due?: IDue | null;
  /** How far along each step of the notebook is. */
  steps: (IStepState & { kind: string; id: string })[];
  /** When the lab was last handed in, or null. */
  handed_in: IHandedIn | null;
  /** What the student was told, or null. */
  results: IResults | null;
  predictions: Record<string, IPrediction>;
  reflections: Record<string, IReflection>;
  answers: Record<string, IAnswer>;
  design: IDesign | null;
  /** In a site without a server: what only this browser has. */
  kept?: { visitor: string | null; exported: string | null; newer: number; since: string | null };
}

/** One of the ledgers below the root of the server. */
export interface IEntry {
  ledger: string;
  lab: string | null;
  student: string | null;
  last: IEvent | null;
  ok: boolean;
  problem: string | null;
  design: IDesign | null;
}

export interface ILab {
  path: string;
  lab: string;
  title: string;
}

/** Something the server refused or could not do, in a sentence. */
export class Refusal extends Error {}

/** Carries a request to whoever answers, and the answer back. */
type Way = (address: string, query: Record<string, string>, init: RequestInit) => Promise<Response>;

const overHttp: Way = async (address, query, init) => {
  const settings = ServerConnection.makeSettings();
  const url = URLExt.join(settings.baseUrl, 'mlsys', address) + URLExt.objectToQueryString(query);
  try {
    return await ServerConnection.makeRequest(url, init, settings);
  } catch (error) {
    throw new Refusal('The Jupyter server does not answer.');
  }
};
let way = overHttp;

/** Have somebody else answer than a server: where there is none. */
export function answerWith(other: Way): void {
  way = other;
}

export async function request(
  address: string,
  query: Record<string, string>,
  init: RequestInit = {}
): Promise<Response> {
  const response = await way(address, query, init);
  if (response.ok || response.status === 304) {
    return response;
  }
  let sentence = `The server answered ${response.status} ${response.statusText}.`;
  try {
    sentence = (await response.json()).message ?? sentence;
  } catch (error) {
    // Not one of our handlers: there is no sentence to show.
    if (response.status === 404) {
      sentence =
        'The server extension of mlsys_widgets is not running. To turn it on, run: jupyter server extension enable mlsys_widgets.server';
    }
  }
  throw new Refusal(sentence);
}

/**
 * What the ledger beside a notebook says, or null if nothing has changed since `tag`.
 *
 * With a tag, the server answers when the ledger changes, or after `wait` seconds.
 */
export async function fetchReport(
  path: string,
  tag: string | null,
  wait: number,
  signal: AbortSignal
): Promise<{ report: IReport; tag: string | null } | null> {
  const headers: Record<string, string> = tag ? { 'If-None-Match': tag } : {};
  const response = await request('lab', { path, wait: `${wait}` }, { headers, signal });
  return response.status === 304
    ? null
    : { report: await response.json(), tag: response.headers.get('ETag') };
}

/** Have the server ask what the course tells about a lab; the next report says what there is. */
export async function fetchTold(path: string): Promise<void> {
  await request('told', {}, { method: 'POST', body: JSON.stringify({ path }) });
}

/** All ledgers below the root; the one beside the notebook is always among them. */
export async function fetchLedgers(path: string, signal: AbortSignal): Promise<IEntry[]> {
  return (await (await request('ledgers', { path }, { signal })).json()).ledgers;
}

/** All labs below the root. */
export async function fetchLabs(): Promise<ILab[]> {
  return (await (await request('labs', {})).json()).labs;
}

/** Rename the ledger beside a notebook, and return its new path, or null if there was none. */
export async function beginAgain(path: string): Promise<string | null> {
  const body = JSON.stringify({ path });
  return (await (await request('begin-again', {}, { method: 'POST', body })).json()).aside;
}
