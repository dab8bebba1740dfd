/** What the commands do to the open lab. */
import { Dialog, InputDialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { NotebookActions } from '@jupyterlab/notebook';
import { IStep } from './contract';
import { ILab } from './follow';
import { goToCell } from './scroll';
import { beginAgain, fetchLabs } from './server';
import { LabStart } from './start';
import { leadsTo, wayOf } from './way';
import { forgetDrafts } from './widgets/open_cards';
import { readable } from './words';

/** Scroll to the cell of a step and focus it. */
export async function goTo(lab: ILab, step: IStep): Promise<void> {
  const now = asItIsNow(lab, step);
  if (now) {
    await goToCell(lab.panel, now.index);
  }
}

/** Scroll to what a student reads before a step: a message, a text, or the step itself. */
export async function leadTo(lab: ILab, step: IStep): Promise<void> {
  const now = asItIsNow(lab, step);
  if (now) {
    await goToCell(lab.panel, leadsTo(lab.panel.context.model, now));
  }
}

/** A step of the open notebook, whose cells may have moved since it was read. */
function asItIsNow(lab: ILab, step: IStep): IStep | undefined {
  return wayOf(lab.panel.context.model).find(
    each => each.id === step.id && each.kind === step.kind
  );
}

/** Restart a lab, after asking: rename its ledger, clear its outputs, restart its kernel. */
export async function restartLab(lab: ILab, start: LabStart | null): Promise<void> {
  const answer = await showDialog({
    title: 'Restart the lab from the beginning?',
    body:
      `${lab.about.title}: the kernel restarts, all outputs are cleared, and you can make your` +
      ' predictions again. What you typed into cells stays. The ledger you have now is renamed and' +
      ' kept in the same folder, so a grader can still see that you did the lab before.',
    buttons: [
      Dialog.cancelButton({ label: 'Keep working' }),
      Dialog.warnButton({ label: 'Restart the lab' })
    ],
    defaultButton: 0
  });
  if (!answer.button.accept) {
    return;
  }
  try {
    await beginAgain(lab.path);
    forgetDrafts(lab.path);
    const { sessionContext, content } = lab.panel;
    // After the ledger: a kernel that still runs finds its file gone and does not create another.
    if (sessionContext.session?.kernel) {
      await sessionContext.restartKernel();
    }
    NotebookActions.clearAllOutputs(content);
    start?.beginAgain();
    content.activeCellIndex = 0;
    await content.scrollToItem(0, 'start');
  } catch (error) {
    await showErrorMessage('The lab was not restarted', error as Error);
  }
}

/** Ask which of the labs on the server to open, and return its path, or null. */
export async function chooseLab(): Promise<string | null> {
  try {
    const labs = await fetchLabs();
    if (labs.length === 0) {
      await showDialog({
        title: 'No lab was found',
        body: 'No folder on this server holds a lab notebook. Fetch a lab first.',
        buttons: [Dialog.okButton()]
      });
      return null;
    }
    if (labs.length === 1) {
      return labs[0].path;
    }
    const names = labs.map(({ title, lab, path }) => `${title || readable(lab)} (${path})`);
    const chosen = await InputDialog.getItem({
      title: 'Open a lab',
      label: 'Lab',
      items: names,
      okLabel: 'Open'
    });
    const place = chosen.button.accept ? names.indexOf(chosen.value ?? '') : -1;
    return place < 0 ? null : labs[place].path;
  } catch (error) {
    await showErrorMessage('The labs could not be listed', error as Error);
    return null;
  }
}
