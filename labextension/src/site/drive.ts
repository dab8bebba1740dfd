/**
 * The files of kernels that run in this page, where there is no server: what the worker of a kernel asks
 * for, and an answer to everything, also when the browser refuses to store something.
 *
 * The service worker of JupyterLite carries the messages; mlsys_widgets/lite/page/drive.js sends them.
 */
import { PathExt } from '@jupyterlab/coreutils';
import { Contents } from '@jupyterlab/services';

/** The channel of JupyterLite's service worker. */
const CHANNEL = '/sw-api.v1';
/** Modes of files as Emscripten has them. */
const KINDS = 0o170000;
const FOLDER = 0o040777;
const FILE = 0o100666;
const BLOCK = 4096;

interface IRequest {
  method: string;
  path: string;
  data?: { mode?: number; newPath?: string; format?: 'text' | 'base64'; data?: string };
}

type Response = { done: unknown } | { refused: string };

/**
 * Answer the kernels that begin their requests with the name of this page.
 *
 * A kernel asks one question at a time, and asks it again when the answer was lost: it is not done twice.
 *
 * @param versionAt - The version of the notebook that this page shows at a path.
 */
export function serveDrive(
  contents: Contents.IManager,
  page: string,
  versionAt: (path: string) => string
): void {
  const channel = new BroadcastChannel(CHANNEL);
  const last = new Map<string, { sender: string; response: Promise<Response> }>();
  channel.addEventListener('message', async ({ data: message }) => {
    const { browsingContextId, data } = message;
    const sender = `${browsingContextId}`;
    if (!sender.startsWith(`${page}#`) || !data) {
      return;
    }
    const [kernel] = sender.split('.');
    if (last.get(kernel)?.sender !== sender) {
      last.set(kernel, { sender, response: respond(contents, versionAt, data as IRequest) });
    }
    const response = await last.get(kernel)!.response;
    channel.postMessage({ response, browsingContextId: sender });
  });
}

async function respond(
  contents: Contents.IManager,
  versionAt: (path: string) => string,
  request: IRequest
): Promise<Response> {
  try {
    // A notebook that was only opened is not stored: what lies there is the newest one.
    const isShown = request.method === 'shown';
    return { done: isShown ? versionAt(request.path) : await answer(contents, request) };
  } catch (error) {
    return { refused: codeOf(error) };
  }
}

/** The name of the error that a program is told, as C has it. */
function codeOf(error: unknown): string {
  const { name, message } = error as Error;
  if (/quota/i.test(`${name} ${message}`)) {
    return 'ENOSPC';
  }
  return /^Could not find/.test(message) ? 'ENOENT' : 'EIO';
}

async function answer(contents: Contents.IManager, request: IRequest): Promise<unknown> {
  const { method, path, data = {} } = request;
  switch (method) {
    case 'lookup': {
      const found = await contents.get(path, { content: false }).catch(() => null);
      return found ? { ok: true, mode: modeOf(found) } : { ok: false };
    }
    case 'getmode':
      return modeOf(await contents.get(path, { content: false }));
    case 'getattr': {
      const { size, last_modified, created } = await contents.get(path, { content: false });
      const changed = last_modified || new Date(0).toISOString();
      const about = { dev: 1, nlink: 1, uid: 0, gid: 0, rdev: 0, size: size || 0, blksize: BLOCK };
      const blocks = Math.ceil((size || 0) / BLOCK);
      return { ...about, blocks, atime: changed, mtime: changed, ctime: created || changed };
    }
    case 'readdir': {
      const { type, content } = await contents.get(path, { content: true });
      return type === 'directory' ? (content as Contents.IModel[]).map(({ name }) => name) : [];
    }
    case 'get': {
      const { type, format, content } = await contents.get(path, { content: true });
      const isText = format !== 'json';
      return type === 'directory'
        ? null
        : { format, content: isText ? content : JSON.stringify(content) };
    }
    case 'mknod':
      await contents.save(
        path,
        (data.mode! & KINDS) === (FOLDER & KINDS)
          ? { type: 'directory', format: 'json', content: null }
          : { type: 'file', format: 'text', content: '' }
      );
      return null;
    case 'put':
      await contents.save(path, asStored(path, data.format!, data.data!));
      return null;
    case 'rename':
      await contents.rename(path, data.newPath!);
      return null;
    case 'rmdir':
      await contents.delete(path);
      return null;
  }
  throw new Error(`Nobody knows what ${method} is.`);
}

function modeOf({ type }: Contents.IModel): number {
  return type === 'directory' ? FOLDER : FILE;
}

/** A notebook is kept as JSON, or JupyterLab could not open it. */
function asStored(path: string, format: 'text' | 'base64', content: string): Partial<Contents.IModel> {
  if (PathExt.extname(path) === '.ipynb' && content) {
    return { type: 'notebook', format: 'json', content: JSON.parse(content) };
  }
  return { type: 'file', format, content };
}
