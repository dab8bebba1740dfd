import { LabIcon } from '@jupyterlab/ui-components';

/** A page of a ledger with a seal. */
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M5 2h11a2 2 0 0 1 2 2v7.1a5.5 5.5 0 0 0-2-.1V4H5v16h6.3l-.3 2H5a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zm2 4h7v2H7zm0 4h5v2H7zm0 4h3v2H7z"/>
  <path class="jp-icon3" fill="#616161" d="M17 13a4 4 0 0 1 2.5 7.1V24L17 22.6 14.5 24v-3.9A4 4 0 0 1 17 13zm0 2a2 2 0 1 0 0 4 2 2 0 0 0 0-4z"/>
</svg>`;

export const labIcon = new LabIcon({ name: 'mlsys-widgets-lab:lab', svgstr: SVG });

/** The same for the launcher, which needs an image; in a blue that works on every theme. */
export const labPicture = `data:image/svg+xml,${encodeURIComponent(
  SVG.replace(/#616161/g, '#1e88e5')
)}`;
