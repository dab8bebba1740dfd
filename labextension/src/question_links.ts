/** Below each question a link that brings the instrument it is about: the last one above it in its act. */
import { IInstrument, Kind } from './contract';
import { ILab } from './follow';

const ASKING: Kind[] = ['answer', 'essay', 'reflection'];
const CLASS = 'mlsys-QuestionBeside';

/** The instrument that each question is about, by the place of its cell. */
export function instrumentsAsked({ steps, instruments }: Pick<ILab, 'steps' | 'instruments'>): Map<number, IInstrument> {
  const found = new Map<number, IInstrument>();
  for (const { index, kind, act } of steps) {
    const above = instruments.filter(each => each.index < index && each.act === act).pop();
    if (above && ASKING.includes(kind)) {
      found.set(index, above);
    }
  }
  return found;
}

/** Put the links below the questions of a lab, in place of those from before. */
export function linkQuestions(lab: ILab, bring: (title: string) => void): void {
  const asked = instrumentsAsked(lab);
  lab.panel.content.widgets.forEach((cell, index) => {
    cell.node.querySelector(`:scope > .${CLASS}`)?.remove();
    const wanted = asked.get(index);
    if (!wanted) {
      return;
    }
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = wanted.title;
    button.addEventListener('click', () => bring(wanted.title));
    const line = document.createElement('p');
    line.className = `${CLASS} mlsys-lab-beside`;
    line.append('Show beside this: ', button);
    // A cell that was never in sight has nothing yet that the line could follow.
    void cell.ready.then(() => {
      cell.node.querySelector(`:scope > .${CLASS}`)?.remove();
      cell.node.append(line);
    });
  });
}
