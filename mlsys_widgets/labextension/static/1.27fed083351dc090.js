"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[1],{33(e,s,o){var t=o(31),a=o.n(t),r=o(32),n=(o.n(r))()(a());n.push([e.id,`/* The one design system: cards, instruments, the panel, feedback and reports take their sizes, weights,
   widths and colors from here and nowhere else. Colors of text and lines follow the Lab theme where there
   is one. What a color means is the same everywhere: see mlsys_widgets/drawing/theme.py. */
:root {
  /* Five sizes, two weights. The largest is for the number of a reveal alone. */
  --mlsys-note: 13px;
  --mlsys-text: 16px;
  --mlsys-lead: 20px;
  --mlsys-title: 28px;
  --mlsys-number: 40px;
  --mlsys-regular: 400;
  --mlsys-strong: 600;
  --mlsys-line-height: 1.55;
  /* A column that is read; instruments may be wider. */
  --mlsys-column: 680px;
  --mlsys-wide: 1280px;
  /* How many times the height it is drawn for a plot may have. */
  --mlsys-plot-growth: 1.4;
  --mlsys-gap: 12px;
  --mlsys-radius: 8px;
  --mlsys-font: var(--jp-ui-font-family, system-ui, sans-serif);
  --mlsys-ink: var(--jp-ui-font-color1, #212121);
  --mlsys-quiet: var(--jp-ui-font-color2, #616161);
  --mlsys-rule: var(--jp-border-color2, #d0d0d0);
  --mlsys-edge: var(--jp-border-color1, #bdbdbd);
  --mlsys-paper: var(--jp-layout-color1, #fff);
  --mlsys-field: var(--jp-layout-color0, #fff);
  --mlsys-tint: var(--jp-layout-color2, #f3f3f3);
  --mlsys-link: var(--jp-content-link-color, #1a6fb0);
  /* The one primary button of a view, and what has the keyboard. */
  --mlsys-primary: #1f6aa8;
  --mlsys-primary-hover: #17568a;
  --mlsys-focus: #2a7fc4;
  --mlsys-prediction: #b0609f;
  --mlsys-model: #2a7fc4;
  --mlsys-measured: #12936b;
  --mlsys-textbook: #808890;
  --mlsys-failure: #d4522a;
  --mlsys-move: 200ms;
}
@media (prefers-reduced-motion: reduce) { :root { --mlsys-move: 0ms; } }
`,""]),o.d(s,{},{A:n})},30(e,s,o){var t=o(31),a=o.n(t),r=o(32),n=o.n(r),l=o(33),i=n()(a());i.i(l.A),i.push([e.id,`/* Sizes are the design system's; colors follow the Lab theme, so every theme works. */

.mlsys-Lab {
  padding: 0 12px 12px;
  overflow: hidden auto;
  overflow-wrap: break-word;
  background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1);
  font-size: var(--mlsys-note);
  line-height: 1.4;
}

.mlsys-Lab h2,
.mlsys-Lab h3,
.mlsys-Lab h4,
.mlsys-Lab p,
.mlsys-Lab ul {
  margin: 0;
  padding: 0;
}

.mlsys-Lab ul {
  list-style: none;
}

.mlsys-Lab-title {
  padding-top: 12px !important;
  font-size: var(--mlsys-text);
  font-weight: var(--mlsys-strong);
  line-height: 1.3;
}

.mlsys-Lab h3 {
  margin-bottom: 6px;
  color: var(--jp-ui-font-color1);
  font-size: var(--mlsys-note);
  font-weight: var(--mlsys-strong);
}

.mlsys-Lab h4 {
  font-size: var(--mlsys-note);
  font-weight: var(--mlsys-strong);
}

.mlsys-Lab-saved p {
  margin: 4px 0 0;
}

.mlsys-Lab-section {
  margin-top: 12px;
  padding-top: 10px;
  border-top: var(--jp-border-width) solid var(--jp-border-color2);
}

.mlsys-Lab button {
  font: inherit;
  color: inherit;
  cursor: pointer;
}

.mlsys-Lab button:focus-visible,
.mlsys-Lab summary:focus-visible,
.mlsys-Status button:focus-visible {
  outline: 2px solid var(--jp-brand-color1);
  outline-offset: 1px;
}

.mlsys-Lab-due p {
  margin: 2px 0;
}

.mlsys-Lab-due p.mlsys-Lab-problem {
  margin: 6px 0;
  padding: 6px 8px;
}

.mlsys-Lab-due[data-state='soon'] p:first-child,
.mlsys-Lab-due[data-state='grace'] p:first-child {
  font-weight: 600;
}

.mlsys-Lab-next {
  margin-top: 10px;
}

.mlsys-Lab-nextButton {
  display: flex;
  flex-direction: column;
  width: 100%;
  padding: 10px 12px;
  border: 1px solid var(--mlsys-primary);
  border-radius: var(--mlsys-radius);
  background: var(--jp-layout-color1);
  text-align: start;
}

.mlsys-Lab-nextButton:hover,
.mlsys-Lab-step:hover,
.mlsys-Lab-button:hover {
  background: var(--jp-layout-color2);
}

.mlsys-Lab-nextButton.mlsys-mod-primary {
  align-items: center;
  background: var(--mlsys-primary);
  color: #fff;
}

.mlsys-Lab-nextButton.mlsys-mod-primary:hover {
  background: var(--mlsys-primary-hover);
}

.mlsys-Lab-nextButton + .mlsys-Lab-aside {
  margin-top: 4px;
}

.mlsys-Lab-kicker {
  font-weight: 600;
}

.mlsys-Lab-act + .mlsys-Lab-act {
  margin-top: 10px;
}

.mlsys-Lab-actName {
  display: flex;
  justify-content: space-between;
  gap: 8px;
}

.mlsys-Lab-actName > span {
  white-space: nowrap;
}

.mlsys-Lab-bar {
  height: 4px;
  margin: 4px 0;
  border-radius: 2px;
  background: var(--jp-layout-color3);
  overflow: hidden;
}

.mlsys-Lab-bar > div {
  height: 100%;
  background: var(--jp-brand-color1);
}

/* The way: a line from step to step, and where one is. */

.mlsys-Lab-path > li {
  position: relative;
}

.mlsys-Lab-path > li:not(:last-child)::before {
  content: '';
  position: absolute;
  inset: 20px auto -8px 11px;
  width: 1px;
  background: var(--jp-border-color1);
}

.mlsys-Lab-deeper {
  padding-inline-start: 4px;
}

.mlsys-Lab-mark {
  position: relative;
  flex: none;
  width: 14px;
  text-align: center;
}

.mlsys-Lab-step[data-kind='between'] {
  color: var(--jp-ui-font-color2);
}

.mlsys-Lab-step[aria-current] {
  background: var(--jp-layout-color2);
  font-weight: var(--mlsys-strong);
}

.mlsys-Lab-step {
  display: flex;
  gap: 8px;
  width: 100%;
  padding: 4px;
  border: none;
  border-radius: var(--jp-border-radius);
  background: none;
  text-align: start;
}

.mlsys-Lab-link {
  padding: 0;
  border: none;
  background: none;
  text-align: start;
  text-decoration: underline;
  text-underline-offset: 2px;
}

.mlsys-Lab-button {
  padding: 4px 10px;
  border: 1px solid var(--jp-border-color1);
  border-radius: var(--jp-border-radius);
  background: var(--jp-layout-color1);
}

.mlsys-Lab-kept > button {
  margin: 8px 8px 0 0;
}

.mlsys-Lab-kept.mlsys-mod-due > div {
  padding: 6px 8px;
  border-inline-start: 3px solid var(--jp-warn-color1);
  background: var(--jp-layout-color2);
}

.mlsys-Lab-actions {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
}

.mlsys-Lab-sealed + .mlsys-Lab-sealed,
.mlsys-Lab details + details,
.mlsys-Lab-section p + p {
  margin-top: 6px;
}

.mlsys-Lab-results :is(p, button) + :is(p, ul),
.mlsys-Lab-results div + button {
  margin-top: 6px;
}

.mlsys-Lab summary {
  cursor: pointer;
}

.mlsys-Lab-aside {
  color: var(--jp-ui-font-color2);
}

.mlsys-Lab summary .mlsys-Lab-aside {
  margin-inline-start: 6px;
}

/* The label above its value: a panel is too narrow for two columns of words. */
.mlsys-Lab-design {
  margin: 4px 0;
}

.mlsys-Lab-design > div {
  padding: 4px 0;
  border-bottom: 1px solid var(--jp-border-color3);
}

.mlsys-Lab-design dt {
  color: var(--jp-ui-font-color2);
}

.mlsys-Lab-design dd {
  margin: 0;
}

.mlsys-Lab time {
  white-space: nowrap;
}

.mlsys-Lab-problem {
  padding: 6px 8px;
  border-inline-start: 3px solid var(--jp-error-color1);
  background: var(--jp-layout-color2);
}

.mlsys-Lab-version {
  padding: 6px 8px;
  border-inline-start: 3px solid var(--jp-brand-color1);
  background: var(--jp-layout-color2);
}

/* For screen readers: a sign has no words. */
.mlsys-Lab-unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

.mlsys-Status {
  display: flex;
  align-items: center;
}

.mlsys-Status button {
  height: 100%;
  padding: 0 6px;
  border: none;
  background: none;
  color: inherit;
  font: inherit;
  cursor: pointer;
}

.mlsys-Status button:hover {
  background: var(--jp-layout-color3);
}

.mlsys-Status .mlsys-mod-problem {
  text-decoration: underline wavy var(--jp-error-color1);
}

.mlsys-Lab-words {
  max-width: 560px;
  max-height: 50vh;
  overflow-y: auto;
}

.mlsys-Lab-words p {
  margin: 0 0 8px;
}

.mlsys-Lab-words ul {
  margin: 0 0 8px;
  padding-left: 20px;
}

.mlsys-Lab-words li {
  margin-bottom: 4px;
}

/* Asking for a second look. */

.mlsys-SecondLook label {
  display: block;
  margin-bottom: 8px;
}

.mlsys-SecondLook input,
.mlsys-SecondLook select,
.mlsys-SecondLook textarea {
  display: block;
  width: 100%;
  margin-top: 4px;
  box-sizing: border-box;
}

.mlsys-SecondLook p {
  white-space: pre-line;
}

/* The banner above a lab, and the same in the panel. */

.mlsys-Banner {
  overflow: hidden;
  background: var(--jp-layout-color2);
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size2);
}

.mlsys-Banner-row {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px 12px;
  padding: 8px 16px;
  border-bottom: var(--jp-border-width) solid var(--jp-border-color1);
}

.mlsys-Banner-row:empty {
  display: none;
}

.mlsys-Lab-start {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px 12px;
  margin-top: 10px;
}

.mlsys-Banner p,
.mlsys-Lab-start p {
  flex: 1 1 12em;
  margin: 0;
}

.mlsys-Banner progress,
.mlsys-Lab-start progress {
  width: 10em;
  accent-color: var(--jp-brand-color1);
}

.mlsys-Banner button,
.mlsys-Beside select {
  font: inherit;
  color: inherit;
  cursor: pointer;
}

.mlsys-Banner .mlsys-Start-button,
.mlsys-Lab .mlsys-Start-button {
  padding: 6px 20px;
  border: 2px solid var(--jp-brand-color1);
  border-radius: var(--jp-border-radius);
  background: var(--jp-layout-color1);
  font-weight: 600;
}

/* Until it is pressed, nothing else on the page can be done. */
.mlsys-Banner .mlsys-Start-button {
  border-color: var(--mlsys-primary);
  background: var(--mlsys-primary);
  color: #fff;
}

.mlsys-Banner .mlsys-Start-button:hover {
  background: var(--mlsys-primary-hover);
}

.mlsys-Lab .mlsys-Start-button:hover {
  background: var(--jp-layout-color3);
}

.mlsys-Banner button:focus-visible,
.mlsys-Beside select:focus-visible {
  outline: 2px solid var(--jp-brand-color1);
  outline-offset: 1px;
}

/* The link below a question to its instrument. */
.mlsys-QuestionBeside.mlsys-lab-beside {
  margin: 4px 0 8px calc(var(--jp-cell-prompt-width) + var(--jp-cell-collapser-width));
}

/* A question that is closed or answered, or not there yet, needs neither an instrument nor room to compute. */
.mlsys-mod-fresh .mlsys-QuestionBeside,
.mlsys-mod-fresh .mlsys-mod-scratch.mlsys-mod-folded,
.jp-Cell:has(.mlsys-lab-frame:is([data-state='closed'], [data-state='short'])) > .mlsys-QuestionBeside,
.jp-Cell:has(.mlsys-lab-frame:is([data-state='closed'], [data-state='short']))
  + .mlsys-mod-scratch.mlsys-mod-folded {
  display: none;
}

.mlsys-QuestionBeside button {
  border: 0;
  padding: 2px 0;
  background: none;
  font: inherit;
  color: var(--mlsys-link);
  text-decoration: underline;
  cursor: pointer;
}

/* What a kernel has left behind: dimmed, and without effect. */

.mlsys-mod-stale .jp-OutputArea-output,
.mlsys-Beside-copy.mlsys-mod-stale .jp-OutputArea-output {
  opacity: 0.45;
  filter: grayscale(1);
  pointer-events: none;
}

.mlsys-mod-stale .jp-OutputArea::before,
.mlsys-Beside-copy.mlsys-mod-stale::before {
  content: var(--mlsys-stale, 'Not running. Press Resume at the top of the lab.');
  display: block;
  padding: 4px 8px 4px calc(var(--jp-cell-prompt-width) + 8px);
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size1);
}

.mlsys-Beside-copy.mlsys-mod-stale::before {
  padding-inline-start: 8px;
}

/* ipywidgets marks each part of a widget with a broken chain, which pushes the others aside. */
.mlsys-mod-stale .jupyter-widgets-disconnected::before {
  display: none;
}

.mlsys-mod-fresh {
  --mlsys-stale: 'As saved. Press Start at the top of the lab.';
}

/* A card is never taller than its place, but rounding may make it so by a pixel: no scroll bar for that. */
.mlsys-LabNotebook .jp-OutputArea-output:has(.mlsys-lab) {
  overflow-y: hidden;
}

/* A widget that is not drawn: its place says "Loading widget…", in text and for ever. */
.mlsys-LabNotebook .jp-OutputArea-output.lm-Panel:not(:has(*)) {
  display: none;
}

.mlsys-Saved {
  flex: 1 1 auto;
  min-width: 0;
  overflow: auto;
}

/* Reading view: no code of the lab's own cells, folded or not. */

.mlsys-mod-reading .mlsys-mod-locked > .jp-Cell-inputWrapper {
  display: none;
}

.mlsys-mod-reading .mlsys-mod-graded {
  display: none;
}

/* A number for which there is no code to be seen, and a bar that would put a card into a scroll box. */
.mlsys-mod-reading .mlsys-mod-locked :is(.jp-OutputPrompt, .jp-OutputArea-promptOverlay) {
  visibility: hidden;
}

/* A page to read has no buttons that move its paragraphs, no frame around them, and no room for more. */
.mlsys-mod-reading :is(.jp-MarkdownCell, .mlsys-mod-locked) .jp-cell-toolbar,
.mlsys-mod-reading .jp-Notebook-footer {
  display: none !important;
}

.mlsys-mod-reading .jp-MarkdownOutput {
  border-color: transparent !important;
}

.mlsys-mod-reading .jp-InternalAnchorLink {
  display: none;
}

/* What a cell of the lab says in words is read like its text. */
.mlsys-mod-reading .mlsys-mod-locked .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stdout'] {
  padding: 0;
}

.mlsys-mod-reading .mlsys-mod-locked .jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stdout'] pre {
  max-width: var(--mlsys-column);
  padding: 0;
  font: var(--mlsys-text) / var(--mlsys-line-height) var(--mlsys-font);
  word-break: normal;
  overflow-wrap: anywhere;
}

/* Where the keyboard is, the bar beside the cell says. */
.mlsys-mod-reading :is(.jp-MarkdownCell, .mlsys-mod-locked):focus {
  outline: none !important;
}

.mlsys-mod-reading .mlsys-mod-locked:not(:has(.jp-OutputArea-child)) {
  min-height: 0;
  padding-block: 0;
}

/* Text of a lab: a column that is read, in the sizes of the cards. */

.mlsys-LabNotebook .jp-MarkdownOutput {
  max-width: var(--mlsys-column);
  padding-inline: 0;
  font-size: var(--mlsys-text);
  line-height: var(--mlsys-line-height);
}

.mlsys-LabNotebook .jp-MarkdownOutput :is(h1, h2, h3, h4) {
  margin-block: 0.8em 0.4em;
  font-size: var(--mlsys-lead);
  font-weight: var(--mlsys-strong);
  line-height: 1.3;
  text-wrap: balance;
}

/* A deeper section is quieter than the core: a line that opens with a click. */

.mlsys-LabNotebook .mlsys-mod-deeper .jp-MarkdownOutput :is(h2, h3) {
  font-size: var(--mlsys-text);
  font-weight: var(--mlsys-strong);
}

.mlsys-LabNotebook .mlsys-mod-deeper .jp-MarkdownOutput em {
  color: var(--mlsys-quiet);
  font-size: var(--mlsys-note);
  font-style: normal;
}

.mlsys-LabNotebook .mlsys-mod-deeper.jp-MarkdownHeadingCollapsed .jp-MarkdownOutput {
  cursor: pointer;
}

/* How many cells are hidden tells a student nothing. */
.mlsys-LabNotebook .mlsys-mod-deeper .jp-showHiddenCellsButton {
  font-size: 0;
}

.mlsys-LabNotebook .mlsys-mod-deeper .jp-showHiddenCellsButton::after {
  content: 'Open';
  font-size: var(--mlsys-note);
}

.mlsys-LabNotebook .jp-MarkdownOutput :is(h1, h2) {
  font-size: var(--mlsys-title);
}

.mlsys-LabNotebook .jp-MarkdownOutput h4 {
  font-size: var(--mlsys-text);
}

.mlsys-LabNotebook .jp-MarkdownOutput > :is(h1, h2, h3, h4):first-child {
  margin-top: 0.4em;
}

/* What follows a card begins as far below it as a paragraph does. */
.mlsys-LabNotebook .jp-CodeCell + .jp-MarkdownCell .jp-MarkdownOutput {
  padding-top: 0.6em;
}

/* An essay as it was typed, in the type of the page. */
.mlsys-LabNotebook .mlsys-mod-essay .jp-MarkdownOutput pre {
  margin: 0;
  padding: 0 20px;
  border-inline-start: 3px solid var(--mlsys-rule);
  background: none;
  font: inherit;
  white-space: pre-wrap;
}

.mlsys-LabNotebook .mlsys-mod-essay .jp-MarkdownOutput pre code {
  padding: 0;
  background: none;
  font: inherit;
  white-space: inherit;
}

/* JupyterLab folds what does not fit into a toolbar only later: until then it lay over Start. */
.mlsys-LabNotebook .jp-NotebookPanel-toolbar {
  overflow: hidden;
}

/* A scratch cell is a line until somebody wants it. */

.mlsys-Scratch-line {
  display: block;
  margin-inline-start: calc(var(--jp-cell-prompt-width) + var(--jp-cell-collapser-width));
  padding: 2px 0;
  border: none;
  background: none;
  color: var(--jp-content-font-color2);
  font: var(--mlsys-note) var(--mlsys-font);
  cursor: pointer;
}

.mlsys-Scratch-line::before {
  content: '▾ ';
}

/* JupyterLab puts the prompt above a cell where there is no room beside it. */
@media (max-width: 760px) {
  .mlsys-mod-reading :is(.jp-MarkdownCell, .mlsys-mod-locked) :is(.jp-InputPrompt, .jp-OutputPrompt) {
    display: none;
  }

  .mlsys-Scratch-line {
    margin-inline-start: calc(var(--jp-cell-collapser-width) + var(--jp-cell-padding));
  }

  /* The bar beside a cell stands clear of its text. */
  .mlsys-LabNotebook .jp-Collapser-child {
    width: 4px;
  }
}

.mlsys-mod-folded > .mlsys-Scratch-line::before {
  content: '▸ ';
}

.mlsys-Scratch-line:hover {
  text-decoration: underline;
}

.mlsys-Scratch-line:focus-visible,
.mlsys-Presenting-end:focus-visible {
  outline: 2px solid var(--mlsys-focus);
  outline-offset: 2px;
}

.mlsys-mod-folded > :is(.jp-Cell-inputWrapper, .jp-Cell-outputWrapper) {
  display: none;
}

/* A page with room for one column: the lab, and one bar above it. The layout asks for a height and a width,
   so what is in the way gets none; it takes a zero for no limit at all. */

.mlsys-mod-narrow :is(#jp-header-panel, #jp-top-panel, #jp-menu-panel, #jp-bottom-panel),
.mlsys-mod-narrow :is(.lm-DockPanel-tabBar, .mlsys-LabNotebook > .jp-NotebookPanel-toolbar) {
  min-height: 0 !important;
  max-height: 0.1px !important;
  border: 0;
  overflow: hidden;
  visibility: hidden;
}

.mlsys-mod-narrow :is(.jp-SideBar, #jp-left-stack, #jp-right-stack) {
  min-width: 0 !important;
  max-width: 0.1px !important;
  border: 0;
  overflow: hidden;
  visibility: hidden;
}

.mlsys-mod-narrow #jp-main-dock-panel {
  padding: 0 !important;
}

.mlsys-NarrowBar {
  display: flex;
  min-height: 44px;
  max-height: 44px;
  border-bottom: 1px solid var(--jp-border-color1);
  background: var(--jp-layout-color1);
}

.mlsys-NarrowBar button,
.mlsys-Sheet > button {
  min-height: 43px;
  padding: 0 16px;
  border: 0;
  background: none;
  color: var(--jp-ui-font-color1);
  font: var(--mlsys-note) var(--mlsys-font);
  white-space: nowrap;
  cursor: pointer;
}

.mlsys-NarrowBar button:first-child:not(:last-child) {
  flex: 1;
  overflow: hidden;
  text-align: start;
  text-overflow: ellipsis;
}

.mlsys-NarrowBar button:last-child {
  margin-inline-start: auto;
}

.mlsys-Sheet {
  position: fixed;
  inset: 0;
  z-index: 100;
  display: flex;
  flex-direction: column;
  background: var(--jp-layout-color1);
}

.mlsys-Sheet > button {
  border-bottom: 1px solid var(--jp-border-color1);
  font-weight: var(--mlsys-strong);
  text-align: start;
}

.mlsys-Sheet > .mlsys-Lab {
  flex: 1;
  min-height: 0;
}

/* A thumb needs more room than a pointer. */
.mlsys-mod-narrow :is(.mlsys-Sheet, .mlsys-Banner, .mlsys-lab-buttons, .jp-Dialog) button {
  min-height: 44px;
}

.mlsys-Sheet summary {
  padding-block: 10px;
}

:is(.mlsys-NarrowBar, .mlsys-Sheet) button:focus-visible {
  outline: 2px solid var(--mlsys-focus);
  outline-offset: -2px;
}

/* Presenting: larger sizes, and nothing around the lab. */

.mlsys-mod-presenting {
  --mlsys-note: 20px;
  --mlsys-text: 26px;
  --mlsys-lead: 32px;
  --mlsys-title: 44px;
  --mlsys-number: 64px;
  --mlsys-column: 1100px;
  --mlsys-wide: 1800px;
  --mlsys-plot-growth: 2.4;
}

.mlsys-mod-presenting :is(.mlsys-Scratch-line, .jp-InputPrompt, .jp-OutputPrompt, .jp-Collapser) {
  visibility: hidden;
}

.mlsys-mod-presenting .jp-Cell .mlsys-plot text {
  font-size: 16px !important;
}

/* As large as the room beside an axis allows. */
.mlsys-mod-presenting .jp-Cell .mlsys-plot .tick text {
  font-size: 14px !important;
}

/* Out of the way, in the corner where pages end. */
.mlsys-Presenting-end {
  position: absolute;
  inset: auto 24px 8px auto;
  z-index: 10;
  padding: 2px 10px;
  opacity: 0.5;
  border: 1px solid var(--jp-border-color1);
  border-radius: var(--mlsys-radius);
  background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1);
  font: 13px var(--mlsys-font);
  cursor: pointer;
}

.mlsys-Presenting-end:is(:hover, :focus-visible) {
  opacity: 1;
}

/* The instrument beside the lab. */

.mlsys-Beside {
  min-width: 300px;
  padding: 8px;
  overflow: auto;
  background: var(--jp-layout-color0);
  color: var(--jp-content-font-color1);
}

.mlsys-Beside-chooser select {
  max-width: 100%;
  padding: 2px 4px;
  border: 1px solid var(--jp-border-color1);
  background: var(--jp-layout-color1);
}

/* The panel may be dragged narrower than JupyterLab lets a side bar be. */

#jp-right-stack > .mlsys-Lab,
.jp-SideArea[data-side='right']:has(.mlsys-Lab:not(.lm-mod-hidden)) {
  min-width: 200px;
}

.mlsys-Missing {
  max-width: 40em;
}

.mlsys-Missing p {
  margin: 0 0 8px;
}
`,""]),o.d(s,{},{A:i})},32(e){e.exports=function(e){var s=[];return s.toString=function(){return this.map(function(s){var o="",t=void 0!==s[5];return s[4]&&(o+="@supports (".concat(s[4],") {")),s[2]&&(o+="@media ".concat(s[2]," {")),t&&(o+="@layer".concat(s[5].length>0?" ".concat(s[5]):""," {")),o+=e(s),t&&(o+="}"),s[2]&&(o+="}"),s[4]&&(o+="}"),o}).join("")},s.i=function(e,o,t,a,r){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(t)for(var l=0;l<this.length;l++){var i=this[l][0];null!=i&&(n[i]=!0)}for(var d=0;d<e.length;d++){var p=[].concat(e[d]);t&&n[p[0]]||(void 0!==r&&(void 0===p[5]||(p[1]="@layer".concat(p[5].length>0?" ".concat(p[5]):""," {").concat(p[1],"}")),p[5]=r),o&&(p[2]&&(p[1]="@media ".concat(p[2]," {").concat(p[1],"}")),p[2]=o),a&&(p[4]?(p[1]="@supports (".concat(p[4],") {").concat(p[1],"}"),p[4]=a):p[4]="".concat(a)),s.push(p))}},s}},31(e){e.exports=function(e){return e[1]}},24(e){var s=[];function o(e){for(var o=-1,t=0;t<s.length;t++)if(s[t].identifier===e){o=t;break}return o}function t(e,t){for(var a={},r=[],n=0;n<e.length;n++){var l=e[n],i=t.base?l[0]+t.base:l[0],d=a[i]||0,p="".concat(i," ").concat(d);a[i]=d+1;var m=o(p),y={css:l[1],media:l[2],sourceMap:l[3],supports:l[4],layer:l[5]};if(-1!==m)s[m].references++,s[m].updater(y);else{var c=function(e,s){var o=s.domAPI(s);return o.update(e),function(s){s?(s.css!==e.css||s.media!==e.media||s.sourceMap!==e.sourceMap||s.supports!==e.supports||s.layer!==e.layer)&&o.update(e=s):o.remove()}}(y,t);t.byIndex=n,s.splice(n,0,{identifier:p,updater:c,references:1})}r.push(p)}return r}e.exports=function(e,a){var r=t(e=e||[],a=a||{});return function(e){e=e||[];for(var n=0;n<r.length;n++){var l=o(r[n]);s[l].references--}for(var i=t(e,a),d=0;d<r.length;d++){var p=o(r[d]);0===s[p].references&&(s[p].updater(),s.splice(p,1))}r=i}}},26(e){var s={};e.exports=function(e,o){var t=function(e){if(void 0===s[e]){var o=document.querySelector(e);if(window.HTMLIFrameElement&&o instanceof window.HTMLIFrameElement)try{o=o.contentDocument.head}catch(e){o=null}s[e]=o}return s[e]}(e);if(!t)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");t.appendChild(o)}},28(e){e.exports=function(e){var s=document.createElement("style");return e.setAttributes(s,e.attributes),e.insert(s,e.options),s}},27(e,s,o){e.exports=function(e){var s=o.nc;s&&e.setAttribute("nonce",s)}},25(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var s=e.insertStyleElement(e);return{update:function(o){var t,a,r;t="",o.supports&&(t+="@supports (".concat(o.supports,") {")),o.media&&(t+="@media ".concat(o.media," {")),(a=void 0!==o.layer)&&(t+="@layer".concat(o.layer.length>0?" ".concat(o.layer):""," {")),t+=o.css,a&&(t+="}"),o.media&&(t+="}"),o.supports&&(t+="}"),(r=o.sourceMap)&&"u">typeof btoa&&(t+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(r))))," */")),e.styleTagTransform(t,s,e.options)},remove:function(){var e;null===(e=s).parentNode||e.parentNode.removeChild(e)}}}},29(e){e.exports=function(e,s){if(s.styleSheet)s.styleSheet.cssText=e;else{for(;s.firstChild;)s.removeChild(s.firstChild);s.appendChild(document.createTextNode(e))}}},23(e,s,o){var t=o(24),a=o.n(t),r=o(25),n=o.n(r),l=o(26),i=o.n(l),d=o(27),p=o.n(d),m=o(28),y=o.n(m),c=o(29),u=o.n(c),b=o(30),h={};h.styleTagTransform=u(),h.setAttributes=p(),h.insert=i().bind(null,"head"),h.domAPI=n(),h.insertStyleElement=y(),a()(b.A,h),b.A&&b.A.locals&&b.A.locals}}]);