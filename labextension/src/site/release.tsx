/**
 * Whether an open notebook goes with the files of the site, which has those of the newest version only.
 *
 * The browser keeps a notebook that was begun, also when the site is published again.
 */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import { NotebookPanel } from '@jupyterlab/notebook';
import React from 'react';
import { Elsewhere, IS_ELSEWHERE, IS_OUT, Offered, SHOW_IT } from '../new_version';
import { lookForVersions, replaceLab, showReplaced } from '../versions';

/**
 * Offer the version of the site, if a notebook is of another one.
 *
 * @returns Whether the lab can be run now.
 */
export async function bringUpToDate(panel: NotebookPanel): Promise<boolean> {
  const { offered, elsewhere } = await lookForVersions(panel);
  if (elsewhere) {
    const answer = await showDialog({
      title: IS_ELSEWHERE,
      body: (
        <div className="mlsys-Lab-words">
          <Elsewhere panel={panel} />
        </div>
      ),
      buttons: [Dialog.cancelButton({ label: 'Not now' }), Dialog.okButton({ label: SHOW_IT })]
    });
    return answer.button.accept && (await showReplaced(panel));
  }
  if (offered === null) {
    return true;
  }
  const answer = await showDialog({
    title: IS_OUT,
    body: (
      <div className="mlsys-Lab-words">
        <Offered {...offered} />
        <p>The questions of the version before are no longer here, so it cannot be run.</p>
      </div>
    ),
    buttons: [Dialog.cancelButton({ label: 'Not now' }), Dialog.okButton({ label: 'Take it over' })]
  });
  // A kernel that was restarted for it waits for Resume.
  return answer.button.accept && (await replaceLab(panel, 'take')).fresh === true;
}
