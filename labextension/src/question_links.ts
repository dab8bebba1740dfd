/** Below each question links that bring the instruments it may be about: those it names, and those above it in its act. */
import { IInstrument, Kind } from './contract';
import { ILab } from './follow';

const ASKING: Kind[] = ['answer', 'essay', 'reflection'];
const CLASS = 'mlsys-QuestionBeside';
/** More than these are a list to read. */
const MOST = 3;

/** The instruments that each question may be about, by the place of its cell: named ones first, then the nearest. */
export function instrumentsAsked({
  steps,
  instruments
}: Pick<ILab, 'steps' | 'instruments'>): Map<number, IInstrument[]> {
  const found = new Map<number, IInstrument[]>();
  for (const { index, kind, act, reads = [] } of steps) {
    const above = instruments.filter(each => each.index < index).reverse();
    const named = above.filter(each => reads.includes(each.title));
    const wanted = [...named, ...above.filter(each => each.act === act && !named.includes(each))];
    if (wanted.length > 0 && ASKING.includes(kind)) {
      found.set(index, wanted.slice(0, MOST));
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
    const line = document.createElement('p');
    line.className = `${CLASS} mlsys-lab-beside`;
    line.append('Show beside this: ');
    for (const { title } of wanted) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = title;
      button.addEventListener('click', () => bring(title));
      line.append(button);
    }
    // A cell that was never in sight has nothing yet that the line could follow.
    void cell.ready.then(() => {
      cell.node.querySelector(`:scope > .${CLASS}`)?.remove();
      cell.node.append(line);
    });
  });
}
