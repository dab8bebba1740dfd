/** Saves the notebook of a lab: one save after the other, and of its own accord without a question. */
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';

/**
 * Let the saves of a document follow one another, whoever asks for them.
 *
 * In Jupyter, a save that begins during another takes the file for changed by somebody else, and
 * asks whether to overwrite it.
 */
export function saveInTurn(context: DocumentRegistry.Context): void {
  const save = context.save.bind(context);
  let last: Promise<void> = Promise.resolve();
  context.save = () => {
    last = last.catch(() => undefined).then(() => (context.isDisposed ? undefined : save()));
    return last;
  };
  sayNothingOnceClosed(context);
}

/**
 * Keep a save that meets the end of its document from complaining about it.
 *
 * Whoever closes a notebook that has changed is asked whether to save it, so a save that was under way
 * then has nothing to tell. Jupyter shows a dialog, "File Save Error", with the one word "Disposed".
 */
function sayNothingOnceClosed(context: DocumentRegistry.Context): void {
  // No signal and no option comes before the dialog: the method that shows it is Jupyter's own.
  const own = context as unknown as { _handleError?(error: Error, title: string): Promise<void> };
  const show = own._handleError?.bind(context);
  if (show) {
    own._handleError = async (error, title) => {
      if (!context.isDisposed || error.message !== 'Disposed') {
        await show(error, title);
      }
    };
  }
}

/**
 * Save a notebook, unless another window has saved it since or it cannot be saved.
 *
 * In both cases Jupyter would ask or complain, about something that the student did not do.
 */
export async function saveQuietly(
  { context }: NotebookPanel,
  contents: Contents.IManager
): Promise<void> {
  try {
    const { hash, writable } = await contents.get(context.path, { content: false, hash: true });
    if (writable && hash === context.contentsModel?.hash && !context.isDisposed) {
      await context.save();
    }
  } catch (error) {
    // Jupyter saves again by itself before long, and says what is wrong.
  }
}
