/** Prepares the kernels of a site, and asks them what a server would be asked. */
import { PageConfig, PathExt, URLExt } from '@jupyterlab/coreutils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Contents, Kernel } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';
import { Refusal } from '../server';
import { PAGE } from './site';

/** Connects a kernel with this page, unless it is, and tells it where its notebook is. */
const BEGIN = "await __import__('mlsys_widgets.lite.page.kernel_start', fromlist=['begin']).begin";
/** Where kernels keep what is no lab's. */
const OWN = '.mlsys/';
/** The comm on which a kernel answers. */
const TARGET = 'mlsys-panel';
/** Milliseconds after which a question that was not answered is asked again. */
const PATIENCE = 10000;

/** Have a kernel prepared before anything that is sent to it later. */
export function prepare(kernel: Kernel.IKernelConnection, notebook: string): void {
  const future = kernel.requestExecute({
    // Text in JSON is text in Python, too.
    code: `${BEGIN}(${JSON.stringify(PAGE)}, ${JSON.stringify(notebook)})`,
    silent: true,
    store_history: false,
    stop_on_error: false
  });
  // A kernel that ends meanwhile is prepared again when it is back.
  void future.done.catch(() => undefined);
}

/** Have the kernels of a notebook prepared, now and after each restart. */
export function prepareAll({ context, sessionContext }: NotebookPanel): void {
  let isAway = false;
  sessionContext.statusChanged.connect((_, status) => {
    const kernel = sessionContext.session?.kernel;
    if (status === 'restarting' || status === 'autorestarting') {
      isAway = true;
    } else if (isAway && kernel) {
      isAway = false;
      prepare(kernel, context.localPath);
    }
  });
  sessionContext.kernelChanged.connect((_, { newValue }) => {
    if (newValue) {
      prepare(newValue, context.localPath);
    }
  });
}

interface IReply {
  id: string;
  status: number;
  body: JSONObject | null;
  tag: string;
}

export class Kernels {
  constructor(
    private _tracker: INotebookTracker,
    private _contents: Contents.IManager
  ) {}

  /** Ask the kernel of a notebook as a server would be asked, and answer as one. */
  async ask(address: string, query: Record<string, string>, init: RequestInit): Promise<Response> {
    if (address === 'labs') {
      return fetch(URLExt.join(PageConfig.getBaseUrl(), 'labs.json'));
    }
    const body = init.body ? JSON.parse(`${init.body}`) : null;
    const path = query.path ?? body?.path;
    const kernel = await this._kernelOf(path);
    const tag = (init.headers as Record<string, string> | undefined)?.['If-None-Match'] ?? null;
    const question = { address, method: init.method ?? 'GET', query, body, tag };
    const seconds = Number(query.wait ?? 0);
    // Begun before the kernel looks: nothing can change in between unseen.
    const changed = tag !== null && seconds > 0 && this._changed(path, seconds, init.signal ?? null);
    let reply = await this._send(kernel, path, question);
    if (reply.status === 304 && changed) {
      await changed;
      reply = await this._send(kernel, path, question);
    }
    return new Response(reply.status === 304 ? null : JSON.stringify(reply.body), {
      status: reply.status,
      headers: reply.tag ? { ETag: reply.tag } : {}
    });
  }

  private async _kernelOf(path: string | undefined): Promise<Kernel.IKernelConnection> {
    const panel = this._tracker.find(({ context }) => context.localPath === path);
    await panel?.sessionContext.ready;
    const kernel = panel?.sessionContext.session?.kernel;
    if (!kernel || kernel.status === 'dead') {
      throw new Refusal('Python has stopped. Press Resume, or restart the kernel.');
    }
    return kernel;
  }

  /**
   * Send a question until it is answered: JupyterLite drops what waits for a kernel when a cell fails, and a
   * kernel that is restarted knows nothing of what came before. A kernel answers each question once.
   */
  private async _send(
    kernel: Kernel.IKernelConnection,
    notebook: string,
    question: JSONObject
  ): Promise<IReply> {
    const id = `${PAGE}.${++this._count}`;
    const request = JSON.stringify({ id, ...question });
    let timer = 0;
    try {
      return await new Promise<IReply>((resolve, reject) => {
        const ask = (): void => {
          if (kernel.isDisposed || kernel.status === 'dead') {
            reject(new Refusal('Python has stopped. Press Resume, or restart the kernel.'));
            return;
          }
          prepare(kernel, notebook);
          const comm = kernel.createComm(TARGET);
          comm.onMsg = ({ content }) => {
            const reply: IReply = JSON.parse(`${content.data.reply}`);
            if (reply.id === id) {
              resolve(reply);
            }
          };
          comm.open({ request });
        };
        ask();
        timer = window.setInterval(ask, PATIENCE);
      });
    } finally {
      window.clearInterval(timer);
    }
  }

  /** Wait until a file beside a notebook changes, or who works here; at most for some seconds. */
  private _changed(notebook: string, seconds: number, signal: AbortSignal | null): Promise<void> {
    const folder = PathExt.dirname(notebook);
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer);
        this._contents.fileChanged.disconnect(look);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const look = (_: unknown, { newValue, oldValue }: Contents.IChangedArgs): void => {
        const path = newValue?.path ?? oldValue?.path ?? '';
        if (PathExt.dirname(path) === folder || path.startsWith(OWN)) {
          done();
        }
      };
      const timer = setTimeout(done, 1000 * seconds);
      this._contents.fileChanged.connect(look);
      signal?.addEventListener('abort', done);
    });
  }

  private _count = 0;
}
