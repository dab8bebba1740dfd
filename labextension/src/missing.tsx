/** Says what is missing before a lab is handed in. */
import { Dialog, ReactWidget, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import React from 'react';
import { IStep, notDone, stateOf } from './contract';
import { settleDrafts } from './drafts';
import { ILab } from './follow';
import { problemOf } from './problems';
import { fetchReport, IReport } from './server';
import { counted, taskOf } from './words';

/** What stands in the way of a lab that is done: what is wrong with its ledger, and what is left. */
export interface IMissing {
  problem: string | null;
  steps: IStep[];
  /** How many optional steps are open. */
  deeper: number;
}

export function missingOf(lab: ILab, report: IReport | null, trouble: string | null): IMissing {
  return {
    problem: problemOf(lab.about.lab, report, trouble),
    steps: notDone(lab.steps, report),
    deeper: lab.steps.filter(step => step.deeper && stateOf(step, report).left).length
  };
}

/** Save the notebook, look at the ledger as it is now, and name the steps that are left. */
export async function checkMissing(lab: ILab): Promise<void> {
  try {
    if (!(await settleDrafts(lab))) {
      return;
    }
    await lab.panel.context.save();
    const news = await fetchReport(lab.path, null, 0, new AbortController().signal);
    const report = news?.report ?? null;
    await showDialog({
      title: 'What is missing?',
      body: ReactWidget.create(<Missing {...missingOf(lab, report, null)} report={report} />),
      buttons: [Dialog.okButton()]
    });
  } catch (error) {
    await showErrorMessage('The lab could not be checked', error as Error);
  }
}

function Missing({ problem, steps, deeper, report }: IMissing & { report: IReport | null }): JSX.Element {
  return (
    <div className="mlsys-Missing">
      {problem !== null && <p className="mlsys-Lab-problem">{problem}</p>}
      {steps.length > 0 ? (
        <>
          <p>{counted(steps.length, 'step is left:', 'steps are left:')}</p>
          <ul>
            {steps.map(step => (
              <li key={`${step.kind} ${step.id}`}>
                {taskOf(step.kind)}: {step.title} ({stateOf(step, report).words})
              </li>
            ))}
          </ul>
        </>
      ) : (
        problem === null && <p>Every step has something recorded.</p>
      )}
      {deeper > 0 && (
        <p>
          {counted(deeper, 'deeper step is', 'deeper steps are')} open, too. Nobody expects you to do
          what is deeper.
        </p>
      )}
      <p>
        This only looks for what is there: an answer that is recorded is not thereby right. The
        notebook was saved.
      </p>
    </div>
  );
}
