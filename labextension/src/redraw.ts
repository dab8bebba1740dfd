/**
 * Draws widgets again that were drawn too early.
 *
 * When a page is loaded while the kernel is running, the notebook may draw an output before the
 * kernel has told about its widget. The output then keeps saying "model not found", even though the
 * widget is there a moment later; on a slow machine that happens to most outputs of a lab. ipywidgets
 * knows all widgets by name before it makes the first, so once one of ours has come, all can be drawn.
 */
import { NotebookPanel } from '@jupyterlab/notebook';
import { arrivals } from './widgets/arrivals';

const VIEW = 'application/vnd.jupyter.widget-view+json';
const LOST = 'model not found';

/** What is needed of the outputs of a code cell. */
interface IOutputs {
  model: { length: number; get(index: number): { data: Record<string, unknown> } };
  widgets: readonly { node: HTMLElement; children(): Iterable<object> }[];
}

/** Watch a lab until it is closed. */
export function redrawLost(panel: NotebookPanel): void {
  let soon = 0;
  const look = (): void => {
    soon = 0;
    for (const cell of panel.isDisposed ? [] : panel.content.widgets) {
      redraw((cell as { outputArea?: unknown }).outputArea as IOutputs | undefined);
    }
  };
  // Models come by the dozen: one look is enough for all of a turn.
  const later = (): void => {
    soon ||= window.setTimeout(look);
  };
  arrivals.addEventListener('model', later);
  panel.disposed.connect(() => arrivals.removeEventListener('model', later));
}

function redraw(outputs: IOutputs | undefined): void {
  outputs?.widgets.forEach((output, index) => {
    if (index >= outputs.model.length || !output.node.textContent?.includes(LOST)) {
      return;
    }
    const model = outputs.model.get(index);
    if (!(VIEW in model.data)) {
      return;
    }
    for (const part of output.children()) {
      const renderer = part as { renderModel?(model: object): Promise<void> };
      void renderer.renderModel?.(model);
    }
  });
}
