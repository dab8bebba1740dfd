/** Runs the cells of a lab, whether or not its kernel is up yet, and whether or not one fails. */
import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Kernel, KernelMessage } from '@jupyterlab/services';
import { SITE } from './site/site';

/** The expression that tells a kernel in which the lab was set up from one that has just begun. */
const IS_SET_UP = "'lab' in globals()";
/** Seconds after which cells that have not answered are asked for. */
const PATIENCE = 10;
/** What a kernel was asked to compute beside the code. */
type IAsked = Record<string, { data?: Record<string, string> }>;
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
  // A kernel in a page answers without them, though every answer ought to have them.
  const said = (content.user_expressions as IAsked | undefined)?.lab;
  return said?.data?.['text/plain'] === 'True';
}

/**
 * Wait until all is done, or until a kernel has answered a question that was sent to it after the cells:
 * then they, or their answers, were lost.
 *
 * @param failure - Resolved when a cell has failed: the question is asked at once then.
 * @returns Whether they were lost.
 */
async function areLost(
  kernel: Kernel.IKernelConnection,
  failure: Promise<void>,
  allDone: () => boolean
): Promise<boolean> {
  let answered = false;
  while (!answered) {
    await Promise.race([failure, pause(PATIENCE)]);
    if (allDone()) {
      return false;
    }
    // Not waited for longer than for cells: it may be lost, too.
    await Promise.race([
      isSetUp(kernel).then(
        () => (answered = true),
        () => pause(PATIENCE)
      ),
      pause(PATIENCE)
    ]);
    // A kernel at work takes its time. One that says nothing at all may be at the end of a connection
    // that carries nothing, as after a restart that the server has not noticed: a new one is made.
    // On a site, kernel and page are one.
    if (SITE === '' && !answered && kernel.status !== 'busy' && !allDone()) {
      await Promise.race([kernel.reconnect().catch(() => undefined), pause(PATIENCE)]);
    }
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
 * Run cells in their order and return those that failed. None of them stops those after it.
 *
 * What is lost is sent again, with all that comes after it. Messages are lost around the restart of a
 * kernel, and JupyterLite drops all that wait for a kernel when a cell fails.
 *
 * @param onDone - Called after each cell, with the number of those that are done.
 * @param isOver - Whether nobody waits for them any more.
 */
export async function runCells(
  cells: CodeCell[],
  session: ISessionContext,
  kernel: Kernel.IKernelConnection,
  onDone: (cell: CodeCell, done: number) => void,
  isOver: () => boolean
): Promise<CodeCell[]> {
  const failed = new Set<CodeCell>();
  let rest = cells;
  while (rest.length > 0 && !isOver()) {
    const lost = await sendAll(rest, session, kernel, isOver, (cell, isWell, left) => {
      if (!isWell) {
        failed.add(cell);
      }
      onDone(cell, cells.length - left);
    });
    const first = rest.findIndex(cell => lost.has(cell));
    rest = first < 0 ? [] : rest.slice(first);
    rest.forEach(cell => failed.delete(cell));
  }
  return [...failed];
}

/**
 * Send cells, all at once: waiting for each answer before the next one is sent would cost a trip to the
 * server for every cell.
 *
 * @returns Those that were lost.
 */
async function sendAll(
  cells: CodeCell[],
  session: ISessionContext,
  kernel: Kernel.IKernelConnection,
  isOver: () => boolean,
  onAnswer: (cell: CodeCell, isWell: boolean, left: number) => void
): Promise<Set<CodeCell>> {
  const left = new Set(cells);
  let isClosed = false;
  let fail = (): void => undefined;
  const failure = new Promise<void>(resolve => (fail = resolve));
  const running = Promise.all(
    cells.map(async cell => {
      const isWell = await succeeds(cell, session);
      // One that is sent again ends here, too.
      if (!isClosed) {
        left.delete(cell);
        onAnswer(cell, isWell, left.size);
        if (!isWell) {
          fail();
        }
      }
    })
  );
  const lost = areLost(kernel, failure, () => isOver() || left.size === 0);
  await Promise.race([running, lost.then(are => (are || isOver() ? undefined : running))]);
  isClosed = true;
  return left;
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
