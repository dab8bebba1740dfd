/** Whether these labs are a site without a server, and what every page of it has. */
import { PageConfig } from '@jupyterlab/coreutils';
import { UUID } from '@lumino/coreutils';

/** For what an instructor has published the site; empty where there is a server. */
export const SITE = PageConfig.getOption('mlsysSite') as '' | 'practice' | 'assignment';
/** Whether numbers are drawn from a code that the course gave to each student. */
export const BY_CODE = PageConfig.getOption('mlsysByCode') === 'yes';
/** The name under which this page answers its kernels. */
export const PAGE = UUID.uuid4();
