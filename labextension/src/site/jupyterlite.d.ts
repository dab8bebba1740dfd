/** What is used of JupyterLite, which is there in a site only. */
declare module '@jupyterlite/server' {
  import { Token } from '@lumino/coreutils';

  /** Registers the service worker; ready once it is registered, and rejected if it cannot be. */
  export const IServiceWorkerManager: Token<{ ready: Promise<void> }>;
}
