/**
 * The labs as a site of files: everything that is special where there is no server.
 *
 * Python runs in workers of this page, and files lie in the storage of the browser.
 */
import { JupyterFrontEnd } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { answerWith } from '../server';
import { versionOf } from '../versions';
import { askAfresh } from './afresh';
import { serveDrive } from './drive';
import { Kernels, prepareAll } from './kernels';
import { filesAreServed, startKernelsAfter } from './service_worker';
import { PAGE, SITE } from './site';

/** Whether kernels have files here; rejected if they cannot. */
let served: Promise<void> = Promise.resolve();

/** Answer from this page what a server answers elsewhere. */
export function beSite(app: JupyterFrontEnd, tracker: INotebookTracker): void {
  if (SITE === '') {
    return;
  }
  askAfresh();
  served = filesAreServed(app);
  startKernelsAfter(app, served);
  const { contents } = app.serviceManager;
  serveDrive(contents, PAGE, path => {
    const shown = tracker.find(({ context }) => context.localPath === path);
    return shown ? versionOf(shown) : '';
  });
  const kernels = new Kernels(tracker, contents);
  answerWith((address, query, init) => kernels.ask(address, query, init));
  tracker.widgetAdded.connect((_, panel) => prepareAll(panel));
}

/** Why nothing can be kept here, in a sentence; null if something can. */
export async function storageTrouble(): Promise<string | null> {
  if (!window.isSecureContext || !navigator.serviceWorker || !navigator.locks) {
    return 'This browser keeps nothing for a page that was not opened over https. Open it with https://.';
  }
  const isOpen = await new Promise<boolean>(resolve => {
    try {
      const asked = indexedDB.open('mlsys-widgets-check');
      asked.onsuccess = () => {
        asked.result.close();
        resolve(true);
      };
      asked.onerror = () => resolve(false);
    } catch (error) {
      resolve(false);
    }
  });
  const isServed = await served.then(
    () => true,
    () => false
  );
  return isOpen && isServed
    ? null
    : 'This browser refuses to store anything for this page, so nothing that you do here could be kept.' +
        ' Allow it to store data for this site, or use another browser.';
}

export { Kept, keepStorage } from './kept';
export { bringUpToDate } from './release';
export { introduce } from './visitor';
