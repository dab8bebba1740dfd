/**
 * Draws widgets again that were drawn too early.
 *
 * When a page is loaded while the kernel is running, the notebook may draw an output before the
 * kernel has told about its widget. The output then keeps saying "model not found", even though the
 * widget is there a moment later; on a slow machine that happens to most outputs of a lab. ipywidgets
 * knows all widgets by name before it makes the first, so once one of ours has come, all can be drawn.
 * An output that is drawn later still may fail after the last widget has come, so we look again.
 */
import { NotebookPanel } from '@jupyterlab/notebook';
import { arrivals } from './widgets/arrivals';

const VIEW = 'application/vnd.jupyter.widget-view+json';
const LOST = 'model not found';
/** Milliseconds until we look again, which doubles; after the longest only while something is lost. */
const PAUSE = 500;
const LONGEST = 32000;

/** What is needed of the outputs of a code cell. */
interface IOutputs {
  model: { length: number; get(index: number): { data: Record<string, unknown> } };
  widgets: readonly { node: HTMLElement; children(): Iterable<object> }[];
}

/** Watch a lab until it is closed. */
export function redrawLost(panel: NotebookPanel): void {
  let soon = 0;
  let pause = PAUSE;
  const look = (): void => {
    let lost = 0;
    for (const cell of panel.isDisposed ? [] : panel.content.widgets) {
      lost += redraw((cell as { outputArea?: unknown }).outputArea as IOutputs | undefined);
    }
    if (!panel.isDisposed && (lost > 0 || pause < LONGEST)) {
      soon = window.setTimeout(look, pause);
      pause = Math.min(2 * pause, LONGEST);
    }
  };
  // Models come by the dozen: one look is enough for all of a turn.
  const later = (): void => {
    window.clearTimeout(soon);
    soon = window.setTimeout(look);
    pause = PAUSE;
  };
  arrivals.addEventListener('model', later);
  panel.disposed.connect(() => arrivals.removeEventListener('model', later));
}

/** Draw what is lost again; return how many outputs that were. */
function redraw(outputs: IOutputs | undefined): number {
  let lost = 0;
  outputs?.widgets.forEach((output, index) => {
    if (index >= outputs.model.length || !output.node.textContent?.includes(LOST)) {
      return;
    }
    const model = outputs.model.get(index);
    if (!(VIEW in model.data)) {
      return;
    }
    lost += 1;
    for (const part of output.children()) {
      const renderer = part as { renderModel?(model: object): Promise<void> };
      void renderer.renderModel?.(model);
    }
  });
  return lost;
}
