"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[1],{25(e,o,t){var r=t(26),s=t.n(r),a=t(27),n=(t.n(a))()(s());n.push([e.id,`/* Colors and sizes are JupyterLab's own variables, so every theme works. */

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
`,""]),t.d(o,{},{A:n})},27(e){e.exports=function(e){var o=[];return o.toString=function(){return this.map(function(o){var t="",r=void 0!==o[5];return o[4]&&(t+="@supports (".concat(o[4],") {")),o[2]&&(t+="@media ".concat(o[2]," {")),r&&(t+="@layer".concat(o[5].length>0?" ".concat(o[5]):""," {")),t+=e(o),r&&(t+="}"),o[2]&&(t+="}"),o[4]&&(t+="}"),t}).join("")},o.i=function(e,t,r,s,a){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(r)for(var i=0;i<this.length;i++){var l=this[i][0];null!=l&&(n[l]=!0)}for(var p=0;p<e.length;p++){var d=[].concat(e[p]);r&&n[d[0]]||(void 0!==a&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=a),t&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=t),s&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=s):d[4]="".concat(s)),o.push(d))}},o}},26(e){e.exports=function(e){return e[1]}},19(e){var o=[];function t(e){for(var t=-1,r=0;r<o.length;r++)if(o[r].identifier===e){t=r;break}return t}function r(e,r){for(var s={},a=[],n=0;n<e.length;n++){var i=e[n],l=r.base?i[0]+r.base:i[0],p=s[l]||0,d="".concat(l," ").concat(p);s[l]=p+1;var c=t(d),m={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==c)o[c].references++,o[c].updater(m);else{var u=function(e,o){var t=o.domAPI(o);return t.update(e),function(o){o?(o.css!==e.css||o.media!==e.media||o.sourceMap!==e.sourceMap||o.supports!==e.supports||o.layer!==e.layer)&&t.update(e=o):t.remove()}}(m,r);r.byIndex=n,o.splice(n,0,{identifier:d,updater:u,references:1})}a.push(d)}return a}e.exports=function(e,s){var a=r(e=e||[],s=s||{});return function(e){e=e||[];for(var n=0;n<a.length;n++){var i=t(a[n]);o[i].references--}for(var l=r(e,s),p=0;p<a.length;p++){var d=t(a[p]);0===o[d].references&&(o[d].updater(),o.splice(d,1))}a=l}}},21(e){var o={};e.exports=function(e,t){var r=function(e){if(void 0===o[e]){var t=document.querySelector(e);if(window.HTMLIFrameElement&&t instanceof window.HTMLIFrameElement)try{t=t.contentDocument.head}catch(e){t=null}o[e]=t}return o[e]}(e);if(!r)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");r.appendChild(t)}},23(e){e.exports=function(e){var o=document.createElement("style");return e.setAttributes(o,e.attributes),e.insert(o,e.options),o}},22(e,o,t){e.exports=function(e){var o=t.nc;o&&e.setAttribute("nonce",o)}},20(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var o=e.insertStyleElement(e);return{update:function(t){var r,s,a;r="",t.supports&&(r+="@supports (".concat(t.supports,") {")),t.media&&(r+="@media ".concat(t.media," {")),(s=void 0!==t.layer)&&(r+="@layer".concat(t.layer.length>0?" ".concat(t.layer):""," {")),r+=t.css,s&&(r+="}"),t.media&&(r+="}"),t.supports&&(r+="}"),(a=t.sourceMap)&&"u">typeof btoa&&(r+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),e.styleTagTransform(r,o,e.options)},remove:function(){var e;null===(e=o).parentNode||e.parentNode.removeChild(e)}}}},24(e){e.exports=function(e,o){if(o.styleSheet)o.styleSheet.cssText=e;else{for(;o.firstChild;)o.removeChild(o.firstChild);o.appendChild(document.createTextNode(e))}}},18(e,o,t){var r=t(19),s=t.n(r),a=t(20),n=t.n(a),i=t(21),l=t.n(i),p=t(22),d=t.n(p),c=t(23),m=t.n(c),u=t(24),b=t.n(u),y=t(25),h={};h.styleTagTransform=b(),h.setAttributes=d(),h.insert=l().bind(null,"head"),h.domAPI=n(),h.insertStyleElement=m(),s()(y.A,h),y.A&&y.A.locals&&y.A.locals}}]);