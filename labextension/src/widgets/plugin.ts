/** Registers our widgets with ipywidgets. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import type { ExportData } from '@jupyter-widgets/base';
import { name, version } from '../../package.json';
import { draftsThroughServer } from '../drafts';
import { reachServer } from './open_cards';

export const widgets: JupyterFrontEndPlugin<void> = {
  id: 'mlsys-widgets-lab:widgets',
  description: 'The cards and instruments of labs.',
  autoStart: true,
  // Notebooks are opened once all plugins are active: before there is a model, we are registered.
  activate: async (app: JupyterFrontEnd): Promise<void> => {
    // A page without ipywidgets lacks this module; the panel works there all the same.
    const base = await import('@jupyter-widgets/base').catch(() => null);
    const registry = base && (await app.resolveOptionalService(base.IJupyterWidgetRegistry));
    if (registry) {
      reachServer(draftsThroughServer, PageConfig.getBaseUrl());
      const exports = (await import('./index')) as unknown as ExportData;
      registry.registerWidget({ name, version, exports });
    }
  }
};
