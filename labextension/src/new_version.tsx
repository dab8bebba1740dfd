/** Tells of a corrected version of the open lab, and takes it over with one click, or goes back. */
import { showErrorMessage } from '@jupyterlab/apputils';
import { NotebookPanel } from '@jupyterlab/notebook';
import React from 'react';
import { ILab } from './follow';
import {
  IOutlook,
  ITaken,
  lookForVersions,
  replaceLab,
  showReplaced,
  What,
  whenReplacedElsewhere
} from './versions';
import { counted, when } from './words';

/** Milliseconds between two looks for a corrected version. */
const LOOK = 60000;

export const IS_OUT = 'A corrected version of this lab is out';
export const IS_ELSEWHERE = 'Another tab took over a corrected version of this lab';
export const SHOW_IT = 'Show the new version';

/** What a tab says that shows the version before, while the browser keeps the new one. */
export function Elsewhere({ panel }: { panel: NotebookPanel }): JSX.Element {
  return (
    <p>
      You see the version before, whose questions are no longer here. Your record stays as it is.
      {panel.context.model.dirty && ' What you typed in this tab and did not save will be gone.'}
    </p>
  );
}

/** What changes with another version, and what does not. */
export function Offered({ notes, remarks }: { notes: string[]; remarks: string[] }): JSX.Element {
  return (
    <>
      {notes.map((note, place) => (
        <p key={place}>What changed: {note}</p>
      ))}
      <p>Your answers, your sealed predictions and your ledger stay as they are.</p>
      <Remarks remarks={remarks} />
    </>
  );
}

/** What there is to say about versions; nothing for a lab that is as it was released. */
export function NewVersion({ lab }: { lab: ILab }): JSX.Element | null {
  const [outlook, setOutlook] = React.useState<IOutlook | null>(null);
  const [taken, setTaken] = React.useState<{ what: What; said: ITaken } | null>(null);
  const [busy, setBusy] = React.useState(false);
  const { path } = lab;

  const look = React.useCallback(async (): Promise<void> => {
    try {
      setOutlook(await lookForVersions(lab.panel));
    } catch (error) {
      // Whatever keeps the server from telling is no reason to disturb anybody's work.
      setOutlook(null);
    }
  }, [lab.panel, path]);

  React.useEffect(() => {
    setOutlook(null);
    setTaken(null);
    void look();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') {
        void look();
      }
    }, LOOK);
    const deafen = whenReplacedElsewhere(replaced => replaced === path && void look());
    return () => {
      clearInterval(timer);
      deafen();
    };
  }, [look, path]);

  const press = async (what: What): Promise<void> => {
    setBusy(true);
    try {
      setTaken({ what, said: await replaceLab(lab.panel, what) });
      await look();
    } catch (error) {
      const title = what === 'take' ? 'The new version was not taken over' : 'Nothing was put back';
      await showErrorMessage(title, error as Error);
    } finally {
      setBusy(false);
    }
  };

  const show = async (): Promise<void> => {
    setBusy(true);
    try {
      await showReplaced(lab.panel);
      await look();
    } catch (error) {
      await showErrorMessage('The new version could not be shown', error as Error);
    } finally {
      setBusy(false);
    }
  };

  const offered = outlook?.offered ?? null;
  const back = outlook?.back ?? null;
  const elsewhere = outlook?.elsewhere === true;
  if (offered === null && back === null && taken === null && !elsewhere) {
    return null;
  }
  return (
    <section className="mlsys-Lab-section mlsys-Lab-version" aria-label="Versions of this lab">
      <div role="status">{taken !== null && <Taken {...taken} />}</div>
      {elsewhere && (
        <>
          <h3>{IS_ELSEWHERE}</h3>
          <Elsewhere panel={lab.panel} />
          <button className="mlsys-Lab-button" disabled={busy} onClick={() => void show()}>
            {SHOW_IT}
          </button>
        </>
      )}
      {offered !== null && (
        <>
          <h3>{IS_OUT}</h3>
          <Offered {...offered} />
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
