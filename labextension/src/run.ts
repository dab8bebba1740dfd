/** Runs the cells of a lab, whether or not its kernel is up yet, and whether or not one fails. */
import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Kernel, KernelMessage } from '@jupyterlab/services';

/** The expression that tells a kernel in which the lab was set up from one that has just begun. */
const IS_SET_UP = "'lab' in globals()";
/** Seconds after which cells that have not answered are asked for. */
const PATIENCE = 10;
/** Loads what the first cell of every lab needs, and leaves no name behind. */
const LOAD = "__import__('mlsys_widgets').open_lab";

/**
 * Find or start the kernel of a notebook that was just read.
 *
 * Jupyter does the same, but only after the server has listed the checkpoints and made one.
 */
export function beginKernel({ context: { model }, sessionContext }: NotebookPanel): void {
  const { kernelPreference } = sessionContext;
  sessionContext.kernelPreference = {
    ...kernelPreference,
    name: model.defaultKernelName || kernelPreference.name,
    language: model.defaultKernelLanguage
  };
  // Jupyter waits for the same promise, and says what is wrong.
  void sessionContext.initialize().catch(() => undefined);
}

/** Let a kernel load the lab's libraries, which takes longer than everything else about a start. */
export function warmUp(kernel: Kernel.IKernelConnection): void {
  const future = kernel.requestExecute({
    code: LOAD,
    silent: true,
    store_history: false,
    stop_on_error: false
  });
  // Whatever is wrong here, the first cell of the lab says it too.
  void future.done.catch(() => undefined);
}

/** The kernel of a notebook, once it is there; a dead one is restarted, a missing one started. */
export async function kernelOf(session: ISessionContext): Promise<Kernel.IKernelConnection> {
  await session.initialize();
  if (session.session?.kernel?.status === 'dead') {
    await session.restartKernel();
  }
  const name = session.kernelPreference.name ?? session.specsManager.specs?.default;
  const kernel =
    session.session?.kernel ?? (await session.changeKernel(name ? { name } : undefined));
  if (!kernel) {
    throw new Error('No kernel could be started.');
  }
  return kernel;
}

/** Whether the lab has been set up in a kernel. Asked without leaving a trace in its history. */
export async function isSetUp(kernel: Kernel.IKernelConnection): Promise<boolean> {
  const future = kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    stop_on_error: false,
    user_expressions: { lab: IS_SET_UP }
  });
  const { content } = await future.done;
  if (content.status !== 'ok') {
    return false;
  }
  const said = (content.user_expressions as Record<string, { data?: Record<string, string> }>).lab;
  return said?.data?.['text/plain'] === 'True';
}

/**
 * Wait until all is done, or until a kernel has answered a question that was sent to it after the cells:
 * then they, or their answers, were lost, as happens around the restart of a kernel.
 *
 * @returns Whether they were lost.
 */
export async function areLost(
  kernel: Kernel.IKernelConnection,
  allDone: () => boolean
): Promise<boolean> {
  let answered = false;
  while (!answered) {
    await pause(PATIENCE);
    if (allDone()) {
      return false;
    }
    // Not waited for longer than for cells: it may be lost, too.
    await Promise.race([
      isSetUp(kernel).then(
        () => (answered = true),
        () => undefined
      ),
      pause(PATIENCE)
    ]);
  }
  // What came before the answer is handled in this turn of the page.
  await pause(0);
  return !allDone();
}

function pause(seconds: number): Promise<void> {
  return new Promise(resolve => window.setTimeout(resolve, 1000 * seconds));
}

/** Whether a kernel has all of these widgets: those of an earlier kernel are gone. */
export async function hasWidgets(
  kernel: Kernel.IKernelConnection,
  models: string[]
): Promise<boolean> {
  const { content } = await kernel.requestCommInfo({ target_name: 'jupyter.widget' });
  return content.status === 'ok' && models.every(model => model in content.comms);
}

/**
 * Run cells in their order and return those that failed.
 *
 * All are sent at once: waiting for each answer before the next cell is sent would cost a trip to
 * the server for every cell. None of them stops those after it.
 *
 * @param onDone - Called after each cell.
 */
export async function runCells(
  cells: CodeCell[],
  session: ISessionContext,
  onDone: (cell: CodeCell) => void
): Promise<CodeCell[]> {
  const failed: CodeCell[] = [];
  await Promise.all(
    cells.map(async cell => {
      if (!(await succeeds(cell, session))) {
        failed.push(cell);
      }
      onDone(cell);
    })
  );
  return failed;
}

async function succeeds(cell: CodeCell, session: ISessionContext): Promise<boolean> {
  const tags = (cell.model.getMetadata('tags') ?? []) as string[];
  let reply: KernelMessage.IExecuteReplyMsg | void;
  try {
    // Jupyter's own mark for a cell whose error does not stop the next one; it is not saved.
    reply = await CodeCell.execute(cell, session, { tags: [...tags, 'raises-exception'] });
  } catch (error) {
    // Canceled: the kernel was restarted, or the notebook closed.
    return false;
  }
  return !reply || reply.content.status === 'ok';
}
