/** What only this browser has of a lab, and the file that keeps it: made, opened, and asked for. */
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import React from 'react';
import { ILab } from '../follow';
import { IReport, request } from '../server';
import { LabStart } from '../start';
import { counted, localTime, readable } from '../words';
import { addressOf, download } from './download';
import { introduce } from './visitor';

/** So many entries that are in no file, or a file so old, or none for so long: the student is asked to make one. */
const MANY = 10;
const OLD = 24 * 3600 * 1000;

/** Ask the browser to keep what is stored here, and tell whether it does. */
export async function keepStorage(): Promise<boolean> {
  const storage = navigator.storage as StorageManager | undefined;
  return Boolean(await storage?.persist?.());
}

export function Kept(props: {
  lab: ILab;
  report: IReport;
  start: LabStart | null;
}): JSX.Element | null {
  const { lab, report, start } = props;
  const [isSafe, setSafe] = React.useState<boolean | null>(null);
  React.useEffect(() => {
    void navigator.storage?.persisted?.().then(setSafe);
  }, [report]);
  const { kept } = report;
  if (!kept) {
    return null;
  }
  const { visitor, exported, newer, since } = kept;
  const isOld = Date.now() - Date.parse(exported ?? since ?? '') > OLD;
  const isDue = newer >= MANY || (newer > 0 && isOld);
  return (
    <section
      className={`mlsys-Lab-section mlsys-Lab-kept ${isDue ? 'mlsys-mod-due' : ''}`}
      aria-labelledby="mlsys-lab-kept"
    >
      <h3 id="mlsys-lab-kept">Kept in this browser</h3>
      <div role="status">
        <p>{saying(exported, newer)}</p>
        {isDue && <p>Download your record now: nobody else has a copy.</p>}
      </div>
      {isSafe === false && (
        <p className="mlsys-Lab-aside">
          This browser may delete what it stores when space runs out, and a private window forgets it
          when it is closed.
        </p>
      )}
      <button
        className={`mlsys-Lab-button ${isDue ? 'mlsys-mod-primary' : ''}`}
        onClick={() => void exportRecord(lab)}
      >
        Download my record
      </button>
      <button className="mlsys-Lab-button" onClick={() => void importRecord(lab, start)}>
        Open a record…
      </button>
      <button className="mlsys-Lab-button" onClick={() => void changeVisitor(lab, start)}>
        {visitor === null ? 'Who are you?' : `Not ${visitor}?`}
      </button>
    </section>
  );
}

function saying(exported: string | null, newer: number): string {
  if (exported === null) {
    return newer === 0
      ? 'Nothing is recorded yet.'
      : `${counted(newer, 'entry', 'entries')} of this lab ${newer === 1 ? 'is' : 'are'} in this browser alone.`;
  }
  const file = `You downloaded your record ${localTime(exported)}`;
  return newer === 0
    ? `${file}; everything in this lab is in it.`
    : `${file}; ${counted(newer, 'entry', 'entries')} of this lab ${newer === 1 ? 'is' : 'are'} newer.`;
}

async function exportRecord(lab: ILab): Promise<void> {
  try {
    const made = await (await request('record', { path: lab.path })).json();
    download(made.name, addressOf(made.content, false));
  } catch (error) {
    await showErrorMessage('Your record was not downloaded', error as Error);
  }
}

/** Let the student choose a file; null if none was chosen. */
function chosen(): Promise<File | null> {
  return new Promise(resolve => {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = '.json,application/json';
    input.addEventListener('change', () => resolve(input.files?.[0] ?? null));
    input.addEventListener('cancel', () => resolve(null));
    input.click();
  });
}

async function importRecord(lab: ILab, start: LabStart | null): Promise<void> {
  const file = await chosen();
  if (!file) {
    return;
  }
  try {
    const content = await file.text();
    const take = async (aside: boolean): Promise<{ done: string; others: string[] }> => {
      const body = JSON.stringify({ path: lab.path, content, aside });
      return (await request('record', {}, { method: 'POST', body })).json();
    };
    let { done, others } = await take(false);
    if (done === 'differs') {
      const answer = await showDialog({
        title: 'Which record counts?',
        body:
          `${lab.about.title} has entries here that the file lacks, and the file has others. If you` +
          ' take the one in the file, the one here is renamed and kept beside it.',
        buttons: [
          Dialog.cancelButton({ label: 'Keep the one here' }),
          Dialog.warnButton({ label: 'Take the one in the file' })
        ],
        defaultButton: 0
      });
      if (!answer.button.accept) {
        return;
      }
      ({ done, others } = await take(true));
    }
    if (done === 'imported') {
      await lab.panel.sessionContext.restartKernel();
    }
    const more = others.length > 0 ? ` Taken over, too: ${others.map(readable).join(', ')}.` : '';
    await showDialog({
      title: done === 'imported' ? 'Your record is here' : 'Nothing newer in this lab',
      body: (done === 'imported' ? 'Press Resume to go on where the file ends.' : WHOLE) + more,
      buttons: [Dialog.okButton({ label: 'Close' })]
    });
    if (done === 'imported') {
      start?.resume();
    }
  } catch (error) {
    await showErrorMessage('The record was not opened', error as Error);
  }
}

const WHOLE = 'Everything that the file holds of this lab is here already.';

async function changeVisitor(lab: ILab, start: LabStart | null): Promise<void> {
  try {
    if ((await introduce(lab.path, true)) && lab.panel.sessionContext.session?.kernel) {
      await lab.panel.sessionContext.restartKernel();
      start?.resume();
    }
  } catch (error) {
    await showErrorMessage('That was not kept', error as Error);
  }
}
