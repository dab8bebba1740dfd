/** What is wrong with the ledger of an open lab. */
import { IReport } from './server';
import { withLocalTimes } from './words';

/** In a sentence, or null if nothing is. */
export function problemOf(
  lab: string,
  report: IReport | null,
  trouble: string | null
): string | null {
  if (trouble !== null) {
    return `${trouble} What you see may be out of date; trying again.`;
  }
  if (report && !report.ok) {
    return report.problem === null ? null : withLocalTimes(report.problem);
  }
  if (report?.lab && report.lab !== lab) {
    return `The ledger beside this notebook belongs to another lab, ${report.lab}.`;
  }
  if (report?.student && report.you && report.student !== report.you) {
    return (
      `The ledger beside this notebook belongs to ${report.student}, and you are ${report.you}` +
      ' here: the numbers in this lab are not yours.'
    );
  }
  return null;
}
