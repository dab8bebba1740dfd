"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[1],{22(e,t,r){var a=r(23),o=r.n(a),s=r(24),n=(r.n(s))()(o());n.push([e.id,`/* Colours and sizes are JupyterLab's own variables, so every theme fits. */

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
  table-layout: fixed;
}

.mlsys-Lab-design th,
.mlsys-Lab-design td {
  padding: 2px 4px;
  border-bottom: 1px solid var(--jp-border-color3);
  overflow-wrap: anywhere;
  text-align: start;
  vertical-align: top;
}

.mlsys-Lab-design th {
  width: 60%;
  font-weight: normal;
}

.mlsys-Lab time {
  white-space: nowrap;
}

.mlsys-Lab-id {
  font-family: var(--jp-code-font-family);
  overflow-wrap: anywhere;
}

.mlsys-Lab-problem {
  padding: 6px 8px;
  border-inline-start: 3px solid var(--jp-error-color1);
  background: var(--jp-layout-color2);
}

/* For those who hear the panel: a sign has no words. */
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
`,""]),r.d(t,{},{A:n})},24(e){e.exports=function(e){var t=[];return t.toString=function(){return this.map(function(t){var r="",a=void 0!==t[5];return t[4]&&(r+="@supports (".concat(t[4],") {")),t[2]&&(r+="@media ".concat(t[2]," {")),a&&(r+="@layer".concat(t[5].length>0?" ".concat(t[5]):""," {")),r+=e(t),a&&(r+="}"),t[2]&&(r+="}"),t[4]&&(r+="}"),r}).join("")},t.i=function(e,r,a,o,s){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(a)for(var i=0;i<this.length;i++){var l=this[i][0];null!=l&&(n[l]=!0)}for(var p=0;p<e.length;p++){var d=[].concat(e[p]);a&&n[d[0]]||(void 0!==s&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=s),r&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=r),o&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=o):d[4]="".concat(o)),t.push(d))}},t}},23(e){e.exports=function(e){return e[1]}},16(e){var t=[];function r(e){for(var r=-1,a=0;a<t.length;a++)if(t[a].identifier===e){r=a;break}return r}function a(e,a){for(var o={},s=[],n=0;n<e.length;n++){var i=e[n],l=a.base?i[0]+a.base:i[0],p=o[l]||0,d="".concat(l," ").concat(p);o[l]=p+1;var c=r(d),u={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==c)t[c].references++,t[c].updater(u);else{var m=function(e,t){var r=t.domAPI(t);return r.update(e),function(t){t?(t.css!==e.css||t.media!==e.media||t.sourceMap!==e.sourceMap||t.supports!==e.supports||t.layer!==e.layer)&&r.update(e=t):r.remove()}}(u,a);a.byIndex=n,t.splice(n,0,{identifier:d,updater:m,references:1})}s.push(d)}return s}e.exports=function(e,o){var s=a(e=e||[],o=o||{});return function(e){e=e||[];for(var n=0;n<s.length;n++){var i=r(s[n]);t[i].references--}for(var l=a(e,o),p=0;p<s.length;p++){var d=r(s[p]);0===t[d].references&&(t[d].updater(),t.splice(d,1))}s=l}}},18(e){var t={};e.exports=function(e,r){var a=function(e){if(void 0===t[e]){var r=document.querySelector(e);if(window.HTMLIFrameElement&&r instanceof window.HTMLIFrameElement)try{r=r.contentDocument.head}catch(e){r=null}t[e]=r}return t[e]}(e);if(!a)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");a.appendChild(r)}},20(e){e.exports=function(e){var t=document.createElement("style");return e.setAttributes(t,e.attributes),e.insert(t,e.options),t}},19(e,t,r){e.exports=function(e){var t=r.nc;t&&e.setAttribute("nonce",t)}},17(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var t=e.insertStyleElement(e);return{update:function(r){var a,o,s;a="",r.supports&&(a+="@supports (".concat(r.supports,") {")),r.media&&(a+="@media ".concat(r.media," {")),(o=void 0!==r.layer)&&(a+="@layer".concat(r.layer.length>0?" ".concat(r.layer):""," {")),a+=r.css,o&&(a+="}"),r.media&&(a+="}"),r.supports&&(a+="}"),(s=r.sourceMap)&&"u">typeof btoa&&(a+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(s))))," */")),e.styleTagTransform(a,t,e.options)},remove:function(){var e;null===(e=t).parentNode||e.parentNode.removeChild(e)}}}},21(e){e.exports=function(e,t){if(t.styleSheet)t.styleSheet.cssText=e;else{for(;t.firstChild;)t.removeChild(t.firstChild);t.appendChild(document.createTextNode(e))}}},15(e,t,r){var a=r(16),o=r.n(a),s=r(17),n=r.n(s),i=r(18),l=r.n(i),p=r(19),d=r.n(p),c=r(20),u=r.n(c),m=r(21),b=r.n(m),y=r(22),f={};f.styleTagTransform=b(),f.setAttributes=d(),f.insert=l().bind(null,"head"),f.domAPI=n(),f.insertStyleElement=u(),o()(y.A,f),y.A&&y.A.locals&&y.A.locals}}]);