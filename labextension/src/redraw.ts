/**
 * Draws widgets again that were drawn too early.
 *
 * When a page is loaded while the kernel is running, the notebook may draw an output before the
 * kernel has announced its widget. The output then keeps saying "model not found", even though the
 * widget is there a moment later; on a slow machine that happens to most outputs of a lab.
 */
import { NotebookPanel } from '@jupyterlab/notebook';

const VIEW = 'application/vnd.jupyter.widget-view+json';
const LOST = 'model not found';
/** Milliseconds between looks, how many looks, and how often one output is drawn again. */
const PAUSE = 2000;
const LOOKS = 30;
const TRIES = 6;

/** What is needed of the outputs of a code cell. */
interface IOutputs {
  model: { length: number; get(index: number): { data: Record<string, unknown> } };
  widgets: readonly { node: HTMLElement; children(): Iterable<object> }[];
}

/** Watch a lab that was just opened. */
export async function redrawLost(panel: NotebookPanel): Promise<void> {
  const tries = new WeakMap<object, number>();
  for (let look = 0; look < LOOKS && !panel.isDisposed; look++) {
    if (panel.sessionContext.session?.kernel) {
      for (const cell of panel.content.widgets) {
        redraw((cell as { outputArea?: unknown }).outputArea as IOutputs | undefined, tries);
      }
    }
    await new Promise(resolve => setTimeout(resolve, PAUSE));
  }
}

function redraw(outputs: IOutputs | undefined, tries: WeakMap<object, number>): void {
  outputs?.widgets.forEach((output, index) => {
    if (index >= outputs.model.length || !output.node.textContent?.includes(LOST)) {
      return;
    }
    const model = outputs.model.get(index);
    const tried = tries.get(output) ?? 0;
    if (!(VIEW in model.data) || tried >= TRIES) {
      return;
    }
    tries.set(output, tried + 1);
    for (const part of output.children()) {
      const renderer = part as { renderModel?(model: object): Promise<void> };
      void renderer.renderModel?.(model);
    }
  });
}
