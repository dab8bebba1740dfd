/** Who works in this browser: asked before the first lab starts, since numbers and the record depend on it. */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import { request } from '../server';
import { BY_CODE, SITE } from './site';

interface IVisitor {
  name: string | null;
}

/**
 * Ask who works here, if nobody has said so, or if it is asked for.
 *
 * @returns Whether somebody is known now.
 */
export async function introduce(path: string, again = false): Promise<boolean> {
  const known: IVisitor = await (await request('who', { path })).json();
  if (known.name !== null && !again) {
    return true;
  }
  let typed: IAnswer = { name: known.name ?? '', code: '' };
  let trouble = '';
  for (;;) {
    const answer = await showDialog({
      title: 'Who are you?',
      body: new Introduction(typed, trouble),
      buttons: [Dialog.cancelButton({ label: 'Go back' }), Dialog.okButton({ label: 'That is me' })],
      focusNodeSelector: 'input'
    });
    if (!answer.button.accept || answer.value === null) {
      return known.name !== null;
    }
    typed = answer.value;
    try {
      await request('who', {}, { method: 'POST', body: JSON.stringify({ path, ...typed, by_code: BY_CODE }) });
      return true;
    } catch (error) {
      trouble = (error as Error).message;
    }
  }
}

interface IAnswer {
  name: string;
  code: string;
}

class Introduction extends Widget implements Dialog.IBodyWidget<IAnswer> {
  constructor(typed: IAnswer, trouble: string) {
    super();
    this.addClass('mlsys-Lab-words');
    this.addClass('mlsys-SecondLook');
    const counts = SITE === 'assignment';
    this.node.append(
      paragraph(
        counts
          ? 'Your numbers are drawn from your name, and what you hand in is graded under it. Enter it as your course writes it.'
          : 'Your numbers are drawn from your name. If your course knows you under a login, enter that.'
      ),
      labeled('Name or login', this._name)
    );
    this._name.maxLength = 200;
    this._name.value = typed.name;
    this._name.autocomplete = 'username';
    if (BY_CODE) {
      this._code.value = typed.code;
      this._code.autocomplete = 'off';
      this.node.append(labeled('The code that your course gave to you', this._code));
    }
    this.node.append(paragraph('It stays in this browser and in what you download from here.'));
    if (trouble) {
      const said = paragraph(trouble);
      said.setAttribute('role', 'alert');
      this.node.append(said);
    }
  }

  getValue(): IAnswer {
    return { name: this._name.value, code: this._code.value };
  }

  private _name = document.createElement('input');
  private _code = document.createElement('input');
}

function labeled(words: string, field: HTMLElement): HTMLElement {
  const label = document.createElement('label');
  label.append(words, field);
  return label;
}

function paragraph(words: string): HTMLElement {
  const made = document.createElement('p');
  made.textContent = words;
  return made;
}
