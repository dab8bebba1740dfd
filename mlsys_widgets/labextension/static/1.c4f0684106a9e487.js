"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[1],{22(e,r,t){var a=t(23),o=t.n(a),s=t(24),n=(t.n(s))()(o());n.push([e.id,`/* Colors and sizes are JupyterLab's own variables, so every theme works. */

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
`,""]),t.d(r,{},{A:n})},24(e){e.exports=function(e){var r=[];return r.toString=function(){return this.map(function(r){var t="",a=void 0!==r[5];return r[4]&&(t+="@supports (".concat(r[4],") {")),r[2]&&(t+="@media ".concat(r[2]," {")),a&&(t+="@layer".concat(r[5].length>0?" ".concat(r[5]):""," {")),t+=e(r),a&&(t+="}"),r[2]&&(t+="}"),r[4]&&(t+="}"),t}).join("")},r.i=function(e,t,a,o,s){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(a)for(var i=0;i<this.length;i++){var l=this[i][0];null!=l&&(n[l]=!0)}for(var p=0;p<e.length;p++){var d=[].concat(e[p]);a&&n[d[0]]||(void 0!==s&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=s),t&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=t),o&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=o):d[4]="".concat(o)),r.push(d))}},r}},23(e){e.exports=function(e){return e[1]}},16(e){var r=[];function t(e){for(var t=-1,a=0;a<r.length;a++)if(r[a].identifier===e){t=a;break}return t}function a(e,a){for(var o={},s=[],n=0;n<e.length;n++){var i=e[n],l=a.base?i[0]+a.base:i[0],p=o[l]||0,d="".concat(l," ").concat(p);o[l]=p+1;var c=t(d),u={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==c)r[c].references++,r[c].updater(u);else{var m=function(e,r){var t=r.domAPI(r);return t.update(e),function(r){r?(r.css!==e.css||r.media!==e.media||r.sourceMap!==e.sourceMap||r.supports!==e.supports||r.layer!==e.layer)&&t.update(e=r):t.remove()}}(u,a);a.byIndex=n,r.splice(n,0,{identifier:d,updater:m,references:1})}s.push(d)}return s}e.exports=function(e,o){var s=a(e=e||[],o=o||{});return function(e){e=e||[];for(var n=0;n<s.length;n++){var i=t(s[n]);r[i].references--}for(var l=a(e,o),p=0;p<s.length;p++){var d=t(s[p]);0===r[d].references&&(r[d].updater(),r.splice(d,1))}s=l}}},18(e){var r={};e.exports=function(e,t){var a=function(e){if(void 0===r[e]){var t=document.querySelector(e);if(window.HTMLIFrameElement&&t instanceof window.HTMLIFrameElement)try{t=t.contentDocument.head}catch(e){t=null}r[e]=t}return r[e]}(e);if(!a)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");a.appendChild(t)}},20(e){e.exports=function(e){var r=document.createElement("style");return e.setAttributes(r,e.attributes),e.insert(r,e.options),r}},19(e,r,t){e.exports=function(e){var r=t.nc;r&&e.setAttribute("nonce",r)}},17(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var r=e.insertStyleElement(e);return{update:function(t){var a,o,s;a="",t.supports&&(a+="@supports (".concat(t.supports,") {")),t.media&&(a+="@media ".concat(t.media," {")),(o=void 0!==t.layer)&&(a+="@layer".concat(t.layer.length>0?" ".concat(t.layer):""," {")),a+=t.css,o&&(a+="}"),t.media&&(a+="}"),t.supports&&(a+="}"),(s=t.sourceMap)&&"u">typeof btoa&&(a+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(s))))," */")),e.styleTagTransform(a,r,e.options)},remove:function(){var e;null===(e=r).parentNode||e.parentNode.removeChild(e)}}}},21(e){e.exports=function(e,r){if(r.styleSheet)r.styleSheet.cssText=e;else{for(;r.firstChild;)r.removeChild(r.firstChild);r.appendChild(document.createTextNode(e))}}},15(e,r,t){var a=t(16),o=t.n(a),s=t(17),n=t.n(s),i=t(18),l=t.n(i),p=t(19),d=t.n(p),c=t(20),u=t.n(c),m=t(21),b=t.n(m),y=t(22),f={};f.styleTagTransform=b(),f.setAttributes=d(),f.insert=l().bind(null,"head"),f.domAPI=n(),f.insertStyleElement=u(),o()(y.A,f),y.A&&y.A.locals&&y.A.locals}}]);