/**
 * Marks outputs that a kernel has left behind.
 *
 * The widgets of a kernel that is gone look alive and do nothing; those of a notebook that was just
 * opened are not even drawn. The first are dimmed and take no input. In place of the second, what
 * the notebook has saved beside them is shown: the text of a card, the picture of an instrument.
 */
import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { IOutputModel } from '@jupyterlab/rendermime';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

const VIEW = 'application/vnd.jupyter.widget-view+json';
const STALE = 'mlsys-mod-stale';
const SAVED = 'mlsys-Saved';

/** The models of the widgets that a cell shows. */
export function widgetsIn({ outputs }: ICodeCellModel): string[] {
  const found = [];
  for (let index = 0; index < outputs.length; index++) {
    const view = outputs.get(index).data[VIEW] as { model_id?: string } | undefined;
    if (view) {
      found.push(view.model_id ?? '');
    }
  }
  return found;
}

/** Mark a cell whose output comes from a kernel that is gone, if it shows a widget. */
export async function markStale(cell: CodeCell): Promise<void> {
  if (widgetsIn(cell.model).length === 0) {
    return;
  }
  cell.addClass(STALE);
  // For the keyboard and for screen readers what dimming is for the eye.
  cell.outputArea.node.inert = true;
  await cell.ready;
  if (!cell.isDisposed && cell.hasClass(STALE)) {
    showSaved(cell);
  }
}

/** Take the mark from a cell, because it was run again. */
export function markFresh(cell: CodeCell): void {
  if (!cell.isDisposed) {
    cell.removeClass(STALE);
    cell.outputArea.node.inert = false;
    cell.outputArea.node.querySelectorAll(`.${SAVED}`).forEach(node => node.remove());
  }
}

/** Show what was saved in place of each widget that is not drawn. */
function showSaved(cell: CodeCell): void {
  const { outputArea, model } = cell;
  outputArea.widgets.forEach((child, index) => {
    if (index >= model.outputs.length || child.node.querySelector(`.${SAVED}`)) {
      return;
    }
    const output = model.outputs.get(index);
    const drawn = child.node.querySelector('.jp-OutputArea-output')?.childElementCount ?? 0;
    if (!(VIEW in output.data) || drawn > 0) {
      return;
    }
    const saved = rendered(cell, output);
    if (saved) {
      // As a plain element: the child is cleared with all it holds when the cell runs again.
      saved.addClass(SAVED);
      child.node.append(saved.node);
    }
  });
}

function rendered(cell: CodeCell, output: IOutputModel): Widget | null {
  const { [VIEW]: _, ...rest } = output.data as Record<string, ReadonlyPartialJSONObject>;
  const { rendermime } = cell.outputArea;
  const type = rendermime.preferredMimeType(rest, output.trusted ? 'any' : 'ensure');
  if (!type) {
    return null;
  }
  const widget = rendermime.createRenderer(type);
  const model = rendermime.createModel({ data: rest, trusted: output.trusted });
  void widget.renderModel(model);
  MessageLoop.sendMessage(widget, Widget.Msg.BeforeAttach);
  return widget;
}
