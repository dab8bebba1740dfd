"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[1],{27(e,o,s){var a=s(28),r=s.n(a),t=s(29),n=(s.n(t))()(r());n.push([e.id,`/* Colors and sizes are JupyterLab's own variables, so every theme works. */

.mlsys-Lab {
  padding: 0 12px 12px;
  overflow-y: auto;
  background: var(--jp-layout-color1);
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size1);
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
  font-size: var(--jp-ui-font-size2);
  font-weight: 600;
}

.mlsys-Lab h3 {
  margin-bottom: 6px;
  color: var(--jp-ui-font-color1);
  font-size: var(--jp-ui-font-size1);
  font-weight: 600;
}

.mlsys-Lab h4 {
  font-size: var(--jp-ui-font-size1);
  font-weight: normal;
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
  padding: 8px 10px;
  border: 1px solid var(--jp-brand-color1);
  border-radius: var(--jp-border-radius);
  background: var(--jp-layout-color1);
  text-align: start;
}

.mlsys-Lab-nextButton:hover,
.mlsys-Lab-step:hover,
.mlsys-Lab-button:hover {
  background: var(--jp-layout-color2);
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

.mlsys-Lab-step {
  display: flex;
  gap: 6px;
  width: 100%;
  padding: 3px 4px;
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

.mlsys-Lab summary {
  cursor: pointer;
}

.mlsys-Lab-aside {
  color: var(--jp-ui-font-color2);
}

.mlsys-Lab summary .mlsys-Lab-aside {
  margin-inline-start: 6px;
}

.mlsys-Lab-design {
  width: 100%;
  margin: 4px 0;
  border-collapse: collapse;
}

.mlsys-Lab-design th,
.mlsys-Lab-design td {
  padding: 2px 4px;
  border-bottom: 1px solid var(--jp-border-color3);
  text-align: start;
  vertical-align: top;
}

.mlsys-Lab-design th {
  width: 60%;
  font-weight: normal;
  overflow-wrap: anywhere;
}

/* A word of a value stays whole as long as the panel is wider than it. */
.mlsys-Lab-design td {
  overflow-wrap: break-word;
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

.mlsys-Start-button:hover {
  background: var(--jp-layout-color3) !important;
}

.mlsys-Banner button:focus-visible,
.mlsys-Beside select:focus-visible {
  outline: 2px solid var(--jp-brand-color1);
  outline-offset: 1px;
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

/* A number for which there is no code to be seen. */
.mlsys-mod-reading .mlsys-mod-locked .jp-OutputPrompt {
  visibility: hidden;
}

.mlsys-mod-reading .mlsys-mod-locked:not(:has(.jp-OutputArea-child)) {
  min-height: 0;
  padding-block: 0;
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
`,""]),s.d(o,{},{A:n})},29(e){e.exports=function(e){var o=[];return o.toString=function(){return this.map(function(o){var s="",a=void 0!==o[5];return o[4]&&(s+="@supports (".concat(o[4],") {")),o[2]&&(s+="@media ".concat(o[2]," {")),a&&(s+="@layer".concat(o[5].length>0?" ".concat(o[5]):""," {")),s+=e(o),a&&(s+="}"),o[2]&&(s+="}"),o[4]&&(s+="}"),s}).join("")},o.i=function(e,s,a,r,t){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(a)for(var i=0;i<this.length;i++){var l=this[i][0];null!=l&&(n[l]=!0)}for(var p=0;p<e.length;p++){var d=[].concat(e[p]);a&&n[d[0]]||(void 0!==t&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=t),s&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=s),r&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=r):d[4]="".concat(r)),o.push(d))}},o}},28(e){e.exports=function(e){return e[1]}},21(e){var o=[];function s(e){for(var s=-1,a=0;a<o.length;a++)if(o[a].identifier===e){s=a;break}return s}function a(e,a){for(var r={},t=[],n=0;n<e.length;n++){var i=e[n],l=a.base?i[0]+a.base:i[0],p=r[l]||0,d="".concat(l," ").concat(p);r[l]=p+1;var c=s(d),m={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==c)o[c].references++,o[c].updater(m);else{var u=function(e,o){var s=o.domAPI(o);return s.update(e),function(o){o?(o.css!==e.css||o.media!==e.media||o.sourceMap!==e.sourceMap||o.supports!==e.supports||o.layer!==e.layer)&&s.update(e=o):s.remove()}}(m,a);a.byIndex=n,o.splice(n,0,{identifier:d,updater:u,references:1})}t.push(d)}return t}e.exports=function(e,r){var t=a(e=e||[],r=r||{});return function(e){e=e||[];for(var n=0;n<t.length;n++){var i=s(t[n]);o[i].references--}for(var l=a(e,r),p=0;p<t.length;p++){var d=s(t[p]);0===o[d].references&&(o[d].updater(),o.splice(d,1))}t=l}}},23(e){var o={};e.exports=function(e,s){var a=function(e){if(void 0===o[e]){var s=document.querySelector(e);if(window.HTMLIFrameElement&&s instanceof window.HTMLIFrameElement)try{s=s.contentDocument.head}catch(e){s=null}o[e]=s}return o[e]}(e);if(!a)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");a.appendChild(s)}},25(e){e.exports=function(e){var o=document.createElement("style");return e.setAttributes(o,e.attributes),e.insert(o,e.options),o}},24(e,o,s){e.exports=function(e){var o=s.nc;o&&e.setAttribute("nonce",o)}},22(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var o=e.insertStyleElement(e);return{update:function(s){var a,r,t;a="",s.supports&&(a+="@supports (".concat(s.supports,") {")),s.media&&(a+="@media ".concat(s.media," {")),(r=void 0!==s.layer)&&(a+="@layer".concat(s.layer.length>0?" ".concat(s.layer):""," {")),a+=s.css,r&&(a+="}"),s.media&&(a+="}"),s.supports&&(a+="}"),(t=s.sourceMap)&&"u">typeof btoa&&(a+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(t))))," */")),e.styleTagTransform(a,o,e.options)},remove:function(){var e;null===(e=o).parentNode||e.parentNode.removeChild(e)}}}},26(e){e.exports=function(e,o){if(o.styleSheet)o.styleSheet.cssText=e;else{for(;o.firstChild;)o.removeChild(o.firstChild);o.appendChild(document.createTextNode(e))}}},20(e,o,s){var a=s(21),r=s.n(a),t=s(22),n=s.n(t),i=s(23),l=s.n(i),p=s(24),d=s.n(p),c=s(25),m=s.n(c),u=s(26),b=s.n(u),y=s(27),h={};h.styleTagTransform=b(),h.setAttributes=d(),h.insert=l().bind(null,"head"),h.domAPI=n(),h.insertStyleElement=m(),r()(y.A,h),y.A&&y.A.locals&&y.A.locals}}]);