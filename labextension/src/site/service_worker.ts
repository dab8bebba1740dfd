/**
 * The service worker of JupyterLite, through which kernels have files.
 *
 * JupyterLite starts a kernel whether or not it is there yet, and such a kernel has no files for good.
 */
import { JupyterFrontEnd } from '@jupyterlab/application';

/** Wait until kernels that start have files; rejected if this browser gives them none. */
export async function filesAreServed(app: JupyterFrontEnd): Promise<void> {
  const { IServiceWorkerManager } = await import('@jupyterlite/server');
  const manager = await app.resolveRequiredService(IServiceWorkerManager);
  await manager.ready;
  const { active } = await navigator.serviceWorker.ready;
  // It takes over pages that are open before it says that it is activated.
  while (active && active.state === 'activating') {
    await new Promise(resolve => active.addEventListener('statechange', resolve, { once: true }));
  }
}

/** Have no kernel start before. */
export function startKernelsAfter(app: JupyterFrontEnd, served: Promise<void>): void {
  const { sessions } = app.serviceManager;
  const startNew = sessions.startNew.bind(sessions);
  sessions.startNew = async (...asked) => {
    await served;
    return startNew(...asked);
  };
}
