/** Handing in the open lab: what is missing, the student's decision, and the receipt. */
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { createElement, ReactElement } from 'react';
import { settleDrafts } from './drafts';
import { dueWords } from './due';
import { ILab } from './follow';
import { IDue, request } from './server';
import { addressOf, download } from './site/download';
import { lookAgain } from './told';
import { localTime, withLocalTimes } from './words';

/** What would be handed in, by whom and how, and what is missing. */
interface IOutlook {
  lab: string;
  title: string;
  student: string;
  /** The course whose exchange takes the lab, or null where a file is made. */
  course: string | null;
  file: string | null;
  missing: { kind: string; words: string }[];
  /** When it is due, or null; its own dates are what the hub says about this very student. */
  due?: (IDue & { own: boolean }) | null;
  /** Whether it is judged and told at once, and then stands. */
  told_at_once?: boolean;
}

/** What was handed in. */
interface IReceipt {
  course: string | null;
  /** The path of the file on the server, or null where the lab was submitted. */
  file: string | null;
  time: string;
  files: string[];
  /** On time, or how late and what that costs; null if nobody knows. */
  lateness?: string | null;
  /** What came of it, as far as it is told at once. */
  told?: string[];
  /** The bytes of the file, in base64, where no server keeps it. */
  content?: string;
}

/** Save the notebook, say what is missing, and hand in if the student still wants to. */
export async function handIn(lab: ILab): Promise<void> {
  try {
    if (!(await settleDrafts(lab))) {
      return;
    }
    // After that: the notebook carries what was just recorded.
    const { context } = lab.panel;
    await context.save();
    if (context.model.dirty) {
      throw new Error('The notebook could not be saved, so it is not handed in. Save it first.');
    }
    const outlook: IOutlook = await (await request('hand-in', { path: lab.path })).json();
    if (outlook.due?.state === 'closed' && outlook.due.own) {
      await showDialog({
        title: 'The lab is closed',
        body: body(...dueWords(outlook.due).map(words => paragraph(words))),
        buttons: [Dialog.okButton({ label: 'Close' })]
      });
      return;
    }
    if (!(await decided(outlook))) {
      return;
    }
    const init = { method: 'POST', body: JSON.stringify({ path: lab.path }) };
    const receipt: IReceipt = await (await request('hand-in', {}, init)).json();
    if (receipt.file !== null && receipt.content !== undefined) {
      download(receipt.file, addressOf(receipt.content, true));
    }
    if (receipt.told?.length) {
      lookAgain(lab); // the cards say what they earned
    }
    await showDialog({
      title: receipt.course === null ? 'Your file is ready' : 'Handed in',
      body: body(...receiptOf(receipt)),
      buttons: [Dialog.okButton({ label: 'Close' })]
    });
  } catch (error) {
    await showErrorMessage('The lab was not handed in', error as Error);
  }
}

async function decided(outlook: IOutlook): Promise<boolean> {
  const { course, file, missing, student, title } = outlook;
  const how =
    course === null
      ? `makes the file ${file}, which you then upload where your course collects the lab`
      : `submits it to the course ${course}`;
  const words: ReactElement[] = [paragraph(`${title}, as ${student}. Handing in ${how}.`)];
  if (outlook.due) {
    words.push(paragraph(dueWords(outlook.due).join(' ')));
  }
  if (outlook.told_at_once) {
    words.push(
      paragraph(
        'You will be told at once how you did; what you have answered cannot be changed after ' +
          'that. What is still empty stays open, and you can hand it in later.'
      )
    );
  }
  if (missing.length > 0) {
    words.push(paragraph('Before you do:'), list(missing.map(each => withLocalTimes(each.words))));
  }
  const whole = missing.every(({ kind }) => kind === 'name');
  if (whole) {
    words.push(paragraph('All steps are done and the ledger is intact.'));
  }
  // A file is not handed in until the student has uploaded it.
  const hand = course === null ? 'Make the file' : 'Hand in';
  const ask = course === null ? 'Make the file to hand in?' : 'Hand in the lab?';
  const answer = await showDialog({
    title: !whole ? 'Something is missing' : missing.length > 0 ? 'Is this your name?' : ask,
    body: body(...words),
    buttons: [
      Dialog.cancelButton({ label: 'Go back' }),
      whole ? Dialog.okButton({ label: hand }) : Dialog.warnButton({ label: `${hand} anyway` })
    ],
    defaultButton: missing.length > 0 ? 0 : 1
  });
  return answer.button.accept;
}

function receiptOf(receipt: IReceipt): ReactElement[] {
  const time = localTime(receipt.time.replace(' UTC', 'Z').replace(/^(\S+) /, '$1T'));
  const holds = [paragraph('It holds:'), list(receipt.files)];
  if (receipt.lateness) {
    holds.unshift(paragraph(receipt.lateness));
  }
  if (receipt.file === null) {
    const told = (receipt.told ?? []).map(words => paragraph(words));
    return [paragraph(`Handed in to the course ${receipt.course}, ${time}.`), ...told, ...holds];
  }
  const download = receipt.file.split('/').pop() ?? receipt.file;
  const href =
    receipt.content === undefined
      ? URLExt.join(PageConfig.getBaseUrl(), 'files', URLExt.encodeParts(receipt.file))
      : addressOf(receipt.content, true);
  const link = createElement('a', { href, download }, download);
  return [
    paragraph('Upload this one file where your course collects the lab: ', link, '.'),
    paragraph(
      receipt.content === undefined
        ? `It lies beside the notebook, made ${time}.`
        : `Your browser has saved it with your downloads, made ${time}.`
    ),
    ...holds
  ];
}

function paragraph(...words: (string | ReactElement)[]): ReactElement {
  return createElement('p', null, ...words);
}

function list(lines: string[]): ReactElement {
  return createElement('ul', null, ...lines.map(line => createElement('li', null, line)));
}

/** The body of a dialog; a long one scrolls, also with the keyboard. */
function body(...words: ReactElement[]): ReactElement {
  const about = { tabIndex: 0, role: 'group', 'aria-label': 'What is handed in' };
  return createElement('div', { className: 'mlsys-Lab-words', ...about }, ...words);
}
