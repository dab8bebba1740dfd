/** Asks which version of a lab is out, and has the open one replaced. */
import { NotebookPanel } from '@jupyterlab/notebook';
import { record, text } from './contract';
import { request } from './server';

/** What the server says about the versions of a lab. */
export interface IOutlook {
  mine: string | null;
  offered: { version: string; notes: string[]; remarks: string[] } | null;
  back: { version: string | null; time: string } | null;
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

/** Ask whether there is another version than the one that is open, which may not be stored. */
export async function lookForVersions({ context }: NotebookPanel): Promise<IOutlook> {
  const mine = text(record(context.model.getMetadata('mlsys')).lab_version) ?? '';
  return (await request('new-version', { path: context.localPath, mine })).json();
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
  return taken;
}
