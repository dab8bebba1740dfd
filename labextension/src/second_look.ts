/** Asking for a second look at a question: above a feedback page, or from the lab itself. */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, MainAreaWidget, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { ToolbarButton } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { request } from './server';
import { localTime } from './words';

/** What can be asked about a lab, and what was. */
interface IStanding {
  lab: string;
  title: string;
  /** Characters that a request may have. */
  longest: number;
  questions: { name: string; title: string }[];
  asked: {
    question: string;
    title: string;
    words: string;
    time: string;
    answer: { answer: string; time: string } | null;
  }[];
}

interface IAsk {
  question: string;
  words: string;
}

const LABEL = 'Ask for a second look…';
/** JupyterLab's name for what opens a page; nbgrader puts feedback into LAB/feedback/TIME. */
const HTML_VIEWER = 'HTML Viewer';
const FEEDBACK = /(^|\/)feedback\/[^/]+\/[^/]+\.html$/;

/** Put the button above every feedback page. */
export function offerSecondLooks(app: JupyterFrontEnd): void {
  app.docRegistry.addWidgetExtension(HTML_VIEWER, {
    createNew: (widget, context) => {
      if (!FEEDBACK.test(context.path) || !(widget instanceof MainAreaWidget)) {
        return;
      }
      const button = new ToolbarButton({
        label: LABEL,
        tooltip: 'Ask those who teach to look at a question again',
        onClick: () => void askForSecondLook(context.path)
      });
      widget.toolbar.addItem('mlsys-second-look', button);
      return button;
    }
  });
}

/** Show what was asked and answered, and ask if the student wants to; nothing typed is lost. */
export async function askForSecondLook(path: string): Promise<void> {
  let typed: IAsk | null = null;
  try {
    let standing: IStanding = await (await request('second-look', { path })).json();
    for (;;) {
      const form: AskForm = new AskForm(standing, typed);
      const answer = await showDialog({
        title: `A second look: ${standing.title}`,
        body: form,
        buttons: [Dialog.cancelButton({ label: 'Close' }), Dialog.okButton({ label: 'Ask' })],
        focusNodeSelector: 'select'
      });
      if (!answer.button.accept || answer.value === null) {
        return;
      }
      typed = answer.value;
      try {
        const body = JSON.stringify({ path, ...typed });
        standing = await (await request('second-look', {}, { method: 'POST', body })).json();
        typed = null;
      } catch (error) {
        await showErrorMessage('Your request was not sent', error as Error);
      }
    }
  } catch (error) {
    await showErrorMessage('A second look cannot be asked for', error as Error);
  }
}

/** A question to choose, words to type, and below them what was asked before. */
class AskForm extends Widget implements Dialog.IBodyWidget<IAsk> {
  constructor(standing: IStanding, typed: IAsk | null) {
    super();
    this.addClass('mlsys-Lab-words');
    this.addClass('mlsys-SecondLook');
    for (const { name, title } of standing.questions) {
      this._question.add(new Option(title, name, false, name === typed?.question));
    }
    this._words.rows = 5;
    this._words.maxLength = standing.longest;
    this._words.value = typed?.words ?? '';
    this.node.append(
      labeled('Question', this._question),
      labeled('What should be looked at, and why?', this._words)
    );
    for (const each of standing.asked) {
      this.node.append(
        paragraph(`You asked about “${each.title}”, ${localTime(each.time)}: ${each.words}`),
        paragraph(each.answer ? `Answer: ${each.answer.answer}` : 'Not answered yet.')
      );
    }
  }

  getValue(): IAsk {
    return { question: this._question.value, words: this._words.value };
  }

  private _question = document.createElement('select');
  private _words = document.createElement('textarea');
}

function labeled(words: string, field: HTMLElement): HTMLElement {
  const label = document.createElement('label');
  label.append(words, field);
  return label;
}

/** Words of whoever wrote them, as text. */
function paragraph(words: string): HTMLElement {
  const made = document.createElement('p');
  made.textContent = words;
  return made;
}
