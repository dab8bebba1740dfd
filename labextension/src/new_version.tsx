/** Tells of a corrected version of the open lab, and takes it over with one click, or goes back. */
import { showErrorMessage } from '@jupyterlab/apputils';
import React from 'react';
import { ILab } from './follow';
import { request } from './server';
import { counted, when } from './words';

/** Milliseconds between two looks for a corrected version. */
const LOOK = 60000;

/** What the server says about the versions of a lab. */
interface IOutlook {
  mine: string | null;
  offered: { version: string; notes: string[]; remarks: string[] } | null;
  back: { version: string | null; time: string } | null;
}

/** What was taken over. */
interface ITaken {
  version: string | null;
  cells: number;
  remarks: string[];
  backup: string;
}

type What = 'take' | 'undo';

/** Save the notebook, have the server replace the lab, and show what is there now. */
async function replaceLab(lab: ILab, what: What): Promise<ITaken> {
  const { context, sessionContext } = lab.panel;
  // What is only on the screen would be lost: the server reads the file.
  await context.save();
  if (context.model.dirty) {
    throw new Error('The notebook could not be saved, so nothing was replaced. Save it first.');
  }
  const body = JSON.stringify({ path: lab.path, do: what });
  const taken: ITaken = await (await request('new-version', {}, { method: 'POST', body })).json();
  await context.revert();
  // It still has the questions of the other version in memory.
  if (sessionContext.session?.kernel) {
    await sessionContext.restartKernel();
  }
  return taken;
}

/** What there is to say about versions; nothing for a lab that is as it was released. */
export function NewVersion({ lab }: { lab: ILab }): JSX.Element | null {
  const [outlook, setOutlook] = React.useState<IOutlook | null>(null);
  const [taken, setTaken] = React.useState<{ what: What; said: ITaken } | null>(null);
  const [busy, setBusy] = React.useState(false);
  const { path } = lab;

  const look = React.useCallback(async (): Promise<void> => {
    if (document.visibilityState !== 'visible') {
      return;
    }
    try {
      setOutlook(await (await request('new-version', { path })).json());
    } catch (error) {
      // Whatever keeps the server from telling is no reason to disturb anybody's work.
      setOutlook(null);
    }
  }, [path]);

  React.useEffect(() => {
    setOutlook(null);
    setTaken(null);
    void look();
    const timer = setInterval(() => void look(), LOOK);
    return () => clearInterval(timer);
  }, [look]);

  const press = async (what: What): Promise<void> => {
    setBusy(true);
    try {
      setTaken({ what, said: await replaceLab(lab, what) });
      await look();
    } catch (error) {
      const title = what === 'take' ? 'The new version was not taken over' : 'Nothing was put back';
      await showErrorMessage(title, error as Error);
    } finally {
      setBusy(false);
    }
  };

  const offered = outlook?.offered ?? null;
  const back = outlook?.back ?? null;
  if (offered === null && back === null && taken === null) {
    return null;
  }
  return (
    <section className="mlsys-Lab-section mlsys-Lab-version" aria-label="Versions of this lab">
      <div role="status">{taken !== null && <Taken {...taken} />}</div>
      {offered !== null && (
        <>
          <h3>A corrected version of this lab is out</h3>
          {offered.notes.map((note, place) => (
            <p key={place}>What changed: {note}</p>
          ))}
          <p>Your answers, your sealed predictions and your ledger stay as they are.</p>
          <Remarks remarks={offered.remarks} />
          <button
            className="mlsys-Lab-button"
            disabled={busy}
            onClick={() => void press('take')}
          >
            Take it over
          </button>
        </>
      )}
      {back !== null && (
        <p className="mlsys-Lab-aside">
          You took this version over {when(back.time)}.{' '}
          <button className="mlsys-Lab-link" disabled={busy} onClick={() => void press('undo')}>
            Put the old version back
          </button>
        </p>
      )}
    </section>
  );
}

function Taken({ what, said }: { what: What; said: ITaken }): JSX.Element {
  const cells =
    said.cells > 0
      ? ` ${counted(said.cells, 'cell of yours is', 'cells of yours are')} in it.`
      : '';
  return (
    <>
      <p>
        {what === 'take' ? 'This is the corrected version.' : 'This is the old version again.'}
        {cells} Press Resume to go on.
      </p>
      <Remarks remarks={said.remarks} />
    </>
  );
}

function Remarks({ remarks }: { remarks: string[] }): JSX.Element | null {
  return remarks.length > 0 ? (
    <ul>
      {remarks.map((words, place) => (
        <li key={place}>{words}</li>
      ))}
    </ul>
  ) : null;
}
