/** Makes room for a lab: folds the file browser when one is opened, and both sides on a small page. */
import { ILabShell } from '@jupyterlab/application';

/** A page less wide than this has no room for a lab and a panel: a small window, or a large zoom. */
const NARROW = '(max-width: 900px)';

/** Whether the page has room for the lab only. */
export function isNarrow(): boolean {
  return window.matchMedia(NARROW).matches;
}

/** Fold what is in the way of a lab that was just opened. */
export function makeRoom(shell: ILabShell): void {
  shell.collapseLeft();
  if (isNarrow()) {
    shell.collapseRight();
  }
}

/** Fold both sides whenever a page becomes narrow while a lab is open. */
export function watchWidth(shell: ILabShell, hasLab: () => boolean): void {
  window.matchMedia(NARROW).addEventListener('change', ({ matches }) => {
    if (matches && hasLab()) {
      makeRoom(shell);
    }
  });
}
