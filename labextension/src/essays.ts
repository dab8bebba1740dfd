/**
 * Shows what was written in the card of an essay in the cell that a person grades.
 *
 * The ledger is where it is kept, and graders take it from there. The cell follows for everything that reads notebooks
 * alone: exports, and an nbgrader that knows nothing of ledgers.
 */
import { ILab } from './follow';
import { IReport } from './server';

export function showEssays(lab: ILab | null, report: IReport | null): void {
  if (lab === null || report === null || report.lab !== lab.about.lab) {
    return;
  }
  const essays = lab.steps.filter(step => step.kind === 'essay').map(step => step.id);
  for (const cell of lab.panel.context.model.cells) {
    const said = cell.getMetadata('nbgrader') as { grade_id?: string } | undefined;
    const id = said?.grade_id ?? '';
    const essay = essays.includes(id) && cell.type === 'markdown' ? report.answers[id]?.value : null;
    if (typeof essay === 'string' && cell.sharedModel.getSource() !== asTyped(essay)) {
      cell.sharedModel.setSource(asTyped(essay));
    }
  }
}

/**
 * The source of a Markdown cell that shows a text as it was typed, never as markup or as a formula.
 *
 * `mlsys_widgets/notebooks/essay_cells.py` writes the same, and reads it back.
 */
export function asTyped(text: string): string {
  const longest = Math.max(0, ...(text.match(/~+/g) ?? []).map(run => run.length));
  // A fence ends at a line of as many tildes or more, so this one is longer than any in the text.
  const fence = '~'.repeat(Math.max(3, longest + 1));
  return `${fence}\n${text}\n${fence}`;
}
