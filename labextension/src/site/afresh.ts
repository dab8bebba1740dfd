/**
 * Has the browser ask the site again for what it publishes of labs, instead of taking what it kept.
 *
 * Hosts let browsers keep a file for minutes or days, each for itself. So the notebook of one version would
 * meet the questions of another. What has not changed is not sent again.
 */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';

const PUBLISHED = ['files/', 'api/contents/', 'labs.json'];

/** JupyterLite has no setting for it, so the function is wrapped that it fetches with. */
export function askAfresh(): void {
  const base = URLExt.parse(PageConfig.getBaseUrl()).href;
  const starts = PUBLISHED.map(name => URLExt.join(base, name));
  const fetchKept = window.fetch.bind(window);
  window.fetch = (input, init) => {
    const address = URLExt.parse(input instanceof Request ? input.url : `${input}`).href;
    const isPublished = starts.some(start => address.startsWith(start));
    return fetchKept(input, isPublished ? { cache: 'no-cache', ...init } : init);
  };
}
