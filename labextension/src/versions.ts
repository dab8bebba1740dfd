/** Asks which version of a lab is out, and has the open one replaced. */
import { NotebookPanel } from '@jupyterlab/notebook';
import { record, text } from './contract';
import { isSetUp } from './run';
import { request } from './server';
import { SITE } from './site/site';

/** Tells the other tabs of a site, which share the notebook, that it was replaced. */
const replaced = SITE === '' ? null : new BroadcastChannel('mlsys-widgets-replaced');

/** What the server says about the versions of a lab. */
export interface IOutlook {
  mine: string | null;
  offered: { version: string; notes: string[]; remarks: string[] } | null;
  back: { version: string | null; time: string } | null;
  /** Whether another tab of a site took the new version over, and this one shows the one before. */
  elsewhere?: boolean;
}

/** What was taken over. */
export interface ITaken {
  version: string | null;
  cells: number;
  remarks: string[];
  backup: string;
  /** Whether the kernel has nothing of the other version, which only a site's knows. */
  fresh?: boolean;
}

export type What = 'take' | 'undo';

/** The version of the notebook that is open, empty if it has none. */
export function versionOf({ context }: NotebookPanel): string {
  return text(record(context.model.getMetadata('mlsys')).lab_version) ?? '';
}

/** Ask whether there is another version than the one that is open, which may not be stored. */
export async function lookForVersions(panel: NotebookPanel): Promise<IOutlook> {
  const query = { path: panel.context.localPath, mine: versionOf(panel) };
  return (await request('new-version', query)).json();
}

/** Save the notebook, have the lab replaced, and show what is there now. */
export async function replaceLab(panel: NotebookPanel, what: What): Promise<ITaken> {
  const { context, sessionContext } = panel;
  // What is only on the screen would be lost: the file is read.
  await context.save();
  if (context.model.dirty) {
    throw new Error('The notebook could not be saved, so nothing was replaced. Save it first.');
  }
  const body = JSON.stringify({ path: context.localPath, do: what });
  const taken: ITaken = await (await request('new-version', {}, { method: 'POST', body })).json();
  await context.revert();
  // Otherwise it has the questions of the other version in memory.
  if (!taken.fresh && sessionContext.session?.kernel) {
    await sessionContext.restartKernel();
  }
  replaced?.postMessage(context.localPath);
  return taken;
}

/**
 * Show the notebook that another tab has replaced.
 *
 * @returns Whether the kernel had nothing of the version before; otherwise it was restarted.
 */
export async function showReplaced({ context, sessionContext }: NotebookPanel): Promise<boolean> {
  await context.revert();
  const kernel = sessionContext.session?.kernel;
  const fresh = !kernel || !(await isSetUp(kernel));
  if (!fresh) {
    await sessionContext.restartKernel();
  }
  return fresh;
}

/** Call back whenever another tab of a site has replaced a notebook; returns what ends that. */
export function whenReplacedElsewhere(call: (path: string) => void): () => void {
  const heard = ({ data }: MessageEvent<string>): void => call(data);
  replaced?.addEventListener('message', heard);
  return () => replaced?.removeEventListener('message', heard);
}
