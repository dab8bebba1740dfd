"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[4],{36(e,t,s){s.r(t),s.d(t,{CardModel:()=>eN,CardView:()=>eA,ControlPanelModel:()=>eD,ControlPanelView:()=>ez});var l=s(35),a=s(24),r=s.n(a),o=s(25),n=s.n(o),i=s(26),m=s.n(i),d=s(27),p=s.n(d),y=s(28),c=s.n(y),h=s(29),u=s.n(h),b=s(33),f={};f.styleTagTransform=u(),f.setAttributes=p(),f.insert=m().bind(null,"head"),f.domAPI=n(),f.insertStyleElement=c(),r()(b.A,f),b.A&&b.A.locals&&b.A.locals;var g=s(37),v={};v.styleTagTransform=u(),v.setAttributes=p(),v.insert=m().bind(null,"head"),v.domAPI=n(),v.insertStyleElement=c(),r()(g.A,v),g.A&&g.A.locals&&g.A.locals;var x=s(38),w={};w.styleTagTransform=u(),w.setAttributes=p(),w.insert=m().bind(null,"head"),w.domAPI=n(),w.insertStyleElement=c(),r()(x.A,w),x.A&&x.A.locals&&x.A.locals;var k=s(39),N={};N.styleTagTransform=u(),N.setAttributes=p(),N.insert=m().bind(null,"head"),N.domAPI=n(),N.insertStyleElement=c(),r()(k.A,N),k.A&&k.A.locals&&k.A.locals;var D=s(20),C=s(14);let A=/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;function z(e){let t,s,l=new Date(e);if(Number.isNaN(l.getTime()))return e;let a=l.getFullYear()===new Date().getFullYear()?"":` ${l.getFullYear()}`,r=[l.getHours(),l.getMinutes()].map(e=>String(e).padStart(2,"0")).join(":"),o=new Intl.DateTimeFormat("en-US",{timeZoneName:"short"}).formatToParts(l).find(e=>"timeZoneName"===e.type).value;return`${t={weekday:"short"},l.toLocaleDateString("en-US",t)} ${l.getDate()} ${s={month:"short"},l.toLocaleDateString("en-US",s)}${a}, ${r} ${o}`}let L=RegExp(`(${A.source})|(${/\d of \d+|\b[A-Za-z] = \d(?:[\d,.]*\d)?|\d (?:[A-Za-zµ×%]{1,8}(?:\/[A-Za-z]+)?)(?![\w-])/.source})`,"g");function M(e){let t=document.createTreeWalker(e,NodeFilter.SHOW_TEXT),s=[];for(;t.nextNode();){let e=t.currentNode.parentElement;e?.closest("textarea, option, svg, math")||s.push(t.currentNode)}for(let e of s){let t=[],s=0;for(let{0:l,1:a,index:r}of e.data.matchAll(L))t.push(e.data.slice(s,r),a?(0,C.ND)("time",{datetime:a,text:z(a)}):(0,C.ND)("bdi",{class:"mlsys-lab-whole",text:l})),s=r+l.length;t.length&&e.replaceWith(...t,e.data.slice(s))}}let E=new Set;var S=s(13);let T=([e,t,s,l],a="mlsys-reveal-words")=>(0,C.ND)("div",{class:`mlsys-reveal-side ${a}`,style:`--tone: var(--mlsys-${s})`},(0,C.ND)("span",{text:e}),(0,C.ND)("strong",{html:t}),...l?[(0,C.ND)("small",{text:l})]:[]),q="This card has no kernel. What you enter is kept, but nothing can be recorded until you press Resume at the top of the lab.",$={"data-lm-suppress-shortcuts":"true"};function j(e,t,...s){let l=(0,C.ND)("span",{html:e.html});return l.prepend(...s),(0,C.ND)("p",{class:t,tabindex:"-1"},l,(0,C.ND)("time",{datetime:e.time,text:z(e.time)}))}function P(e,{keep:t,ask:s},l){let a=(0,C.Am)("group"),r=e.options.map(([l,r],o)=>{let n=(0,C.ND)("input",{type:"radio",name:a,value:l,disabled:e.disabled,...$});n.addEventListener("change",()=>{n.checked&&(e.asks?s(e.asks,{[e.key]:l}):t(e.key,l))});let i=e.lettered?[(0,C.ND)("b",{text:String.fromCharCode(65+o)})]:[];return(0,C.ND)("label",{},n,...i,(0,C.ND)("span",{html:r}))}),o=e.options.every(([,e])=>(0,C.pj)(e).length<=60)?" mlsys-lab-tiles":"",n=(0,C.ND)("div",{class:e.inline?"mlsys-lab-inline":`mlsys-lab-options${o}`},...r);return l&&(n.prepend((0,C.ND)("span",{text:l[0]})),n.append((0,C.ND)("span",{text:l[1]}))),{node:(0,C.ND)("fieldset",{class:"mlsys-lab-field"},(0,C.ND)("legend",{html:e.legend,class:e.asks?"mlsys-lab-unseen":null}),n),fill:e=>{for(let{firstChild:t}of r)t.checked=t.value===e}}}function O(e,t,{unfolded:s}){let l=(0,C.ND)("details",{class:"mlsys-lab-fold"},(0,C.ND)("summary",{text:e.heading,...$}),t);return l.open=s.has(e.key),l.addEventListener("toggle",()=>l.open?s.add(e.key):s.delete(e.key)),{node:l}}let W={comparison:e=>{let[t,...s]=e.compared,l=e.compared[e.counts],a=s.filter(e=>e!==l),r=!!e.html,o=r?[T(t),function([e,t,s,l]){let[,a,r]=/^(\S+)(.*)$/.exec(t);return T([e,r?`${a}<small>${r}</small>`:a,s,l],"mlsys-reveal-number")}(l)]:t[1]===l[1]?[T(["You predicted, and the answer is",t[1],...l.slice(2,3),t[3]])]:[T(t),T(l)];return{node:(0,C.ND)("div",{class:"mlsys-reveal",tabindex:"-1"},(0,C.ND)("div",{class:"mlsys-reveal-sides"},...o),...r?[(0,C.ND)("div",{class:"mlsys-reveal-picture",html:e.html})]:[],...a.filter(([,,,e])=>e||!r).map(([e,t,,s])=>(0,C.ND)("p",{class:"mlsys-reveal-note",html:`${e}: ${t}`},s?` (${s})`:"")))}},revealverdict:e=>({node:(0,C.ND)("div",{class:"mlsys-reveal-verdict",tabindex:"-1"},(0,C.ND)("p",{class:"mlsys-reveal-lead",html:e.lead}),...e.rest.map(e=>(0,C.ND)("p",{html:e})))}),numbersbehind:(e,{unfolded:t})=>{let[s]=e.groups[0],l=e.groups.flatMap(([e,t])=>[...e===s?[]:[(0,C.ND)("h4",{text:e})],(0,C.ND)("ul",{class:"mlsys-reveal-rows"},...t.map(([e,t,s,l])=>(0,C.ND)("li",{},(0,C.ND)("span",{text:e}),(0,C.ND)("div",{},(0,C.ND)("strong",{text:t}),...l||!s?[]:[(0,C.ND)("span",{class:"mlsys-equation",html:s})],...l?[(0,C.ND)("small",{text:l})]:[]))))]),a=(0,C.ND)("details",{class:"mlsys-lab-fold mlsys-reveal-behind"},(0,C.ND)("summary",{text:s,"data-lm-suppress-shortcuts":"true"}),...l);return a.open=t.has(e.key),a.addEventListener("toggle",()=>a.open?t.add(e.key):t.delete(e.key)),{node:a}},prose:e=>{let t=e.tone?`--tone: ${e.tone}`:null,s=`mlsys-lab-prose${e.tone?" mlsys-lab-edge":""}${e.quiet?" mlsys-lab-quiet":""}`;return{node:(0,C.ND)("div",{class:s,style:t,html:e.html,tabindex:"-1"})}},recordedanswer:e=>({node:j(e,"mlsys-lab-recorded")}),sealedanswer:e=>{let t;return{node:j(e,"mlsys-lab-recorded mlsys-lab-sealed",((t=(0,C.ND)("span",{class:"mlsys-lab-padlock","aria-hidden":"true"})).innerHTML='<svg width="13" height="15" viewBox="0 0 13 15"><path d="M3.2 7V4.4a3.3 3.3 0 0 1 6.6 0V7" fill="none" stroke="currentColor" stroke-width="1.7"/><rect x="1" y="6.6" width="11" height="8" rx="1.6" fill="currentColor"/></svg>',t))}},options:(e,t)=>P(e,t),confidence:(e,t)=>{let s=P({...e,inline:!0},t,e.ends);return s.node.classList.add("mlsys-lab-confidence"),s},textbox:(e,{keep:t,submit:s})=>{let l=(0,C.Am)("entry"),a=(0,C.ND)("input",{type:"text",id:l,"aria-describedby":`${l}-hint`,disabled:e.disabled,spellcheck:"false",autocomplete:"off",...$});a.addEventListener("input",()=>t(e.key,a.value)),a.addEventListener("keydown",e=>"Enter"===e.key&&s());let r=e.scale?.length?function({scale:e,legend:t},s){let l=e.length-1,a=(0,C.ND)("input",{type:"range",min:0,max:l,step:1,"aria-label":(0,C.pj)(t),...$}),r=e.every(e=>e.length<=5)?5:2,o=Array.from({length:r},(t,s)=>(0,C.ND)("span",{text:e[Math.round(s*l/(r-1))]})),n=()=>s(e[Number(a.value)]);return a.addEventListener("input",n),a.addEventListener("click",n),{node:(0,C.ND)("div",{class:"mlsys-lab-scale"},a,(0,C.ND)("div",{class:"mlsys-lab-ticks","aria-hidden":"true"},...o)),mark:t=>{let s=e.indexOf(t);a.classList.toggle("mlsys-lab-unmarked",s<0),a.value=s<0?Math.round(l/2):s,a.setAttribute("aria-valuetext",s<0?t||"no mark yet":t)}}}(e,s=>t(e.key,s)):null;return{node:(0,C.ND)("div",{class:"mlsys-lab-field"},(0,C.ND)("label",{for:l,html:e.legend}),...r?[r.node]:[],a,(0,C.ND)("p",{class:"mlsys-lab-hint",id:`${l}-hint`,text:e.hint,hidden:e.disabled})),fill:e=>{a.value!==e&&(a.value=e),r?.mark(e)}}},textarea:(e,{keep:t})=>{let s=(0,C.Am)("area"),l=e.code?{class:"mlsys-lab-code",spellcheck:"false",autocapitalize:"off"}:{},a=(0,C.ND)("textarea",{id:s,rows:e.rows,"aria-describedby":`${s}-hint`,...l,...$});return a.addEventListener("input",()=>t(e.key,a.value)),{node:(0,C.ND)("div",{class:"mlsys-lab-field"},(0,C.ND)("label",{for:s,html:e.legend}),a,...function({at_least:e,at_most:t},s){if(e<=1&&null===t)return[];let l=(0,C.ND)("span"),a=(0,C.ND)("span",{"aria-live":"polite"}),r=(0,C.ND)("p",{class:"mlsys-lab-count"},l," ",a),o=()=>{let o=s.value.split(/\s+/u).filter(e=>/[\p{L}\p{N}]/u.test(e)).length,[n,i]=o<e?["short",`too short, at least ${e}`]:null!==t&&o>t?["long",`too long, at most ${t}`]:["fits","long enough"];l.textContent=`${o} ${1===o?"word":"words"}:`,a.textContent!==i&&(a.textContent=i),r.dataset.length=n,r.hidden=0===e&&"fits"===n};for(let e of["input","filled"])s.addEventListener(e,o);return o(),[r]}(e,a),(0,C.ND)("p",{class:"mlsys-lab-hint",id:`${s}-hint`,text:e.hint})),fill:e=>{a.value!==e&&(a.value=e,a.dispatchEvent(new Event("filled")))}}},blanks:(e,{keep:t})=>{let s={},l=e.pieces.map(l=>{if("string"==typeof l)return(0,C.ND)("span",{html:l});let a=Object.keys(s).length+1,r=(0,C.ND)("select",{"aria-label":`Gap ${a}`,...$},(0,C.ND)("option",{value:"",text:"…"}),...l.options.map(([e,t])=>(0,C.ND)("option",{value:e,text:t})));return r.addEventListener("change",()=>t(e.key,Object.fromEntries(Object.entries(s).map(([e,t])=>[e,t.value||null])))),s[l.name]=r,r});return{node:(0,C.ND)("p",{class:"mlsys-lab-blanks"},...l),fill:e=>{for(let[t,l]of Object.entries(s))l.value=e?.[t]??""}}},checkboxes:(e,{keep:t})=>{let s=e.options.map(([l,a,r])=>{let o=(0,C.ND)("input",{type:"checkbox",value:l,...$});return o.addEventListener("change",()=>t(e.key,s.map(e=>e.firstChild).filter(e=>e.checked).map(e=>e.value))),(0,C.ND)("label",{},o,(0,C.ND)("span",{html:a},...r?[(0,C.ND)("small",{html:r})]:[]))});return{node:(0,C.ND)("fieldset",{class:"mlsys-lab-field"},(0,C.ND)("legend",{html:e.legend}),(0,C.ND)("div",{class:"mlsys-lab-options"},...s)),fill:e=>{for(let{firstChild:t}of s)t.checked=e.includes(t.value)}}},buttons:(e,{ask:t})=>({node:(0,C.ND)("div",{class:"mlsys-lab-buttons"},...e.buttons.map(([s,l],a)=>{let r=a?null:e.leads?"mlsys-lab-main":"mlsys-lab-main mlsys-lab-again",o=(0,C.ND)("button",{type:"button",text:l,class:r,...$});return o.addEventListener("click",()=>t(s)),o}))}),goon:e=>{let t=(0,C.ND)("button",{type:"button",text:e.words,class:e.leads?"mlsys-lab-main":"mlsys-lab-main mlsys-lab-again",...$});return t.addEventListener("click",()=>t.dispatchEvent(new CustomEvent("mlsys-next",{bubbles:!0}))),{node:(0,C.ND)("div",{class:"mlsys-lab-buttons mlsys-lab-goon"},t)}},moving:e=>{let t=(0,C.ND)("button",{type:"button",text:"Play",class:"mlsys-lab-link",hidden:window.matchMedia("(prefers-reduced-motion: reduce)").matches,...$}),s=(0,C.ND)("div",{html:e.svg}),l=()=>s.getAnimations({subtree:!0}),a=()=>{t.textContent=l().some(e=>"running"===e.playState)?"Pause":"Play"};return t.addEventListener("click",()=>{let e="Pause"===t.textContent;for(let t of l())e?t.pause():t.play();a()}),s.addEventListener("animationstart",a),s.addEventListener("animationend",a),{node:(0,C.ND)("figure",{class:"mlsys-lab-moving"},s,(0,C.ND)("figcaption",{text:`${e.words} `},t))}},actspath:e=>({node:(0,C.ND)("ol",{class:"mlsys-lab-path"},...e.points.map(([e,t],s)=>(0,C.ND)("li",{},(0,C.ND)("b",{text:`${s+1}`,"aria-hidden":"true"}),(0,C.ND)("span",{html:e},...t?[(0,C.ND)("small",{text:t})]:[]))))}),besidelinks:e=>({node:(0,C.ND)("p",{class:"mlsys-lab-beside"},(0,C.ND)("span",{text:"Show beside this:"}),...e.titles.map(e=>{let t=(0,C.ND)("button",{type:"button",text:e,...$});return t.addEventListener("click",()=>t.dispatchEvent(new CustomEvent("mlsys-beside",{bubbles:!0,detail:e}))),t}))}),numbers:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-cards",role:"list",tabindex:"-1"},...e.cards.map(([e,t,s,l])=>(0,C.ND)("div",{class:"mlsys-lab-card",role:"listitem",style:`--tone: ${s}`},(0,C.ND)("span",{text:e}),(0,C.ND)("strong",{text:t}),(0,C.ND)("small",{text:l}))))}),steps:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-steps"},...e.groups.map(([e,t,s,l])=>(0,C.ND)("section",{"aria-label":e},(0,C.ND)("p",{},(0,C.ND)("strong",{text:e}),(0,C.ND)("span",{text:`${t} of ${s}`})),(0,C.ND)("progress",{max:s||1,value:t,"aria-label":`Progress of ${e}`}),(0,C.ND)("ul",{},...l.map(([e,t,s])=>(0,C.ND)("li",{class:t?"mlsys-lab-done":null},(0,C.ND)("span",{"aria-hidden":"true",text:t?"✓":"○"}),(0,C.ND)("span",{html:e},s?` (${s})`:(0,C.ND)("span",{class:"mlsys-lab-unseen",text:t?" (done)":" (to do)"}))))))))}),progressbar:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-progress"},(0,C.ND)("p",{text:e.words}),(0,C.ND)("progress",{max:1,value:e.share,"aria-label":e.label}))}),rows:e=>({node:(0,C.ND)("ul",{class:"mlsys-lab-rows"},...e.rows.map(([e,t])=>(0,C.ND)("li",{},(0,C.ND)("strong",{html:e}),(0,C.ND)("span",{html:t}))))}),foldedrows:(e,t)=>O(e,W.rows(e).node,t),foldedprose:(e,t)=>O(e,W.prose(e).node,t),numberedlist:e=>({node:(0,C.ND)("ol",{class:"mlsys-lab-points"},...e.points.map(([e,t])=>(0,C.ND)("li",{},...e?[(0,C.ND)("strong",{html:e})]:[],(0,C.ND)("span",{html:t}))))})};function _(e,t){t.classList.add("mlsys-lab-card-root");let s=(0,S.fU)(e),l=null,a=null,r=null,o=(0,C.ND)("span",{class:"mlsys-lab-kind"}),n=(0,C.ND)("h3",{class:"mlsys-lab-title",id:(0,C.Am)("title"),tabindex:"-1"}),i=(0,C.ND)("div",{class:"mlsys-lab-body"}),m=(0,C.ND)("p",{class:"mlsys-lab-trouble",role:"alert"}),d=(0,C.ND)("button",{type:"button",text:"Try again",...$}),p=(0,C.ND)("div",{class:"mlsys-lab-after"},m,d),y=(0,C.ND)("p",{class:"mlsys-lab-unrecorded",role:"status"}),c=(0,C.ND)("button",{type:"button",text:"Undo my change",...$}),h=(0,C.ND)("div",{class:"mlsys-lab-draft",hidden:!0},y,c),u=(0,C.ND)("div",{class:"mlsys-lab-unseen",role:"status","aria-live":"polite"}),b=(0,C.ND)("button",{type:"button",class:"mlsys-lab-link",hidden:!0,...$}),f=(0,C.ND)("section",{class:"mlsys-lab-frame","aria-labelledby":n.id},(0,C.ND)("div",{class:"mlsys-lab-head"},o,n),i,b,h,p,u);t.append(f);let g=(e,t)=>{m.textContent!==e.replace(A,z)&&(m.textContent=e.replace(A,z)),d.hidden=!t,p.hidden=!e},v=async e=>{let{recorded:t}=s.store.remote;if(!t||!s.item)return null;let l=await t(s.view.item.names).catch(()=>null);return null===l?null:l>e?l:""},x=()=>{clearTimeout(a),l=null,f.removeAttribute("aria-busy")},w=async()=>{let e=l,t=await v(e.before);e===l&&(t?g(`Recorded ${t}: it is in the ledger. The kernel has not answered yet, so the rest of this card may be older.`,!1):s.isLive?g("Not known yet whether this is recorded: the kernel has not answered. It may be busy with a cell. What you entered is kept; asking again.",!1):""===t?g("Not recorded: the kernel was lost before it answered, and the ledger does not have it. What you entered is kept. Press Resume at the top of the lab, then record it.",!1):g("The kernel was lost before it answered, so it is not known whether this is recorded. What you entered is kept. Press Resume at the top of the lab to see.",!1),t||!s.isLive?x():a=setTimeout(w,8e3))},k=()=>{s.isLive||(clearTimeout(a),l?w():g(q,!1))},N=async(e,t)=>{if(!s.isLive)return void g(q,!1);clearTimeout(a);let r=l={before:s.view.item?.recorded??""};if(f.setAttribute("aria-busy","true"),a=setTimeout(w,8e3),await s.ask(e,t),r!==l)return;x();let{trouble:o}=s.view;g(o?.words??"",o?.retry),o||e!==s.view.item?.record||(j=!1,O())};d.addEventListener("click",()=>N("retry")),c.addEventListener("click",()=>{for(let e of s.unrecorded)s.discard(e.key);j=!1,O()}),b.addEventListener("click",()=>{j=!j,O();let e=j&&i.querySelector("input:checked, input:not(:disabled), select, textarea");(e&&!e.disabled?e:b).focus()});let D={ask:N,keep:(e,t)=>s.keep(e,t),submit:()=>i.querySelector(".mlsys-lab-main")?.click(),unfolded:new Set},L=(e,t)=>{var l,a;let r,o=t.fill&&!e.disabled?s.rival(e.key):null;if(t.rival?.remove(),t.rival=null,!o)return;let n=(t,l)=>{let a=(0,C.ND)("button",{type:"button",text:t,...$});return a.addEventListener("click",()=>s.choose(e.key,l)),a};t.rival=(0,C.ND)("div",{class:"mlsys-lab-rival",role:"status"},(0,C.ND)("p",{text:`Another window has something else here: “${(l=e,a=o.value,(r=(0,S.r4)(l,a)).length>200?`${r.slice(0,200)} …`:r)}”`}),n("Use that",o),n("Keep this",s.draft(e.key))),t.node.append(t.rival)},T=e=>{for(let t of s.view.parts??[]){let l=_.get(t.key);l?.fill&&(!e||e===t.key)&&(l.fill(s.value(t)),l.node.classList.toggle("mlsys-lab-differs",s.changed.includes(t)),L(t,l))}let t=(s.item&&!s.view.unsettled?s.unrecorded:[]).length?s.changed.length?"You changed this, and the change is not recorded yet.":"Kept as a draft. It is not recorded yet.":"",l=t&&s.store.trouble?` So far only this browser has it: ${s.store.trouble}`:"";y.textContent!==t+l&&(y.textContent=t+l),c.hidden=!s.changed.length,h.hidden=!t,O()},j=!1,P="",O=()=>{let{fold:e,closed:t,title:l,focus:a}=s.view,r=s.unrecorded.length>0||s.open.some(e=>s.rival(e.key));j=!!e&&(j||r);let o=!!e&&!j;for(let[s,{node:l}]of(f.dataset.state=t?"closed":e?o?"short":"opened":"open",f.classList.toggle("mlsys-lab-entered",r),_))l.hidden=o&&!e.stays.includes(s);b.hidden=!e||j&&r;let n=o?e?.link:"Close";b.textContent!==n&&(b.textContent=n??""),b.setAttribute("aria-label",`${n}: ${(0,C.pj)(l)}`),b.setAttribute("aria-expanded",String(!o));let m=document.activeElement;if(i.contains(m)&&m.closest("[hidden]")){let e=_.get(a)?.node;((F=!e||e.hidden)?b:e).focus()}0===E.size&&requestAnimationFrame(()=>{let e=new Set([...E].map(e=>e()).filter(Boolean));for(let t of(E.clear(),e))!function(e){let t=[...e.querySelectorAll(".mlsys-lab-frame")],s=t.find(e=>["open","opened"].includes(e.dataset.state)&&e.querySelector(".mlsys-lab-main:not(.mlsys-lab-again)")&&("open"===e.dataset.state||e.classList.contains("mlsys-lab-entered")));for(let e of t)e.classList.toggle("mlsys-lab-leads",e===s)}(t)}),E.add(()=>f.closest(".jp-Notebook, .jp-NotebookPanel, body"))},_=new Map,I="",F=!1,H=()=>{let s=e.get("view");if(!s.parts)return;o.textContent=s.kind,f.dataset.look=s.look,(s.item?.recorded??"")!==P&&(P=s.item?.recorded??"",j=!1),n.innerHTML!==s.title&&(n.innerHTML=s.title),f.style.setProperty("--tone",s.tone);let l=f.contains(document.activeElement),a=new Map;for(let e of s.parts){let t=JSON.stringify(e),s=_.get(e.key);if(s?.json===t){a.set(e.key,s);continue}let l=W[e.kind](e,D);M(l.node),a.set(e.key,{json:t,...l})}for(let[e,t]of _)a.get(e)!==t&&t.node.remove();_=a;let m=i.firstChild;for(let{node:e}of _.values())e===m?m=m.nextSibling:i.insertBefore(e,m);T(),g(s.trouble?.words??"",s.trouble?.retry),s.said&&s.said!==I&&(u.textContent=s.said.replace(A,z),clearTimeout(r),r=setTimeout(()=>{u.textContent=""},15e3)),I=s.said,l&&!f.contains(document.activeElement)&&(F=!0,n.focus({preventScroll:!0}));let d=_.get(s.focus)?.node;F&&[n,b].includes(document.activeElement)&&d&&(F=!1,(d.querySelector("button, input:checked, input, select, textarea")??d).focus()),R(t,s)},B=new MutationObserver(()=>R(t,e.get("view")));return requestAnimationFrame(()=>{let e=t.closest(".mlsys-lab");e&&B.observe(e,{childList:!0,subtree:!0})}),e.on("change:view",H),e.on("comm_live_update",k),s.views.add(T),H(),k(),()=>{for(let e of[a,r])clearTimeout(e);B.disconnect(),e.off("change:view",H),e.off("comm_live_update",k),s.views.delete(T)}}function R(e,t){if(t.figure)for(let s of e.closest(".mlsys-lab")?.querySelectorAll(".mlsys-plot")??[]){let[e,...l]=[...s.querySelectorAll(":scope > svg")].reverse();if(e&&e.getAttribute("aria-label")!==t.figure)for(let s of(e.setAttribute("role","img"),e.setAttribute("aria-label",t.figure),l))s.setAttribute("aria-hidden","true")}}function I(e,t){if(e.zero&&t<=0)return 0;let s=+!!e.zero,l=(t-s)/(1e3-s),a=e.log?e.low*(e.high/e.low)**l:e.low+(e.high-e.low)*l;if(t<=s)return e.low;if(t>=1e3)return e.high;let r=Number(a.toPrecision(3)),o=Math.min(e.high,Math.max(e.low,r));return e.whole?Math.round(o):o}function F(e,t){if(e.zero&&t<=0)return 0;let s=+!!e.zero;return Math.round(s+(e.log?Math.log(t/e.low)/Math.log(e.high/e.low):(t-e.low)/(e.high-e.low))*(1e3-s))}function H(e,t,s,l){let a=F(e,t),r=t;for(let o=0;o<1e3&&r===t;o++){if((a+=s*(l?50:5))<0||a>1e3){r=I(e,s<0?0:1e3);break}r=I(e,a)}return r}let B={slider(e,t,s){let l=(0,C.Am)("slider"),a=(0,C.ND)("input",{type:"range",min:0,max:1e3,step:1,id:l,"aria-describedby":`${l}-help`,"data-lm-suppress-shortcuts":"true"}),r=(0,C.ND)("input",{type:"text","aria-label":`${e.label}, typed (${e.allowed})`,spellcheck:"false",autocomplete:"off","data-lm-suppress-shortcuts":"true"}),o=e.low;a.addEventListener("input",()=>{t(o=I(e,Number(a.value)))}),a.addEventListener("keydown",s=>{let l={ArrowRight:1,ArrowUp:1,PageUp:1,ArrowLeft:-1,ArrowDown:-1,PageDown:-1};s.key in l&&(s.preventDefault(),o=H(e,o,l[s.key],s.key.startsWith("Page")),a.value=F(e,o),t(o))});let n="",i=()=>{r.value!==n&&s(n=r.value)};r.addEventListener("change",i),r.addEventListener("keydown",e=>{e.stopPropagation(),"Enter"===e.key&&(e.preventDefault(),i()),"Escape"===e.key&&(r.value=n=a.getAttribute("aria-valuetext"))});let m=(0,C.ND)("p",{class:"mlsys-error",id:`${l}-error`,role:"alert"});return{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("label",{for:l,text:e.label}),(0,C.ND)("div",{class:"mlsys-row"},a,r),(0,C.ND)("p",{class:"mlsys-help",id:`${l}-help`,text:e.help}),m),show(t,s,l){o=s;let i=String(F(e,s));a.value!==i&&(a.value=i),a.setAttribute("aria-valuetext",t),l?(r.setAttribute("aria-invalid","true"),r.setAttribute("aria-describedby",m.id)):(r.removeAttribute("aria-invalid"),r.removeAttribute("aria-describedby"),n=t,r.value!==t&&(r.value=t)),m.textContent!==(l??"")&&(m.textContent=l??"")}}},menu(e,t){let s=(0,C.Am)("menu"),l=(0,C.ND)("span",{class:"mlsys-chosen","aria-hidden":"true"}),a=()=>{l.textContent=r.selectedOptions[0]?.textContent??""},r=(0,C.ND)("select",{id:s,"aria-describedby":`${s}-help`,"data-lm-suppress-shortcuts":"true"}),o=null,n=e=>{let t=JSON.stringify(e);t!==o&&(o=t,r.replaceChildren(...e.map(([e,t])=>(0,C.ND)("option",{value:e,text:t}))))};return n(e.options),r.addEventListener("change",()=>{a(),t(r.value)}),{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("label",{for:s,text:e.label}),(0,C.ND)("div",{class:"mlsys-menu"},r,l),(0,C.ND)("p",{class:"mlsys-help",id:`${s}-help`,text:e.help})),fill:n,show(e,t){r.value!==t&&(r.value=t),a()}}},buttons(e,t){let s=(0,C.Am)("choice"),l=(0,C.ND)("div",{class:"mlsys-pills"}),a=null,r=e=>{let r=JSON.stringify(e);r!==a&&(a=r,l.replaceChildren(...e.map(([e,l])=>{let a=(0,C.ND)("input",{type:"radio",name:s,value:e,"data-lm-suppress-shortcuts":"true"});return a.addEventListener("change",()=>a.checked&&t(e)),(0,C.ND)("label",{},a,document.createTextNode(l))})))};return r(e.options),{node:(0,C.ND)("fieldset",{class:"mlsys-control","aria-describedby":`${s}-help`},(0,C.ND)("legend",{text:e.label}),l,(0,C.ND)("p",{class:"mlsys-help",id:`${s}-help`,text:e.help})),fill:r,show(e,t){for(let e of l.querySelectorAll("input"))e.checked=e.value===t}}},several(e,t){let s=(0,C.Am)("several"),l=e.options.map(([e,s])=>{let a=(0,C.ND)("input",{type:"checkbox",value:e});return a.addEventListener("change",()=>t(l.filter(e=>e.box.checked).map(e=>e.box.value))),{box:a,node:(0,C.ND)("label",{},a,document.createTextNode(s))}});return{node:(0,C.ND)("fieldset",{class:"mlsys-control","aria-describedby":`${s}-help`},(0,C.ND)("legend",{text:e.label}),(0,C.ND)("div",{class:"mlsys-pills"},...l.map(e=>e.node)),(0,C.ND)("p",{class:"mlsys-help",id:`${s}-help`,text:e.help})),show(e,t){for(let{box:e}of l)e.checked=t.includes(e.value)}}},switch(e,t){let s=(0,C.Am)("switch"),l=(0,C.ND)("input",{type:"checkbox",id:s,"aria-describedby":`${s}-help`});return l.addEventListener("change",()=>t(l.checked)),{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("div",{class:"mlsys-pills"},(0,C.ND)("label",{for:s},l,document.createTextNode(e.label))),(0,C.ND)("p",{class:"mlsys-help",id:`${s}-help`,text:e.help})),show(e,t){l.checked=t}}}},U=new Set,J={ArrowRight:1,ArrowUp:1,PageUp:1,ArrowLeft:-1,ArrowDown:-1,PageDown:-1};function V([e,t,s],l){return s?Math.log(l/e)/Math.log(t/e):(l-e)/(t-e)}function Y([e,t,s],l){return s?e*(t/e)**l:e+(t-e)*l}function Z(e){return e&&1e-6>Math.abs(e)?e.toFixed(20).replace(/0+$/,""):String(e)}let K=e=>e.getBoundingClientRect(),X=e=>e.length>1&&24>Math.abs(e.at(-1).top-e[0].top);function G(e,t,s,l){(t||s)&&e.style.setProperty("translate",`${t/l}px ${s/l}px`)}let Q=(e,t,s,l)=>e<s?s-e:Math.min(0,l-t),ee=(e,t)=>e.left<t.right+4&&t.left<e.right+4&&e.top<t.bottom-1&&t.top<e.bottom-1,et=({left:e,right:t,top:s,bottom:l},a,r)=>({left:e+a,right:t+a,top:s+r,bottom:l+r}),es=new WeakMap;function el(e){e.classList.remove("mlsys-left-out"),e.style.removeProperty("translate");let t=es.get(e);t&&e.textContent===t.replace(/ \(.*\)|: .*/,"")&&(e.textContent=t),es.delete(e)}let ea=e=>e.classList.contains("mlsys-narrow-plot");function er(e){let t=ea(e),s=e.parentElement.clientWidth<420,l=K(e).width/e.clientWidth||1;if(e.classList.toggle("mlsys-narrow-plot",s),t&&!s){for(let t of e.querySelectorAll("text.label.element, .tick text"))el(t);e.style.removeProperty("--mlsys-free")}let a=s&&function(e,t){let s=[...e.querySelectorAll(".axis .tick text")].map(K).filter(e=>e.width),l=e.querySelector(".plotarea_events"),a=K(e.parentElement);if(!l||e.classList.contains("mlsys-diagram"))return[a.left+4,a.right-4];let r=s.filter(e=>e.right<K(l).left).map(e=>e.left),o=r.length?(Math.min(...r)-K(e).left)/t:0;return e.style.setProperty("--mlsys-free",`${Math.max(0,Math.floor(o))}px`),[a.left+4,a.right-4]}(e,l);for(let t of e.querySelectorAll(".axis")){let s=[...t.querySelectorAll(".tick text")],l=s.map(K).filter(e=>e.width);if(!X(l))continue;s.forEach((e,t)=>e.classList.toggle("mlsys-stepped",t%2==1));let a=l.some((e,t)=>t&&e.left<l[t-1].right+4);e.classList.toggle("mlsys-staggered",a)}!function(e,t,s){let{left:l,right:a,top:r}=K(e);for(let o of e.querySelectorAll(".axislabel")){for(let e of["font-size","translate"])o.style.removeProperty(e);o.classList.remove("mlsys-above");let e=K(o),n=e.width<e.height;if(n&&!t)continue;o.classList.toggle("mlsys-above",n);let[i,m]=t||[l,a],{width:d}=K(o);if(d>m-i){let e=Math.max(9,12*(m-i)/d);o.style.setProperty("font-size",`${e}px`,"important")}let p=K(o);if(n){let e=Math.min(Math.max(i,...[...o.closest(".axis").querySelectorAll(".tick text")].map(K).filter(e=>e.width&&e.top<r+p.height).map(e=>e.right+4)),Math.max(i,m-p.width));G(o,e-p.left,r-p.top,s)}else G(o,Q(p.left,p.right,i,m),0,s)}}(e,a,l),s&&(!function(e,[t,s],l){for(let a of e.querySelectorAll(".axis")){let r=[...a.querySelectorAll(".tick text")].filter(e=>K(e).width);for(let e of r){e.classList.remove("mlsys-left-out"),e.style.removeProperty("translate");let{left:a,right:r}=K(e);G(e,Q(a,r,t,s),0,l)}if(!r.every(e=>/^[−-]?[\d.]/.test(e.textContent.trim())))continue;let o=X(r.map(K));o&&e.classList.remove("mlsys-staggered");let n=r.map(K),i=(e,t)=>o?t.left<e.right+4:t.bottom>e.top,m=1;for(;m<r.length&&n.some((e,t)=>t&&t%m==0&&i(n[t-m],e));)m+=1;r.forEach((e,t)=>e.classList.toggle("mlsys-left-out",t%m>0))}}(e,a,l),function(e,t,s){let l=e.querySelector(".plotarea_events");if(!l)return;let a=K(l),r=K(e).left,o=[...e.querySelectorAll(".mlsys-grip")].map(K),n=[...e.querySelectorAll("path.dot")].map(K),i=[],m=(e,s)=>{let l=K(e),r=l.height;if(l.width>.6*a.width&&!es.has(e)&&e.textContent.replace(/ \(.*\)|: .*/,"")!==e.textContent)return null;let o=Q(l.top,l.bottom,a.top,a.bottom),n=s.filter(e=>ee(et(l,0,o),e)).flatMap(e=>[e.right+4-l.left,e.left-4-l.right]);return[0,-1,1,-2,2].flatMap(e=>[0,...e?[]:n.filter(e=>30>Math.abs(e))].map(s=>[s+Q(l.left+s,l.right+s,a.left+1,t),o+e*r])).find(e=>{let t=et(l,...e);return t.left>=a.left&&t.top>=a.top-1&&t.bottom<=a.bottom+1&&!s.some(e=>ee(t,e))})};for(let t of e.querySelectorAll("text.label.element")){if(el(t),!t.textContent.trim()||!K(t).width)continue;let e=r+t.parentNode.getCTM().e*s,l=e<a.left-4||e>a.right+4,d=null;l||((d=m(t,[...i,...o,...n])??m(t,[...i,...o]))||function(e){let t=e.textContent;e.textContent=t.replace(/ \(.*\)|: .*/,""),e.textContent!==t&&es.set(e,t)}(t),d??(d=m(t,[...i,...o])??m(t,i))),t.classList.toggle("mlsys-left-out",!d),d&&(i.push(et(K(t),...d)),G(t,...d,s))}}(e,a[1],l))}var eo=s(22);function en(e,t,s,l="all"){e.standing??(e.standing=new Map),(e.standing.get(t)?.words??"")!==(s||"")&&(s?e.standing.set(t,{words:s,covered:l}):e.standing.delete(t),e.trigger("mlsys:standing"))}let ei=()=>new Date().toLocaleTimeString("en-US",{hourCycle:"h23"}),em=e=>`The kernel has not answered since ${e}, so this may be out of date. If it was restarted, press Resume at the top of the lab.`,ed=new WeakMap;function ep(e,t,s=()=>e.state_change){let l=e.widget_manager;return ed.has(l)||ed.set(l,new ey(l)),ed.get(l).add(e,t,s)}class ey{constructor(e){this.manager=e,this.followed=new Map,this.kernels=new WeakSet,this.visible=()=>{"visible"===document.visibilityState&&this.soon()},this.timer=this.asked=this.tries=0,this.own="",this.missed=!1}add(e,t,s){this.followed.size||document.addEventListener("visibilitychange",this.visible);let l={shown:t,settled:s,known:0};l.look=()=>{let t=l.shown()<l.known;return en(e,"behind",t&&"What stood here is out of date: the kernel has something newer, and it is being fetched."),t},this.followed.set(e,l),e.on("msg:custom",e=>{e?.newest&&this.heard(e)}),e.on("change",()=>{this.asked||this.soon()});let a=()=>{(!e.comm_live||e._closed)&&(this.followed.delete(e),this.followed.size||document.removeEventListener("visibilitychange",this.visible))};return e.on("comm_live_update",a),e.once("destroy",a),this.watch(this.manager.kernel),l.look}watch(e){!e?.iopubMessage||this.kernels.has(e)||(this.kernels.add(e),(0,eo.Z)(e,()=>{for(let e of[...this.followed.keys()])e.comm_live=!1}),e.iopubMessage.connect((e,{header:t,content:s,parent_header:l})=>{if("status"!==t.msg_type)return;let a=l?.msg_id===this.own;a&&"busy"===s.execution_state&&(this.missed=!1),a||"idle"!==s.execution_state||this.soon()}),e.connectionStatusChanged.connect((e,t)=>{"connected"===t&&this.soon()}))}soon(){this.missed=!!this.asked,this.asked||(clearTimeout(this.timer),this.timer=setTimeout(()=>{this.tries=0,this.since=ei(),this.ask()},500))}ask(){clearTimeout(this.timer);let e=[...this.followed].filter(([e])=>e.comm_live);if(!e.length){this.asked=0;return}this.asked=Date.now()+Math.random();let t={method:"custom",content:{have:Object.fromEntries(e.map(([e,{shown:t}])=>[e.model_id,t()])),stamp:this.asked}};try{this.own=e[0][0].comm.send(t)}catch{}this.wait(()=>this.unanswered())}wait(e){this.timer=setTimeout(e,2e3*2**this.tries)}unanswered(){if(this.manager.kernel?.status==="busy")return this.wait(()=>this.unanswered());if(this.tries+=1,this.tries<=4)return this.ask();for(let e of(this.asked=0,this.followed.keys()))en(e,"silent",em(this.since),"note")}async heard({newest:e,stamp:t}){if(t!==this.asked)return;clearTimeout(this.timer),this.asked=0,this.missed&&this.soon();let s=await Promise.all([...this.followed].map(async([t,s])=>(en(t,"silent",""),s.known=Math.max(s.known,e[t.model_id]??0),await s.settled(),s.look())));!this.asked&&s.some(Boolean)&&this.tries<4&&(this.tries+=1,clearTimeout(this.timer),this.wait(()=>this.ask()))}}let ec=[.25,.5,1,2,4],eh=document.createElement("canvas").getContext("2d"),eu=new WeakMap;async function eb({packed:e,numbers:t}){let s=new DecompressionStream("deflate"),l=s.writable.getWriter();return l.write(e),l.close(),{...await new Response(s.readable).json(),numbers:t}}let ef=new WeakMap;function eg([e,t,s]){let l,a=(ef.has(e)||ef.set(e,{}),l=ef.get(e),Object.entries(t).filter(([e,t])=>{let s=t?.value instanceof DataView?`${t.shape}:${new Uint8Array(t.value.buffer)}`:JSON.stringify(t),a=l[e]!==s;return l[e]=s,a}).map(([e])=>e));if(a.length)try{e.set_state(Object.fromEntries(a.map(e=>[e,s[e]])))}catch(t){throw ef.delete(e),t}}async function ev(e,t){clearTimeout(t.timer);let s=({number:e})=>e>(t.state?.number??0),l=e.get("readout");if(s(l)){try{let a=await eb(l),r=a.number===t.first?[]:await function(e,{plots:t,numbers:s}){let l=e.widget_manager,a=e.get("spec").plots;return Promise.all(t.flatMap((e,t)=>e.map(async([e,r])=>{let o=await l.get_model(a[t][e]),n=Object.fromEntries(Object.entries(r).map(([e,t])=>{let l;return[e,t?.span?(([e,...t])=>{let l=t.reduce((e,t)=>e*t,1),a=s.byteOffset+4*e;return{value:new DataView(s.buffer.slice(a,a+4*l)),dtype:"float32",shape:t,type:null}})(t.span):t?.exact?(l=t.exact,{value:new DataView(Float64Array.from(l).buffer),dtype:"float64",shape:[l.length],type:null}):t]}));return[o,n,await o.constructor._deserialize_state({...n},l)]})))}(e,a);if(!s(a))return;r.forEach(eg),t.state=a}catch(s){console.error(s),en(e,"undrawn","The newest state of this instrument cannot be drawn yet, because one of its plots is not there. It is tried again and again. If this stays, press Resume at the top of the lab."),clearTimeout(t.timer),t.timer=setTimeout(t.take,t.pause),t.pause=Math.min(2*t.pause,3e4);return}t.pause=250,en(e,"undrawn",""),t.isShown(),t.begin();try{for(let e of t.views)e()}catch(t){console.error(t),e.trigger("mlsys:undrawn")}}}async function ex(e,t){var s,l,a,r;let o,n,i,m,d,p,y,c,h,u,b,f,g,v,x,w,k,N,D,A,z,L,E,S,T,q,$,j,P,O;t.classList.add("mlsys-panel");let W=e.get("spec"),_=eu.get(e);await _.begun;let R=0,I=()=>R=Math.max(R+.001,Date.now()+Math.random()),F={},K={},X=[],G=0,Q=0,ee=0,et=ei(),es=()=>Object.keys(F).some(e=>F[e]!==_.state.heard[e])||Object.keys(K).some(e=>K[e]!==_.state.stamps[e]),el=e=>void 0!==F[e]&&F[e]!==_.state.heard[e],eo=[],em={},ed={},ep=({name:e,stamp:t})=>t<=(e?_.state.heard[e]??0:_.state.stamps.dragged??0),ey=()=>{!((eo=eo.filter(e=>!ep(e))).length>=2)&&em.update&&(eo.push(em.move),e.send({update:em.update}),em={})},eb=(e,t)=>{ed={...ed,...e},em={update:{...em.update,...e},move:t},ey(),Q=0,et=ei(),ef()},ef=()=>{clearTimeout(G),G=setTimeout(()=>{let s,l=eo.filter(e=>!ep(e));if(l.length&&(em={update:ed,move:em.move??l.at(-1)}),eo=[],ey(),!t.isConnected||!es())return;let a=Q>=6;en(e,t,a?(s=et,`The kernel has not answered your last move, at ${s}. It may be busy with a cell. If it was restarted, press Resume at the top of the lab.`):"Waiting for the kernel’s answer to your last move.","readout"),a||(Q+=1,eN("again"))},3e3*2**Q)},eg=e=>t=>{F[e]=I(),_.moved={..._.moved,[e]:[t,F[e]]},eb({moved:_.moved},{name:e,stamp:F[e]})},ev=t=>{em.move&&eo.push(em.move),e.send({update:{...em.update,...t}}),em={}},ex=e=>t=>ev({typed:{name:e,text:t,stamp:I()}}),ek=(e,t,s,l,a)=>{K.dragged=I(),eb({dragged:{handle:e,control:t,x:s,y:l,held:a,stamp:K.dragged}},{stamp:K.dragged})},eN=(e,t={})=>{K.command=I(),X.push({name:e,...t,stamp:K.command}),ev({command:{list:[...X]}}),ef()},eD={},eC={},eA=[],ez=[],eL=null,eM=null,eE=(0,C.ND)("div",{class:"mlsys-controls",role:"group","aria-label":`Controls of ${W.title}`}),eS=(0,C.ND)("div",{class:"mlsys-controls"}),eT=(0,C.ND)("details",{class:"mlsys-more"},(0,C.ND)("summary",{text:"More"}),eS);for(let e of W.controls){eD[e.name]=e;let t=B[e.kind](e,eg(e.name),ex(e.name));if(!t.node.querySelector(".mlsys-error")){let e=(0,C.ND)("p",{class:"mlsys-error",role:"alert"});t.node.append(e),t.complain=t=>{e.textContent!==t&&(e.textContent=t)}}!function(e){let t=()=>e.classList.remove("mlsys-helped");for(let s of(e.addEventListener("focusin",({target:t})=>e.classList.toggle("mlsys-helped","text"!==t.type&&t.matches(":focus-visible"))),["keydown","input","pointerdown","focusout"]))e.addEventListener(s,t)}(t.node),eC[e.name]=t,(e.rare?eS:eE).append(t.node)}eS.children.length&&eE.append(eT);let eq=(e,t)=>{let s=(0,C.ND)("button",{type:"button",text:e});return s.addEventListener("click",t),s},e$=eq("Pin",()=>eN(_.state.pinned?"unpin":"pin")),ej=eq("Reset",()=>eN(_.state.undo?"undo":"reset")),eP=(0,C.ND)("p",{class:"mlsys-code",hidden:!0,tabindex:"-1"}),eO=eq("Copy as code",async()=>{eP.textContent=_.state.code,eP.hidden=!1;let e=!0;try{await navigator.clipboard.writeText(eP.textContent)}catch{e=!1}eO.textContent=e?"Copied":"Select and copy below",setTimeout(()=>{eO.textContent="Copy as code"},2e3)}),eW=(0,C.ND)("p",{class:"mlsys-lost",role:"alert",hidden:!0}),e_=(0,C.ND)("div",{class:"mlsys-head"},(0,C.ND)("h3",{class:"mlsys-title",text:W.title}),(0,C.ND)("div",{class:"mlsys-tools"},e$,ej,eO),eW),eR=(0,C.ND)("div",{class:"mlsys-tabs",role:"group","aria-label":"Plot",hidden:!0}),eI=(0,C.ND)("div",{class:"mlsys-alert",role:"alert"}),eF=(0,C.ND)("ul",{class:"mlsys-lamps","aria-label":`Targets of ${W.title}`}),eH=(0,C.ND)("p",{class:"mlsys-sentence",role:"status","aria-live":"polite"}),eB=(0,C.ND)("table",{class:"mlsys-table"}),eU=(0,C.ND)("div",{}),eJ=(e,...t)=>(0,C.ND)("details",{class:"mlsys-fold"},(0,C.ND)("summary",{text:e}),...t),eV=(e,...t)=>(0,C.ND)("div",{class:"mlsys-scroll",tabindex:"0",role:"region","aria-label":e},...t),eY=(0,C.ND)("p",{class:"mlsys-hint"}),eZ=eJ("What would help?",eY),eK=eV(`The math of ${W.title}`),eX=eJ("The math",eK),eG=(o=window.matchMedia("(prefers-reduced-motion: reduce)"),n=(0,C.ND)("div",{class:"mlsys-stage",role:"img"}),i=(0,C.ND)("p",{class:"mlsys-caption",role:"status","aria-live":"polite"}),m=(0,C.ND)("button",{type:"button",text:"Play"}),d=(0,C.ND)("button",{type:"button",text:"◂ Step","aria-label":"One step back"}),p=(0,C.ND)("button",{type:"button",text:"Step ▸","aria-label":"One step forward"}),y=(0,C.ND)("select",{"aria-label":"Speed","data-lm-suppress-shortcuts":"true"},...ec.map(e=>(0,C.ND)("option",{value:e,text:`${e}\xd7`,selected:1===e}))),c=(0,C.ND)("input",{type:"range",min:0,max:1e3,step:1,value:0,"aria-label":"Time in the film","data-lm-suppress-shortcuts":"true"}),h=(0,C.ND)("div",{class:"mlsys-transport"},m,d,p,y,c),u=(0,C.ND)("div",{class:"mlsys-player"},h,n,i),b=null,f="",g=0,v=0,x=0,w=[],k=[],N=null,D=()=>{let e=N.clientWidth;b.actors.forEach((t,s)=>{let l=function([,,e,t],s){if(s<e[0][0]||null!==t&&s>=t)return null;let l=e.findIndex(([e])=>e>s);if(l<0)return e[e.length-1].slice(1);let[a,r]=[e[l-1],e[l]],o=(s-a[0])/(r[0]-a[0]);return a.slice(1).map((e,t)=>e+o*(r[t+1]-e))}(t,g),a=w[s];if(a.style.display=l?"":"none",!l)return;let[r,o,n,i]=l;a.classList.toggle("mlsys-narrow",k[s]>n*e),Object.assign(a.style,{left:`${100*r}%`,bottom:`${100*o}%`,width:`${100*n}%`,height:`${100*i}%`})}),c.value=String(Math.round(1e3*g/b.seconds));let t=b.moments.filter(([e])=>e<=g+1e-6).pop()??b.moments[0];i.textContent!==t[1]&&(i.textContent=t[1],n.setAttribute("aria-label",`${b.title}. ${t[1]}`),c.setAttribute("aria-valuetext",t[1]))},A=()=>{cancelAnimationFrame(v),v=0,m.textContent="Play"},z=e=>{g=Math.min(b.seconds,g+(e-x)/1e3*Number(y.value)),x=e,D(),g>=b.seconds||!u.isConnected?A():v=requestAnimationFrame(z)},L=e=>{A();let t=b.moments.map(([e])=>e);g=(e>0?t.find(e=>e>g+1e-6):t.filter(e=>e<g-1e-6).pop())??(e>0?b.seconds:0),D()},m.addEventListener("click",()=>v?A():(g>=b.seconds&&(g=0),o.matches)?L(1):void(m.textContent="Pause",x=performance.now(),v=requestAnimationFrame(z))),d.addEventListener("click",()=>L(-1)),p.addEventListener("click",()=>L(1)),c.addEventListener("input",()=>{A(),g=b.seconds*Number(c.value)/1e3,D()}),new ResizeObserver(()=>{b&&D()}).observe(n),{node:u,stop:A,show(e,t){if(u.classList.toggle("mlsys-stale",t),t)return A();let s=JSON.stringify(e);if(s===f)return;if(f=s,!e){A(),b=null,n.replaceChildren();return}g=(b?g/b.seconds:0)*(b=e).seconds,n.style.height=`${b.height}px`;let l=b.rows.map(([e,t])=>(0,C.ND)("span",{class:"mlsys-row-name",style:`bottom: ${100*e}%`,text:t}));w=b.actors.map(([e,t])=>(0,C.ND)("span",{class:"mlsys-actor",style:`background: ${t}`,text:e})),N=(0,C.ND)("div",{class:"mlsys-scene"},...w),n.replaceChildren((0,C.ND)("div",{class:"mlsys-rows"},...l),N);let a=`11.5px ${getComputedStyle(n).fontFamily}`;k=b.actors.map(([e])=>(eh.font=a,e?eh.measureText(e).width+6:0)),D()}}),eQ=eJ("Play it",eG.node),e0=(l=W.title,E=(0,C.ND)("div",{class:"mlsys-leading",role:"list","aria-label":`Main numbers of ${l}`,"aria-live":"polite"}),S=(0,C.ND)("div",{class:"mlsys-cards",role:"list","aria-label":`Other numbers of ${l}`}),(T=(0,C.ND)("details",{class:"mlsys-fold",open:U.has(l)},(0,C.ND)("summary",{text:"All numbers"}),S)).addEventListener("toggle",()=>{T.open?U.add(l):U.delete(l)}),q=[],$="",{large:E,fold:T,show(e,t){for(;q.length<e.length;)q.push(function(){let e=(0,C.ND)("span"),t=(0,C.ND)("strong"),s=(0,C.ND)("em"),l=(0,C.ND)("div",{class:"mlsys-card",role:"listitem"},e,t,s);return{box:l,show([a,r,o,n]){e.textContent!==a&&(e.textContent=a),t.textContent!==r&&(t.textContent=r),s.textContent!==n&&(s.textContent=n),l.classList.toggle("mlsys-long",r.length>20),l.style.setProperty("--tone",o)}}}());q.length=e.length,e.forEach((e,t)=>q[t].show(e));let s=`${t}/${e.length}`;s!==$&&($=s,E.replaceChildren(...t.map(e=>q[e].box)),S.replaceChildren(...q.filter((e,s)=>!t.includes(s)).map(({box:e})=>e)),E.hidden=!E.children.length,T.hidden=!S.children.length)}}),e1=eJ("Numbers as a table",eV(`Numbers of ${W.title}`,eB)),e2={hint:eZ,math:eX,table:e1,film:eQ};for(let[e,t]of Object.entries(e2)){let l=(s=_.open)[e]??(s[e]=new Set);a=_.state,t.open="table"===e?a.table.header.length>0:!!a[e],t.open&&l.add(t),t.addEventListener("toggle",()=>{let s=l.size;t.open?l.add(t):l.delete(t),!!s!=!!l.size&&eN("fold",{what:e,open:t.open})})}eQ.addEventListener("toggle",()=>{eQ.open||eG.stop()}),eQ.hidden=!W.film,eX.hidden=!W.math;let e4=(0,C.ND)("div",{class:"mlsys-readout"},e0.large,eF,eI,eH,eU,e0.fold,eZ,eQ,eX,e1,eP);t.append(e_,eE,eR,e4);let e3=(r=e=>{for(let t of eE.querySelectorAll("input, select, button"))t.disabled=e;for(let t of(e$.disabled=ej.disabled=e,Object.values(e2)))t.inert=e&&!t.open;for(let t of eA)t.freeze(e);(eL??t).classList.toggle("mlsys-frozen",e)},j=!1,O=new MutationObserver(P=()=>{let e=!!t.closest(".jupyter-widgets-disconnected");e!==j&&(j=e,eW.textContent=e?"This instrument has no kernel. Press Resume at the top of the lab.":"",eW.hidden=!e,r(e))}),{attach(e){for(let s of[t,t.parentElement,e])O.observe(s,{attributeFilter:["class"]});P()},get gone(){return j},remove(){O.disconnect()}}),e6="",e5="",e8="",e7="",e9=()=>{let s=_.state;for(let[l,a]of(es()||en(e,t,""),ey(),X=X.filter(e=>e.stamp>(s.stamps.command??0)),Object.entries(eC)))s.options?.[l]&&a.fill?.(s.options[l]),a.node.hidden=s.hidden.includes(l),(!el(l)||s.errors[l])&&(delete F[l],a.show(s.shown[l],s.values[l],s.errors[l]),a.complain?.(s.errors[l]??""));eT.hidden=[...eS.children].every(e=>e.hidden),e0.show(s.cards,s.leading);let l=JSON.stringify(s.lamps);l!==e7&&(e7=l,(0,C.v)(eF,s.lamps)),eH.textContent!==s.remark&&(eH.textContent=s.remark,M(eH));let[a,r]=s.alert??["",""];eI.textContent!==a&&(eI.textContent=a),eI.style.setProperty("--tone",r),eZ.hidden=!s.hints,eY.textContent!==s.hint&&(eY.textContent=s.hint),s.html!==e6&&(e6=s.html,eU.innerHTML=s.html??"");let o=JSON.stringify(s.math);if(o!==e8){e8=o;let e=eK.contains(document.activeElement)?document.activeElement.textContent:null;eK.replaceChildren(...(0,C.K)(s.math,e=>eN("part",{what:e}))),e&&[...eK.querySelectorAll("button")].find(t=>t.textContent===e)?.focus()}let n=JSON.stringify(s.table);n!==e5&&(e5=n,eB.replaceChildren(...(0,C.tp)(s.table))),eG.show(s.film,s.stale),clearTimeout(ee),s.stale&&eQ.open&&(ee=setTimeout(()=>eN("fold",{what:"film",open:!0}),300)),e$.textContent=s.pinned?"Unpin":"Pin",e$.title=s.pinned?"Let the pinned state go":"Keep this state as a ghost and compare with it",ej.textContent=s.undo?"Undo reset":"Reset",eP.hidden||(eP.textContent=s.code),eA.forEach((e,t)=>e.show(s.frames[t],s.handles[t],s.values)),ez.forEach((e,t)=>e.show(s.legends[t]??[],s.titles[t])),ew(t,W.title,s.sentence),clearTimeout(G),es()&&ef()},te=()=>{let e=t.closest(".mlsys-board")?.querySelectorAll(":scope > .mlsys-plot")??[];e.forEach((e,t)=>{if(!eA[t]){var s;let l,a,r,o,n,i,m,d,p,y,c,h,u;eA[t]=(s=(e,t)=>eg(e)(t),l=(0,C.ND)("div",{class:"mlsys-handles"}),a=new Map,r=null,o=null,n=[e.clientWidth,e.clientHeight],i=()=>{let[e,t,s,l]=r[2];return{left:l,top:e,width:n[0]-l-t,height:n[1]-e-s}},m=e=>{let{left:t,top:s,width:l,height:a}=i(),o=Math.min(1,Math.max(0,V(r[0],e.x))),n=Math.min(1,Math.max(0,V(r[1],e.y)));e.node.style.transform=`translate(${t+o*l}px, ${s+(1-n)*a}px)`},d=t=>{let{node:s,tip:l}=t;if(!s.matches(":hover, :focus-visible, .mlsys-held"))return;let a=e.closest(".mlsys-board")??e,r=a.getBoundingClientRect(),o=s.getBoundingClientRect(),n=e.getBoundingClientRect().width/e.clientWidth||1,i=l.offsetWidth*n,m=l.offsetHeight*n,d=[...a.querySelectorAll(".mlsys-plot text, .mlsys-legend li, .mlsys-card, .mlsys-sentence, .mlsys-lamps li")].map(e=>e.getBoundingClientRect()).filter(e=>e.width),p={x:(o.left+o.right)/2,y:(o.top+o.bottom)/2},y=[...[.5,1,.75,.25,0].flatMap(e=>[o.top-m-2,o.bottom+2].map(t=>[Math.min(Math.max(p.x-e*i,r.left+4),r.right-4-i),t])),[o.right+2,p.y-m/2],[o.left-2-i,p.y-m/2],[o.right+2,o.top-m-2],[o.right+2,o.bottom+2]],c=y.map(e=>(([e])=>e<r.left||e+i>r.right)(e)?1/0:(([e,t])=>d.reduce((s,l)=>s+Math.max(0,Math.min(e+i,l.right)-Math.max(e,l.left))*Math.max(0,Math.min(t+m,l.bottom)-Math.max(t,l.top)),0))(e));0!==c[t.side]&&(t.side=c.indexOf(Math.min(...c)));let[h,u]=y[t.side];l.style.left=`${(h-o.left)/n}px`,l.style.top=`${(u-o.top)/n}px`},p=(e,t)=>{o||requestAnimationFrame(()=>{let e=o;o=null,e()});let[s,l]=e.pulled;o=()=>ek(e.name,e.control,s,l,t)},y=(t,o)=>{let n=eD[o],m=function(e){if("slider"===e.kind)return{low:e.zero?0:e.low,high:e.high,at:e=>e,next:(t,s,l)=>H(e,t,s,l)};let t=e.options.map(([e])=>e);return{low:t[0],high:t[t.length-1],at:e=>t.indexOf(e),next:(e,s)=>{let l;return l=t.indexOf(e)+s,t[Math.min(t.length-1,Math.max(0,l))]}}}(n),y=(0,C.ND)("div",{class:"mlsys-handle",role:"slider",tabindex:"0","aria-label":n.label,"aria-valuemin":Z(m.at(m.low)),"aria-valuemax":Z(m.at(m.high)),"data-handle":t,"data-lm-suppress-shortcuts":"true"},(0,C.ND)("span",{class:"mlsys-grip"}),(0,C.ND)("span",{class:"mlsys-tip","aria-hidden":"true"})),c={name:t,control:o,node:y,scale:m,tip:y.lastChild};for(let t of(y.addEventListener("pointerdown",e=>{e.button||(e.preventDefault(),y.focus({preventScroll:!0}),y.setPointerCapture(e.pointerId),y.classList.add("mlsys-held"))}),y.addEventListener("pointermove",t=>{y.hasPointerCapture(t.pointerId)&&(c.pulled=(t=>{let s=e.getBoundingClientRect(),{left:l,top:a,width:o,height:n}=i(),m=s.width/e.clientWidth||1,d=((t.clientX-s.left)/m-l)/o,p=1-((t.clientY-s.top)/m-a)/n;return[Y(r[0],Math.min(1,Math.max(0,d))),Y(r[1],Math.min(1,Math.max(0,p)))]})(t),p(c,!0))}),["pointerenter","focus"]))y.addEventListener(t,()=>d(c));let h=()=>{y.classList.remove("mlsys-held"),c.pulled&&p(c,!1),c.pulled=null};return y.addEventListener("pointerup",h),y.addEventListener("pointercancel",h),y.addEventListener("keydown",e=>{let t=J[e.key];if(!t&&"Home"!==e.key&&"End"!==e.key)return;e.preventDefault(),e.stopPropagation();let l=t?m.next(c.value,c.flip?-t:t,e.key.startsWith("Page")):"Home"===e.key?m.low:m.high;c.value=l,s(o,l)}),l.append(y),a.set(t,c),c},c=0,h=()=>{if(r&&n[0]){for(let e of a.values())m(e);c||(c=requestAnimationFrame(()=>{for(let e of(c=0,a.values()))d(e)}))}},(u=new ResizeObserver(()=>{n=[e.clientWidth,e.clientHeight],h()})).observe(e),e.append(l),{plot:e,freeze(e){l.inert=e},show(e,t,s){r=e;let l=new Set(a.keys());for(let[e,r,o,n,i,m,d]of t){let t=a.get(e)??y(e,r);l.delete(e),Object.assign(t,{x:o,y:n,flip:m}),el(r)||(t.value=s[r]),t.node.dataset.along=i,t.node.setAttribute("aria-valuenow",Z(t.scale.at(s[r]))),t.node.setAttribute("aria-valuetext",d);let p=`${eD[r].label}: ${d}`;t.tip.textContent!==p&&(t.tip.textContent=p)}for(let e of l)a.get(e).node.remove(),a.delete(e);h()},remove(){u.disconnect(),cancelAnimationFrame(c),l.remove()}}),ez[t]=(0,C.Sj)(e,W.title),W.plots.length>1&&(ez[t].list.dataset.name=W.names[t]),eA[t].show(_.state.frames[t],_.state.handles[t],_.state.values),eA[t].freeze(e3.gone),ez[t].show(_.state.legends[t]??[],_.state.titles[t])}}),eM.take(eA.map((e,t)=>[e.plot,ez[t].list])),ew(t,W.title,_.state.sentence),[...e].filter(e=>e.querySelector("svg:not(.mlsys-sign)")).length===W.plots.length&&tt.disconnect()},tt=new MutationObserver(te),ts=()=>{eL||(eL=t.closest(".mlsys-board"))&&(eM=function(e,t,s,l,{names:a,heights:r}){let o=e.closest(".jp-WindowedPanel-outer")??document.documentElement,n=0,i=0,m="",d=[],p=e=>{n=e,[...s.children].forEach((t,s)=>t.setAttribute("aria-pressed",String(s===e))),d.forEach(([t,s],l)=>{for(let a of[t,s])a.classList.toggle("mlsys-away",l!==e)})};a.forEach((e,t)=>{let l=(0,C.ND)("button",{type:"button",text:e});l.addEventListener("click",()=>{p(t),u()}),s.append(l)});let y=()=>l.offsetHeight-[...l.querySelectorAll(":scope > details[open]")].reduce((e,t)=>e+t.offsetHeight-t.firstChild.offsetHeight,0),c=()=>r[n]*(Number(getComputedStyle(e).getPropertyValue("--mlsys-plot-growth"))||1),h=()=>getComputedStyle(e).gridTemplateColumns.trim().includes(" "),u=()=>{let a,i,p,u,b,f,g=o.clientHeight,v=d[n]?.[0];if(!g||!v||!e.offsetWidth||e.querySelector(".mlsys-held"))return;e.classList.toggle("mlsys-low",g<760);let x=[g,e.offsetWidth,d.length].join();x!==m&&(a=d.reduce((e,[,t],s)=>e+r[s]+t.offsetHeight,0),i=e.querySelector(".mlsys-head").offsetHeight+40,p=44*!!l.querySelector(".mlsys-alert:empty"),u=a+y()+p,b=t.offsetHeight,f=i+(h()?Math.max(b,u):b+u),e.classList.toggle("mlsys-compact",f>g-20)),m=x;let w=e.classList.contains("mlsys-compact");if(s.hidden=!w||d.length<2,!w){for(let[t]of(e.style.removeProperty("--plot-height"),d))er(t);return}let k=e.getBoundingClientRect(),N=v.getBoundingClientRect().top,D=k.width/e.offsetWidth||1,C=(N-k.top)/D,A=y()+20,z=h(),L=g-20-C-A-(z?0:t.offsetHeight),M=z?(t.getBoundingClientRect().bottom-N)/D-A:0,E=Math.max(ea(v)?v.classList.contains("mlsys-diagram")?c():260:170,Math.min(Math.max(c(),M),L));for(let[t]of(e.style.setProperty("--plot-height",`${Math.floor(E)}px`),d))er(t)},b=()=>{clearTimeout(i),i=setTimeout(u,150)},f=new ResizeObserver(b);for(let t of[o,e,l])f.observe(t);let g=new MutationObserver(b),v=0,x=new MutationObserver(e=>{e.some(({attributeName:e,target:t})=>"style"!==e||t.matches(".mlsys-handle"))&&(v||(v=requestAnimationFrame(w)))}),w=()=>{for(let[e]of(v=0,d))ea(e)&&er(e);x.takeRecords()};return{take(e){for(let[t]of d=e)g.observe(t,{subtree:!0,attributeFilter:["width","viewBox"]}),x.observe(t,{subtree:!0,childList:!0,attributeFilter:["transform","style"]});p(Math.min(n,Math.max(0,d.length-1))),u()},remove(){clearTimeout(i),cancelAnimationFrame(v),g.disconnect(),x.disconnect(),f.disconnect()}}}(eL,eE,eR,e4,W),e3.attach(eL),tt.observe(eL,{childList:!0,subtree:!0}),te())},tl=new ResizeObserver(ts);tl.observe(e4),_.views.add(e9);let ta=e=>{e?.newest&&es()&&(Q=0,ef())};return e.on("msg:custom",ta),e9(),requestAnimationFrame(ts),()=>{for(let e of(tt.disconnect(),tl.disconnect(),eM?.remove(),e3.remove(),clearTimeout(G),clearTimeout(ee),eG.stop(),[...eA,...ez]))e.remove();for(let[e,t]of Object.entries(e2))_.open[e].delete(t);_.views.delete(e9),e.off("msg:custom",ta),en(e,t,"")}}function ew(e,t,s){let l=`${t}. ${s}`;for(let t of e.closest(".mlsys-board")?.querySelectorAll(".mlsys-plot")??[])t.querySelectorAll(":scope svg:not(.mlsys-sign)").forEach((e,t)=>{t?e.setAttribute("aria-hidden","true"):e.getAttribute("aria-label")!==l&&(e.setAttribute("role","img"),e.setAttribute("aria-label",l))})}class ek extends l.DOMWidgetModel{initialize(e,t){super.initialize(e,t),D.n.dispatchEvent(new Event("model"))}async _handle_comm_msg(e){try{await super._handle_comm_msg(e)}catch(e){console.error(e),this.state_change=Promise.resolve(),this.trigger("mlsys:undrawn")}}}class eN extends ek{initialize(e,t){super.initialize(e,t),(0,S.no)(this),this.on("change:view",ep(this,()=>this.get("view").number??0))}}class eD extends ek{initialize(e,t){var s;let l;super.initialize(e,t),s=this,l={state:null,first:s.get("readout").number,pause:250,views:new Set,open:{},moved:{}},eu.set(s,l),l.begun=new Promise(e=>{l.begin=e}),l.take=()=>{s._closed||(l.taken=ev(s,l))},l.isShown=ep(s,()=>l.state?.number??0,async()=>{await s.state_change,await l.taken}),s.on("change:readout",l.take),l.take()}}eD.serializers={...l.DOMWidgetModel.serializers,readout:{serialize:e=>({...e})}};class eC extends l.DOMWidgetView{render(){var e,t;let s,l;this.cover=(e=this.model,t=this.el,(s=document.createElement("p")).className="mlsys-cover",s.setAttribute("role","status"),l=()=>{let l=[...e.standing?.values()??[]],a=["all","readout","note"].flatMap(e=>l.filter(({covered:t})=>t===e))[0];s.textContent!==(a?.words??"")&&(s.textContent=a?.words??""),s.hidden=!a,a?t.dataset.covered=a.covered:delete t.dataset.covered},e.on("mlsys:standing",l),l(),{sentence:s,remove:()=>e.off("mlsys:standing",l)}),this.listenTo(this.model,"mlsys:undrawn",()=>void this.attempt(250)),this.attempt(250)}async attempt(e){clearTimeout(this.again),this.stop?.(),this.stop=null,this.el.replaceChildren(this.cover.sentence);try{let e=await this.draw(this.model,this.el);if(this.isRemoved)return e();this.stop=e,en(this.model,this,""),this.el.querySelector(":scope > .mlsys-head")?.append(this.cover.sentence)}catch(t){console.error(t),en(this.model,this,`This could not be drawn (${t.message??t}). Trying again.`),this.again=setTimeout(()=>void this.attempt(Math.min(2*e,3e4)),e)}}remove(){return this.isRemoved=!0,clearTimeout(this.again),this.stop?.(),this.cover.remove(),en(this.model,this,""),super.remove()}}class eA extends eC{get draw(){return _}}class ez extends eC{get draw(){return ex}}},37(e,t,s){var l=s(31),a=s.n(l),r=s(32),o=(s.n(r))()(a());o.push([e.id,`/* Cards of a lab: what is asked, committed and said. Sizes, widths and colors: design.css. */
.mlsys-lab {
  display: grid !important;
  grid-template-columns: minmax(0, 1fr);
  container-type: inline-size;
  max-width: var(--mlsys-column);
  overflow: visible;
  font-family: var(--mlsys-font);
  font-size: var(--mlsys-text);
  color: var(--mlsys-ink);
}
.mlsys-lab-card-root { overflow: visible; }
.mlsys-lab-frame { position: relative; line-height: var(--mlsys-line-height); color: var(--mlsys-ink); }
.mlsys-lab-kind { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-title { font-size: var(--mlsys-lead); font-weight: var(--mlsys-strong); line-height: 1.3; margin: 0 0 var(--mlsys-gap); text-wrap: balance; }
.mlsys-lab-title small { font-size: var(--mlsys-note); font-weight: var(--mlsys-regular); color: var(--mlsys-quiet); }
.mlsys-lab-body { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; }
.mlsys-lab-frame p { margin: 0; }
.mlsys-lab-frame strong, .mlsys-lab-frame b { font-weight: var(--mlsys-strong); }
.mlsys-lab-prose p + p { margin-top: 10px; }
.mlsys-lab-edge { border-radius: var(--mlsys-radius); padding: 10px 14px; background: color-mix(in srgb, var(--tone) 11%, transparent); }
.mlsys-lab-quiet { font-size: var(--mlsys-note); color: var(--mlsys-quiet); }

/* A box only for what one acts on. */
.mlsys-lab-frame[data-look="task"] { border: 1px solid var(--mlsys-rule); border-radius: var(--mlsys-radius); padding: 16px 20px 20px; background: var(--mlsys-paper); }
/* Not open yet: a line that says what opens it. */
.mlsys-lab-frame[data-state="closed"][data-look] { border: 1px dashed var(--mlsys-edge); border-radius: var(--mlsys-radius); padding: 10px 20px; }
.mlsys-lab-frame[data-state="closed"] .mlsys-lab-title { margin: 0; font-size: var(--mlsys-text); }
/* Recorded: a line with the answer, and a link to change it. */
.mlsys-lab-frame[data-state="short"] .mlsys-lab-kind { display: none; }
.mlsys-lab-frame[data-state="short"] .mlsys-lab-body { gap: 8px; }
.mlsys-lab-frame[data-state="short"]:has(.mlsys-lab-recorded) { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 16px; border-color: transparent; padding: 10px 20px; background: color-mix(in srgb, var(--mlsys-ink) 5%, transparent); }
.mlsys-lab-frame[data-state="short"]:has(.mlsys-lab-recorded) > * { flex-basis: 100%; }
.mlsys-lab-frame[data-state="short"]:has(.mlsys-lab-recorded) > .mlsys-lab-body { flex: 1 1 0; min-width: min(100%, 260px); }
.mlsys-lab-frame[data-state="short"]:has(.mlsys-lab-recorded) > .mlsys-lab-link { flex-basis: auto; }
.mlsys-lab-frame[data-state="short"]:has(.mlsys-lab-recorded) .mlsys-lab-title { margin: 0; font-size: var(--mlsys-note); font-weight: var(--mlsys-regular); color: var(--mlsys-quiet); text-wrap: wrap; }
/* Told: the question with what was chosen, the verdict and why. */
.mlsys-lab-frame[data-state="short"] .mlsys-lab-title { font-size: var(--mlsys-text); margin-bottom: 4px; }
.mlsys-lab-frame[data-state="short"] > .mlsys-lab-link { margin-top: 4px; }
.mlsys-lab-frame[data-state="short"] label:has(input:not(:checked)) { display: none; }
.mlsys-lab-frame[data-state="short"] .mlsys-lab-options label:has(:checked) { min-height: 0; border: 0; padding: 2px 0; box-shadow: none; background: none; }
.mlsys-lab-frame[data-state="short"] .mlsys-lab-field > legend { margin-bottom: 2px; }
.mlsys-lab-recorded { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 12px; }
.mlsys-lab-recorded time { font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-padlock { margin-right: 8px; color: var(--mlsys-quiet); }
.mlsys-lab-padlock svg { vertical-align: -2px; }
.mlsys-lab-frame[data-state="opened"] > .mlsys-lab-link { position: absolute; top: 14px; right: 20px; }

/* A message reads like a letter. */
.mlsys-lab-frame[data-look="letter"] { padding: 8px 0; }
.mlsys-lab-frame[data-look="letter"] .mlsys-lab-kind { display: none; }
.mlsys-lab-frame[data-look="letter"]:not([data-state="closed"]) .mlsys-lab-title { margin-bottom: 0; }
.mlsys-lab-frame[data-look="letter"] .mlsys-lab-edge { border-radius: 0; padding: 12px 0 0; border-top: 1px solid var(--mlsys-rule); background: none; }
/* What to take away is the end of a page. */
.mlsys-lab-frame[data-look="ending"] { border-top: 2px solid var(--mlsys-ink); padding: 16px 0 0; }
.mlsys-lab-frame[data-look="ending"] .mlsys-lab-title { font-size: var(--mlsys-title); }
.mlsys-lab-frame[data-look="ending"] .mlsys-lab-points li > :first-child { font-size: var(--mlsys-lead); line-height: 1.4; }
.mlsys-lab-frame[data-look="ending"] .mlsys-lab-points li::marker { font-size: var(--mlsys-lead); color: var(--mlsys-quiet); }
/* Where one stands: quiet. */
.mlsys-lab-frame[data-look="note"] { border-top: 1px solid var(--mlsys-rule); padding: 12px 0 0; }
.mlsys-lab-frame[data-look="note"] :is(.mlsys-lab-rows, .mlsys-lab-prose) { font-size: var(--mlsys-note); }
/* The first page: the question, then how long and what. */
.mlsys-lab-frame[data-look="cover"] { padding: 8px 0 16px; border-bottom: 1px solid var(--mlsys-rule); }
.mlsys-lab-frame[data-look="cover"] .mlsys-lab-kind { display: none; }
.mlsys-lab-frame[data-look="cover"] .mlsys-lab-title { font-size: var(--mlsys-title); line-height: 1.2; margin-top: 4px; }
.mlsys-lab-moving { margin: 0; }
.mlsys-lab-moving svg { display: block; width: 100%; height: auto; }
.mlsys-lab-moving figcaption { margin-top: 4px; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
@media (prefers-reduced-motion: reduce) { .mlsys-lab-moving button { display: none; } }
.mlsys-lab-goon { display: none; }
.mlsys-LabNotebook .mlsys-lab-goon { display: flex; }
.mlsys-lab-path { list-style: none; margin: 0; padding: 0; }
.mlsys-lab-path li { display: grid; grid-template-columns: 24px minmax(0, 1fr); gap: 0 12px; padding-bottom: 12px; background: linear-gradient(var(--mlsys-rule), var(--mlsys-rule)) 11.5px 26px / 1px calc(100% - 28px) no-repeat; }
.mlsys-lab-path li:last-child { padding-bottom: 0; background: none; }
.mlsys-lab-path b { width: 22px; height: 22px; border: 1px solid var(--mlsys-edge); border-radius: 50%; font-size: var(--mlsys-note); line-height: 22px; text-align: center; }
.mlsys-lab-path small { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }

/* What is filled in. */
.mlsys-lab-field { border: 0; margin: 0; padding: 0; min-width: 0; }
.mlsys-lab-field > legend, .mlsys-lab-field > label { display: block; padding: 0; margin: 0 0 10px; font-size: inherit; color: inherit; }
.mlsys-lab-options { display: grid; gap: 8px; }
.mlsys-lab-tiles { grid-template-columns: repeat(auto-fit, minmax(min(100%, 230px), 1fr)); }
.mlsys-lab-inline { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.mlsys-lab-options label, .mlsys-lab-inline label { display: flex; gap: 10px; align-items: baseline; min-height: 44px; border: 1px solid var(--mlsys-edge); border-radius: var(--mlsys-radius); padding: 8px 14px; box-sizing: border-box; cursor: pointer; }
:is(.mlsys-lab-options, .mlsys-lab-inline) label:has(:disabled) { cursor: default; color: var(--mlsys-quiet); }
:is(.mlsys-lab-options, .mlsys-lab-inline) label:has(:disabled:checked) { color: inherit; }
:is(.mlsys-lab-options, .mlsys-lab-inline) label:hover:not(:has(:disabled)) { background: var(--mlsys-tint); }
:is(.mlsys-lab-options, .mlsys-lab-inline) label:has(:checked) { border-color: var(--mlsys-focus); box-shadow: inset 0 0 0 1px var(--mlsys-focus); background: color-mix(in srgb, var(--mlsys-focus) 12%, transparent); }
.mlsys-lab-options small { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-frame input[type="radio"], .mlsys-lab-frame input[type="checkbox"] { accent-color: var(--mlsys-focus); margin: 0; flex: none; width: 16px; height: 16px; translate: 0 2px; }
/* A number: a mark on a scale that is drawn like the axis of an instrument. */
.mlsys-lab-scale { margin: 4px 0 16px; }
.mlsys-lab-scale input { appearance: none; display: block; width: 100%; height: 32px; margin: 0; background: linear-gradient(var(--mlsys-quiet), var(--mlsys-quiet)) center / 100% 1px no-repeat; cursor: crosshair; }
.mlsys-lab-scale input::-webkit-slider-thumb { appearance: none; width: 6px; height: 28px; border: 0; border-radius: 3px; background: var(--mlsys-prediction); }
.mlsys-lab-scale input::-moz-range-thumb { width: 6px; height: 28px; border: 0; border-radius: 3px; background: var(--mlsys-prediction); }
.mlsys-lab-scale input.mlsys-lab-unmarked::-webkit-slider-thumb { opacity: 0; }
.mlsys-lab-scale input.mlsys-lab-unmarked::-moz-range-thumb { opacity: 0; }
.mlsys-lab-ticks { display: flex; justify-content: space-between; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-ticks span { position: relative; width: 0; display: flex; justify-content: center; white-space: nowrap; }
.mlsys-lab-ticks span::before { content: ""; position: absolute; top: -20px; height: 8px; border-left: 1px solid var(--mlsys-quiet); }
.mlsys-lab-ticks span:first-child { justify-content: start; }
.mlsys-lab-ticks span:last-child { justify-content: end; }
/* How sure one is: five steps in a row, part of the same gesture. */
.mlsys-lab-confidence .mlsys-lab-inline { display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 4px 0; max-width: 360px; }
.mlsys-lab-confidence .mlsys-lab-inline label { flex-direction: column-reverse; align-items: center; gap: 4px; padding: 6px 4px 10px; border-radius: 0; margin-left: -1px; }
.mlsys-lab-confidence .mlsys-lab-inline label:first-of-type { border-radius: var(--mlsys-radius) 0 0 var(--mlsys-radius); margin-left: 0; }
.mlsys-lab-confidence .mlsys-lab-inline label:last-of-type { border-radius: 0 var(--mlsys-radius) var(--mlsys-radius) 0; }
.mlsys-lab-confidence .mlsys-lab-inline label:has(:checked) { z-index: 1; font-weight: var(--mlsys-strong); }
.mlsys-lab-confidence .mlsys-lab-inline input { translate: none; }
.mlsys-lab-confidence .mlsys-lab-inline > span { grid-row: 2; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-confidence .mlsys-lab-inline > span:last-child { grid-column: 5; justify-self: end; }
.mlsys-lab-frame button, .mlsys-lab-frame select, .mlsys-lab-frame input[type="text"], .mlsys-lab-frame textarea {
  font: inherit; color: inherit; background: var(--mlsys-field);
  border: 1px solid var(--mlsys-edge); border-radius: 6px; padding: 6px 14px; min-height: 36px; box-sizing: border-box; max-width: 100%;
}
.mlsys-lab-frame textarea { width: 100%; resize: vertical; line-height: var(--mlsys-line-height); padding: 8px 12px; }
.mlsys-lab-frame textarea.mlsys-lab-code { font-family: var(--jp-code-font-family, monospace); white-space: pre; tab-size: 4; }
.mlsys-lab-frame input[type="text"] { width: 240px; }
.mlsys-lab-frame select { padding: 2px 8px; margin: 0 3px; min-height: 32px; }

/* Buttons: one of a page is filled, that of the card that leads or that somebody works on; or that of the Lab panel,
   when handing in is what is left. */
.mlsys-lab-frame button { cursor: pointer; }
.mlsys-lab-frame button:hover { background: var(--mlsys-tint); }
.mlsys-lab-frame button.mlsys-lab-main:not(.mlsys-lab-again) { border-color: var(--mlsys-primary); font-weight: var(--mlsys-strong); }
.mlsys-lab-frame:is(body:not(.mlsys-mod-readyToHandIn) .mlsys-lab-leads, :focus-within):is([data-state="open"], .mlsys-lab-entered) button.mlsys-lab-main:not(.mlsys-lab-again) { background: var(--mlsys-primary); color: #fff; }
.mlsys-lab-frame:is(body:not(.mlsys-mod-readyToHandIn) .mlsys-lab-leads, :focus-within):is([data-state="open"], .mlsys-lab-entered) button.mlsys-lab-main:not(.mlsys-lab-again):hover { background: var(--mlsys-primary-hover); }
.mlsys-lab-frame .mlsys-lab-link, .mlsys-lab-frame .mlsys-lab-beside button { border: 0; padding: 2px 0; min-height: 24px; background: none; font-size: var(--mlsys-note); color: var(--mlsys-link); text-decoration: underline; text-underline-offset: 2px; }
.mlsys-lab-frame .mlsys-lab-link:hover, .mlsys-lab-frame .mlsys-lab-beside button:hover { background: none; text-decoration-thickness: 2px; }
.mlsys-lab-frame[aria-busy] button { cursor: progress; }
.mlsys-lab-frame :is(button, select, input, textarea, summary):focus-visible { outline: 2px solid var(--mlsys-focus); outline-offset: 2px; }
.mlsys-lab-frame [tabindex="-1"]:focus-visible { outline: 2px solid var(--mlsys-focus); outline-offset: 3px; border-radius: 2px; }
.mlsys-lab-buttons { display: flex; flex-wrap: wrap; gap: 8px; }
.mlsys-lab-hint { font-size: var(--mlsys-note); color: var(--mlsys-quiet); margin-top: 6px !important; }
.mlsys-lab-count { font-size: var(--mlsys-note); font-variant-numeric: tabular-nums; color: var(--mlsys-quiet); margin-top: 6px !important; }
.mlsys-lab-count:not([data-length="fits"]) { color: var(--mlsys-ink); font-weight: var(--mlsys-strong); }
.mlsys-lab-beside { display: none; }
.mlsys-mod-offersBeside .mlsys-lab-beside { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-blanks { line-height: 2.2; }
.mlsys-lab-after { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; margin-top: 16px; border-radius: var(--mlsys-radius); padding: 10px 14px; background: color-mix(in srgb, var(--mlsys-failure) 12%, transparent); }
.mlsys-lab-trouble { flex: 1 1 300px; overflow-wrap: anywhere; }

/* What is said. */
.mlsys-lab-cards { display: grid; gap: 12px 24px; grid-template-columns: repeat(auto-fit, minmax(168px, 1fr)); }
.mlsys-lab-card:only-child { max-width: 300px; }
@container (max-width: 480px) { .mlsys-lab-frame[data-look="note"] .mlsys-lab-cards { gap: 12px 16px; grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.mlsys-lab-card { border-top: 2px solid var(--tone, var(--mlsys-textbook)); padding: 6px 0 0; min-width: 0; }
.mlsys-lab-card span, .mlsys-lab-card small { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-card strong { display: block; margin: 2px 0; font-size: var(--mlsys-lead); line-height: 1.3; overflow-wrap: anywhere; }
.mlsys-lab-steps { display: grid; gap: 10px 24px; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); }
.mlsys-lab-steps section > p { display: flex; justify-content: space-between; gap: 8px; }
.mlsys-lab-steps section > p span { color: var(--mlsys-quiet); }
:is(.mlsys-lab-steps, .mlsys-lab-progress) progress { display: block; appearance: none; width: 100%; height: 6px; margin: 4px 0 8px; border: 0; border-radius: 3px; overflow: hidden; background: var(--jp-layout-color3, #d0d0d0); }
:is(.mlsys-lab-steps, .mlsys-lab-progress) progress::-webkit-progress-bar { background: var(--jp-layout-color3, #d0d0d0); }
:is(.mlsys-lab-steps, .mlsys-lab-progress) progress::-webkit-progress-value { background: var(--mlsys-measured); }
:is(.mlsys-lab-steps, .mlsys-lab-progress) progress::-moz-progress-bar { background: var(--mlsys-measured); }
.mlsys-lab-steps ul { list-style: none; margin: 0; padding: 0; }
.mlsys-lab-steps li { display: flex; gap: 8px; color: var(--mlsys-quiet); }
.mlsys-lab-steps li.mlsys-lab-done { color: var(--mlsys-ink); }
.mlsys-lab-rows { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: fit-content(48%) 1fr; gap: 6px 16px; }
.mlsys-lab-rows li { display: contents; }
.mlsys-lab-fold > summary { cursor: pointer; width: fit-content; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-fold > .mlsys-lab-rows { margin-top: 6px; }
.mlsys-lab-points { margin: 0; padding-left: 28px; }
.mlsys-lab-points li { margin: 0 0 10px; }
.mlsys-lab-points li > strong { display: block; }
.mlsys-lab-frame code { font-family: var(--jp-code-font-family, monospace); font-size: 0.92em; background: var(--mlsys-tint); border-radius: 3px; padding: 0 3px; }
.mlsys-lab-whole { white-space: nowrap; }
.mlsys-lab-unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.mlsys-lab-frame [hidden] { display: none !important; }
/* A plot continues its card. */
.mlsys-lab:has(> .mlsys-plot) .mlsys-lab-frame { border-bottom: 0; border-radius: var(--mlsys-radius) var(--mlsys-radius) 0 0; }
.mlsys-lab > .mlsys-plot { margin: 0; min-width: 0; box-sizing: border-box; border: 1px solid var(--mlsys-rule); border-top: 0; border-radius: 0 0 var(--mlsys-radius) var(--mlsys-radius); background: var(--mlsys-paper); }
.widget-html:has(> * > .mlsys-locked), .widget-htmlmath:has(> * > .mlsys-peek) { margin: 0; }
.mlsys-locked { max-width: var(--mlsys-column); box-sizing: border-box; border: 1px dashed var(--mlsys-edge); border-radius: var(--mlsys-radius); padding: 16px 20px; font-size: var(--mlsys-text); line-height: var(--mlsys-line-height); color: var(--mlsys-ink); }
@container (max-width: 480px) { .mlsys-lab-frame[data-look="task"] { padding: 12px 14px 14px; } }
/* What has just become short shows that it did. */
@keyframes mlsys-settle { from { opacity: 0.3; } }
.mlsys-lab-frame[data-state="short"] { animation: mlsys-settle var(--mlsys-move) ease-out; }
/* The bar of folded code between cards is a hairline until somebody wants it. */
.jp-Cell:has(.mlsys-lab, .mlsys-instrument, .mlsys-locked) .jp-InputPlaceholder { height: 4px; min-height: 0; opacity: 0.45; overflow: hidden; transition: height 0.12s; }
.jp-Cell:has(.mlsys-lab, .mlsys-instrument, .mlsys-locked) .jp-InputPlaceholder > * { visibility: hidden; }
.jp-Cell:has(.mlsys-lab, .mlsys-instrument, .mlsys-locked) .jp-Cell-inputWrapper:is(:hover, :focus-within) .jp-InputPlaceholder { height: 20px; opacity: 1; }
.jp-Cell:has(.mlsys-lab, .mlsys-instrument, .mlsys-locked) .jp-Cell-inputWrapper:is(:hover, :focus-within) .jp-InputPlaceholder > * { visibility: visible; }
@media (prefers-reduced-motion: reduce) { .jp-InputPlaceholder { transition: none !important; } }

/* What is entered and not recorded: a line below, and an edge where it differs from what is. */
.mlsys-lab-differs { position: relative; }
.mlsys-lab-differs::before { content: ""; position: absolute; inset: 0 auto 0 -12px; width: 3px; border-radius: 2px; background: #b45309; }
.mlsys-lab-draft, .mlsys-lab-rival { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin: 10px 0 0; font-size: var(--mlsys-note); }
.mlsys-lab-unrecorded { margin: 0; font-style: italic; }
.mlsys-lab-rival p { flex-basis: 100%; margin: 0; overflow-wrap: anywhere; }

/* A sentence of one's own belongs to the comparison above it, and is quieter. */

.mlsys-lab-own .mlsys-lab-title {
  font-size: var(--mlsys-text);
}

.mlsys-lab-own .mlsys-lab-frame:not([data-state="short"]) {
  border-top: none;
}
`,""]),s.d(t,{},{A:o})},39(e,t,s){var l=s(31),a=s.n(l),r=s(32),o=(s.n(r))()(a());o.push([e.id,`/* One visual language for all instruments: the picture first, two large numbers below it, and the controls
   beside both. Sizes and colors come from design.css. */
.mlsys-instrument {
  container-type: inline-size;
  font-family: var(--mlsys-font);
  font-size: var(--mlsys-note);
  color: var(--mlsys-ink);
  max-width: var(--mlsys-wide);
  overflow: visible;
}
.mlsys-board {
  display: grid !important;
  grid-template-columns: minmax(0, 1fr);
  gap: 6px 16px;
  align-items: start;
  border: 1px solid var(--mlsys-rule);
  border-radius: var(--mlsys-radius);
  padding: 12px 16px;
  background: var(--mlsys-paper);
  overflow: visible;
}
/* The panel's own box disappears: its parts are laid out together with the plots. */
.mlsys-panel { display: contents !important; }
/* Plots that are shown one at a time share a cell: without a column they would make a second one. */
.mlsys-board > :is(.mlsys-plot, .mlsys-legend), .mlsys-panel > :is(.mlsys-head, .mlsys-tabs, .mlsys-controls, .mlsys-readout) { grid-column: 1; }
.mlsys-head { order: 0; display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: baseline; }
.mlsys-tabs { order: 1; display: flex; flex-wrap: wrap; gap: 6px; }
.mlsys-board > .mlsys-plot, .mlsys-board > .mlsys-legend { order: 2; min-width: 0; margin: 0; }
/* Where they do not stand beside the picture, controls come last: what it says is read with it. */
.mlsys-controls { order: 4; }
.mlsys-readout { order: 3; min-width: 0; display: flex; flex-wrap: wrap; gap: 0 18px; align-items: baseline; }
.mlsys-readout > :not(.mlsys-fold), .mlsys-fold[open] { flex: 1 0 100%; min-width: 0; box-sizing: border-box; }
@container (min-width: 620px) {
  /* The last row takes what controls need beyond the height of plots and readout. */
  .mlsys-board { grid-template-columns: 186px minmax(0, 1fr); grid-template-rows: repeat(14, auto) 1fr; row-gap: 0; }
  .mlsys-panel > .mlsys-head { grid-column: 1 / -1; margin-bottom: 6px; }
  .mlsys-board > .mlsys-panel > .mlsys-controls { grid-row: 2 / 16; }
  .mlsys-board > :is(.mlsys-plot, .mlsys-legend), .mlsys-panel > :is(.mlsys-tabs, .mlsys-readout) { grid-column: 2; }
}
@container (min-width: 900px) { .mlsys-board { grid-template-columns: 264px minmax(0, 1fr); } }
.mlsys-title { font-size: var(--mlsys-text); font-weight: var(--mlsys-strong); margin: 0; flex: 1 1 auto; }
.mlsys-tools { display: flex; gap: 6px; flex-wrap: wrap; }
.mlsys-panel :is(button, select, input[type="text"], .mlsys-chosen) {
  font: inherit; color: inherit;
  background: var(--mlsys-field);
  border: 1px solid var(--mlsys-edge);
  border-radius: 5px; padding: 4px 9px; min-height: 28px; box-sizing: border-box;
}
.mlsys-panel button { cursor: pointer; }
.mlsys-panel button:hover { background: var(--mlsys-tint); }
.mlsys-panel :is(button, select, input, summary, a):focus-visible, .mlsys-menu:has(:focus-visible) {
  outline: 2px solid var(--mlsys-focus); outline-offset: 1px;
}
.mlsys-panel button[aria-pressed="true"] { border-color: var(--mlsys-focus); box-shadow: inset 0 0 0 1px var(--mlsys-focus); }
.mlsys-controls { display: grid; gap: 8px 14px; align-content: start; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); }
.mlsys-more { grid-column: 1 / -1; }
.mlsys-more > .mlsys-controls { margin-top: 6px; }
.mlsys-control { position: relative; min-width: 0; border: 0; margin: 0; padding: 0; }
.mlsys-control > :is(label, legend) { display: block; color: var(--mlsys-quiet); line-height: 1.3; margin-bottom: 1px; padding: 0; }
.mlsys-row { display: flex; gap: 6px; align-items: center; }
.mlsys-row input[type="range"] { flex: 1 1 auto; min-width: 60px; accent-color: var(--mlsys-model); }
/* Beside a color of ours that is too dark for it, the browser would draw a white track. */
[data-jp-theme-light="false"] :is(.mlsys-row, .mlsys-transport) input[type="range"] { color-scheme: dark; accent-color: auto; }
.mlsys-row input[type="text"] { flex: 0 0 106px; width: 106px; padding-inline: 6px; text-align: right; font-variant-numeric: tabular-nums; }
/* What is chosen may need two lines, which no browser gives to a menu: it lies over its words, unseen. */
.mlsys-menu { display: grid; position: relative; border-radius: 5px; }
.mlsys-menu > * { grid-area: 1 / 1; min-width: 0; }
.mlsys-panel .mlsys-menu > select { opacity: 0; width: 100%; height: 100%; cursor: pointer; }
.mlsys-panel .mlsys-menu > .mlsys-chosen { padding-right: 26px; line-height: 1.3; pointer-events: none; overflow-wrap: anywhere; }
.mlsys-chosen::after { content: ""; position: absolute; right: 10px; top: 50%; width: 6px; height: 6px; border: solid currentColor; border-width: 0 1.5px 1.5px 0; transform: translateY(-70%) rotate(45deg); }
.mlsys-menu > select:disabled + .mlsys-chosen { opacity: 0.6; }
/* Help appears under the label that is pointed at, over its own control, and below a control that the keyboard has
   come to, until a key is pressed; screen readers always read it. Nothing that one works with is covered. While it
   is hidden it has no height: below the last control, it would give the whole instrument a scroll bar. */
.mlsys-help {
  position: absolute; z-index: 5; top: 1.4em; left: 0; right: 0; margin: 2px 0 0; padding: 0 9px;
  line-height: 1.35; border: 0 solid var(--mlsys-edge); border-radius: 5px; pointer-events: none;
  background: var(--mlsys-field);
  opacity: 0; visibility: hidden; max-height: 0; overflow: hidden;
}
.mlsys-control:has(> :is(label, legend):hover, > .mlsys-pills > label[for]:hover) > .mlsys-help, .mlsys-helped > .mlsys-help { max-height: none; padding-block: 6px; border-width: 1px; opacity: 1; visibility: visible; transition: opacity 0.15s 0.35s, visibility 0s 0.35s; }
.mlsys-helped > .mlsys-help, .mlsys-pills + .mlsys-help { top: 100%; }
.mlsys-control > :is(label, legend) { width: fit-content; cursor: help; }
.mlsys-pills { display: flex; flex-wrap: wrap; gap: 0 10px; }
.mlsys-pills label { display: inline-flex; gap: 5px; align-items: center; font-weight: var(--mlsys-regular); line-height: 1.25; min-height: 24px; }
.mlsys-error { color: #c0392b; font-weight: var(--mlsys-strong); margin: 4px 0 0; }
.jp-mod-dark .mlsys-error, [data-jp-theme-light="false"] .mlsys-error { color: #ff8a75; }
.mlsys-lamps { display: flex; flex-wrap: wrap; gap: 6px 18px; list-style: none; margin: 0 0 8px; padding: 0; font-size: var(--mlsys-text); }
.mlsys-lamps li { display: inline-flex; gap: 6px; align-items: center; min-width: 0; flex-wrap: wrap; }
.mlsys-lamps strong { font-weight: var(--mlsys-strong); font-variant-numeric: tabular-nums; }
.mlsys-lamp { flex: none; width: 18px; height: 18px; line-height: 18px; border-radius: 50%; text-align: center; font-size: var(--mlsys-note); font-weight: var(--mlsys-strong); color: #fff; background: color-mix(in srgb, var(--tone) 80%, #000); }
/* Two numbers lead; all others are small, on demand, and stand in columns. */
.mlsys-leading { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 6px 16px; margin: 6px 0 8px; }
.mlsys-cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px 16px; margin: 4px 0 10px; }
.mlsys-card { border-left: 4px solid var(--tone, var(--mlsys-textbook)); padding-left: 10px; min-width: 0; }
.mlsys-card :is(span, em) { display: block; color: var(--mlsys-quiet); font-style: normal; line-height: 1.3; }
.mlsys-card em:empty { display: none; }
.mlsys-card strong { display: block; font-size: var(--mlsys-text); font-weight: var(--mlsys-strong); line-height: 1.25; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.mlsys-leading > .mlsys-card strong { font-size: var(--mlsys-title); line-height: 1.15; }
.mlsys-leading > .mlsys-card.mlsys-long strong { font-size: var(--mlsys-text); line-height: 1.3; text-wrap: balance; }
.mlsys-sentence, .mlsys-hint, .mlsys-most { margin: 0 0 8px; line-height: 1.5; }
.mlsys-sentence { font-size: var(--mlsys-text); line-height: 1.4; }
.mlsys-alert { border-left: 4px solid var(--tone, var(--mlsys-failure)); border-radius: 6px; padding: 6px 12px; margin: 0 0 8px; background: color-mix(in srgb, var(--tone, var(--mlsys-failure)) 12%, transparent); font-size: var(--mlsys-text); line-height: 1.4; }
.mlsys-alert:empty { display: none; }
.mlsys-readout > div > ul { margin: 0 0 6px; padding-left: 18px; line-height: 1.35; }
.mlsys-legend { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0 0 0 12px; list-style: none; }
/* The name of a plot, which texts call it by; where one plot is shown at a time, a button has it. */
.mlsys-legend[data-name] { display: flex; }
.mlsys-legend[data-name]::before { content: attr(data-name); font-weight: var(--mlsys-strong); }
.mlsys-compact > .mlsys-legend[data-name]::before { content: none; }
.mlsys-compact > .mlsys-legend[data-name][hidden] { display: none; }
.mlsys-legend > .mlsys-plot-title { flex: 1 0 100%; }
.mlsys-legend li { display: inline-flex; align-items: center; gap: 6px; }
.mlsys-table { width: 100%; border-collapse: collapse; font-size: var(--mlsys-note); font-variant-numeric: tabular-nums; }
.mlsys-table th, .mlsys-table td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--mlsys-rule); font-weight: var(--mlsys-regular); background: transparent; white-space: normal; }
.mlsys-table .mlsys-short { white-space: nowrap; }
.mlsys-table thead th { font-weight: var(--mlsys-strong); }
.mlsys-scroll { overflow-x: auto; }
.mlsys-panel summary { cursor: pointer; padding: 3px 0; width: fit-content; }
.mlsys-code { font-family: var(--jp-code-font-family, monospace); background: var(--mlsys-tint); border-radius: 5px; padding: 5px 8px; overflow-wrap: anywhere; margin: 6px 0 0; }
/* bqplot: text in the theme's own color; its dark theme would turn titles orange. */
.mlsys-plot { --bq-content-font-color: var(--mlsys-ink); --bq-axislabel-fill: var(--mlsys-ink); --bq-axis-tick-text-fill: var(--mlsys-ink); --bq-mainheading-fill: var(--mlsys-ink); --bq-axis-path-stroke: var(--mlsys-edge); --bq-grid-line-stroke: var(--mlsys-rule); }
.mlsys-plot .axis text, .mlsys-plot .axislabel { fill: var(--mlsys-ink) !important; font-size: 12px !important; font-weight: 400 !important; }
.mlsys-plot .plotarea_background { fill: transparent !important; }
.mlsys-plot svg.svg-background { background: transparent !important; }
.mlsys-plot .axis .grid line, .mlsys-plot .axis line { stroke-opacity: 0.35; }
@media (prefers-reduced-motion: no-preference) { .mlsys-card { transition: border-color 0.15s; } }
.mlsys-panel [hidden] { display: none !important; }
.mlsys-locked { border: 1px dashed var(--mlsys-edge); border-radius: 8px; padding: 18px 20px; line-height: 1.5; color: var(--mlsys-ink); }
.mlsys-derivation { margin: 4px 0 10px; padding-left: 24px; line-height: 1.5; overflow-wrap: anywhere; }
.mlsys-derivation li { margin: 0 0 7px; }
.mlsys-about { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-parts { display: flex; flex-wrap: wrap; gap: 6px; margin: 4px 0 6px; }
/* What can be dragged: a small grip on a target large enough for a finger. */
.mlsys-plot { position: relative; }
.mlsys-handles { position: absolute; inset: 0; pointer-events: none; z-index: 3; }
.mlsys-handle { position: absolute; top: -16px; left: -16px; width: 32px; height: 32px; border-radius: 50%; pointer-events: auto; cursor: grab; touch-action: none; }
.mlsys-handle[data-along="x"] { cursor: ew-resize; }
.mlsys-handle[data-along="y"] { cursor: ns-resize; }
.mlsys-grip { position: absolute; inset: 9px; border-radius: 50%; border: 2px solid var(--mlsys-ink); background: color-mix(in srgb, var(--mlsys-paper) 65%, transparent); box-sizing: border-box; }
.mlsys-handle:is(:hover, :focus-visible, .mlsys-held) > .mlsys-grip { inset: 7px; border-color: var(--mlsys-focus); background: var(--mlsys-paper); }
.mlsys-handle:focus { outline: none; }
.mlsys-handle:focus-visible > .mlsys-grip { outline: 2px solid var(--mlsys-focus); outline-offset: 2px; }
.mlsys-tip { position: absolute; top: -26px; left: 0; white-space: nowrap; padding: 3px 8px; border-radius: 5px; font-size: var(--mlsys-note); pointer-events: none; color: var(--jp-ui-inverse-font-color1, #fff); background: var(--jp-inverse-layout-color1, #303030); display: none; }
.mlsys-handle:is(:hover, :focus-visible, .mlsys-held) > .mlsys-tip { display: block; }
/* Films. */
.mlsys-transport { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 4px 0 8px; }
.mlsys-transport input { flex: 1 1 160px; accent-color: var(--mlsys-focus); }
.mlsys-stage { position: relative; border: 1px solid var(--mlsys-rule); border-radius: 6px; overflow: hidden; background: var(--mlsys-field); }
.mlsys-rows { position: absolute; inset: 0 auto 0 0; width: 76px; }
.mlsys-row-name { position: absolute; left: 8px; max-width: 68px; font-size: var(--mlsys-note); line-height: 1.2; transform: translateY(50%); }
.mlsys-scene { position: absolute; inset: 0 8px 0 84px; }
.mlsys-actor { position: absolute; border-radius: 3px; overflow: hidden; color: #fff; font-size: 11.5px; line-height: 1.3; padding: 1px 3px; box-sizing: border-box; white-space: nowrap; text-shadow: 0 0 3px #0009; }
/* A label that does not fit is left out: half a word says nothing. */
.mlsys-actor.mlsys-narrow { font-size: 0; }
.mlsys-caption { margin: 6px 0 8px; min-height: 1.5em; line-height: 1.5; }
.mlsys-stale > .mlsys-stage { opacity: 0.35; }
/* Where the plots together do not fit the window: one at a time, as high as there is room for. */
.mlsys-compact > .mlsys-plot { height: var(--plot-height, 300px) !important; }
.mlsys-compact > .mlsys-panel > .mlsys-head { grid-row: 1; }
.mlsys-compact > .mlsys-panel > .mlsys-tabs { grid-row: 2; margin-bottom: 4px; }
.mlsys-compact > .mlsys-legend { grid-row: 3; padding-left: 0; }
.mlsys-compact > .mlsys-plot { grid-row: 4; }
.mlsys-compact > .mlsys-panel > .mlsys-readout { grid-row: 5; }
.mlsys-compact > .mlsys-panel > .mlsys-controls { grid-row: 6; }
@container (min-width: 620px) { .mlsys-compact > .mlsys-panel > .mlsys-controls { grid-row: 2 / 16; } }
/* In a low window, the lines in the boxes of a diagram are closer than its words are high. */
.mlsys-low > .mlsys-diagram text { font-size: 11px !important; }
/* Another plot keeps its size, so that it is drawn when it is chosen. */
.mlsys-compact > .mlsys-away { visibility: hidden; }
/* Names below an axis that would touch each other stand in two rows. */
.mlsys-staggered .mlsys-stepped { transform: translateY(11px); }
/* A narrow plot reaches into the edge of its board, and its words out of its axes. */
.mlsys-board > .mlsys-narrow-plot:not(.mlsys-diagram) { --reach: 12px; width: calc(100% + var(--mlsys-free, 0px) + var(--reach)) !important; margin: 0 calc(-1 * var(--reach)) 0 calc(-1 * var(--mlsys-free, 0px)) !important; }
.mlsys-narrow-plot g:has(> .object_grp > .label) { clip-path: none; }
.mlsys-narrow-plot text.label { font-size: 12px !important; }
.mlsys-narrow-plot .mlsys-left-out { visibility: hidden; }
.mlsys-narrow-plot.mlsys-staggered .axis .tick text { font-size: 10px !important; }
/* The name of an upright axis stands above it there. */
.mlsys-narrow-plot .mlsys-above { transform: none !important; text-anchor: start !important; }
/* The boxes of a diagram are as narrow as its plot. */
.mlsys-narrow-plot.mlsys-diagram text { font-size: 9px !important; }
/* A phone has no room for the legend of another plot. */
.mlsys-compact:has(> .mlsys-narrow-plot) > .mlsys-legend.mlsys-away { height: 0; overflow: hidden; }
/* A low window: everything closer together. */
.mlsys-board.mlsys-low { padding: 6px 12px; column-gap: 12px; }
.mlsys-low > .mlsys-panel > .mlsys-head { margin-bottom: 2px; }
.mlsys-low :is(.mlsys-tools, .mlsys-tabs) button, .mlsys-low .mlsys-control :is(select, .mlsys-chosen, input[type="text"]) { min-height: 24px; padding-block: 1px; }
.mlsys-low :is(.mlsys-panel > .mlsys-controls, .mlsys-more > .mlsys-controls) { gap: 3px 12px; }
.mlsys-low .mlsys-control > :is(label, legend) { line-height: 1.2; margin: 0; }
.mlsys-low .mlsys-leading { margin: 2px 0 4px; }
.mlsys-low :is(.mlsys-sentence, .mlsys-alert, .mlsys-lamps) { margin-bottom: 3px; font-size: var(--mlsys-note); line-height: 1.3; }
.mlsys-low .mlsys-alert { padding: 4px 10px; }
.mlsys-low .mlsys-panel summary { padding: 1px 0; }
/* Without a kernel. */
.mlsys-lost, .mlsys-cover { flex: 1 0 100%; box-sizing: border-box; margin: 4px 0 0; border-left: 4px solid var(--mlsys-failure); border-radius: 6px; padding: 6px 12px; background: color-mix(in srgb, var(--mlsys-failure) 12%, transparent); }
.mlsys-frozen :is(.mlsys-controls, .mlsys-handles) { opacity: 0.5; }
/* What is older than the kernel's cannot be read; what may be is dimmed. Somebody who is typing keeps their box. */
.mlsys-cover[hidden] { display: none; }
[data-covered="all"]:not(:focus-within) > :is(.mlsys-lab-frame, .mlsys-controls),
[data-covered="all"] > :is(.mlsys-readout, .mlsys-tabs),
[data-covered="readout"] > .mlsys-readout,
.mlsys-board:has(> :is([data-covered="all"], [data-covered="readout"])) > :is(.mlsys-plot, .mlsys-legend) { visibility: hidden; }
[data-covered="all"]:focus-within > :is(.mlsys-lab-frame, .mlsys-controls),
[data-covered="note"] > :is(.mlsys-lab-frame, .mlsys-readout),
.mlsys-board:has(> [data-covered="note"]) > :is(.mlsys-plot, .mlsys-legend) { opacity: 0.4; }
`,""]),s.d(t,{},{A:o})},33(e,t,s){var l=s(31),a=s.n(l),r=s(32),o=(s.n(r))()(a());o.push([e.id,`/* The one design system: cards, instruments, the panel, feedback and reports take their sizes, weights,
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
`,""]),s.d(t,{},{A:o})},38(e,t,s){var l=s(31),a=s.n(l),r=s(32),o=(s.n(r))()(a());o.push([e.id,`/* A reveal: the largest thing on the page. The result leads, one axis shows how far off it was. */
.mlsys-reveal, .mlsys-reveal-verdict, .mlsys-reveal-behind { max-width: var(--mlsys-column); line-height: var(--mlsys-line-height); }
.mlsys-reveal { display: grid; gap: 20px; padding-top: 4px; }
.mlsys-reveal-sides { display: grid; grid-template-columns: 1fr 1fr; gap: 20px 28px; align-items: start; }
.mlsys-reveal-side { border-left: 4px solid var(--tone); padding: 0 0 2px 14px; min-width: 0; overflow-wrap: anywhere; }
.mlsys-reveal-side > span, .mlsys-reveal-side > small, .mlsys-reveal-note { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-reveal-side > strong { display: block; font-size: var(--mlsys-lead); font-weight: var(--mlsys-regular); line-height: 1.35; margin: 2px 0 4px; }
.mlsys-reveal-number > strong { font-size: var(--mlsys-number); font-weight: var(--mlsys-strong); line-height: 1.15; font-variant-numeric: tabular-nums; }
.mlsys-reveal-number > strong > small { display: inline-block; font-size: var(--mlsys-lead); font-weight: var(--mlsys-regular); line-height: 1.2; white-space: pre; }
.mlsys-reveal-lead { font-size: var(--mlsys-lead); line-height: 1.4; }
.mlsys-reveal-lead strong { font-weight: var(--mlsys-strong); }
.mlsys-reveal-verdict { font-size: var(--mlsys-text); }
.mlsys-reveal-verdict p + p { margin-top: 10px; }

/* The axis. The picture brings colors of white paper, which these replace. */
.mlsys-number-line { display: block; width: 100%; height: auto; overflow: visible; font-family: inherit; }
.mlsys-number-line.mlsys-narrow { display: none; max-width: 400px; }
.mlsys-number-line text { stroke: var(--mlsys-paper); }
.mlsys-number-line .ink { fill: var(--mlsys-ink); }
.mlsys-number-line .quiet { fill: var(--mlsys-quiet); }
.mlsys-number-line .rule { stroke: var(--mlsys-rule); }
.mlsys-number-line :is(.edge, .pole) { stroke: var(--mlsys-quiet); }
.mlsys-number-line .distance { stroke: var(--mlsys-prediction); animation: mlsys-distance var(--mlsys-move) ease-out; }
.mlsys-number-line .tone-prediction { color: var(--mlsys-prediction); }
.mlsys-number-line .tone-model { color: var(--mlsys-model); }
.mlsys-number-line .tone-measured { color: var(--mlsys-measured); }
.mlsys-number-line .tone-textbook { color: var(--mlsys-textbook); }
@keyframes mlsys-distance { from { transform: scaleX(0); } }
@container (max-width: 560px) {
  .mlsys-number-line.mlsys-narrow { display: block; }
  .mlsys-number-line.mlsys-wide { display: none; }
  .mlsys-reveal-sides { grid-template-columns: 1fr; }
}

/* Numbers in the fold, with their formulas. */
.mlsys-reveal-behind > summary { font-size: var(--mlsys-text); color: var(--mlsys-link); }
.mlsys-reveal-behind h4 { margin: 16px 0 0; font-size: var(--mlsys-text); font-weight: var(--mlsys-strong); }
.mlsys-reveal-rows { list-style: none; margin: 6px 0 0; padding: 0; }
.mlsys-reveal-rows > li { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 2px 20px; margin: 0; padding: 8px 0; border-top: 1px solid var(--mlsys-rule); }
.mlsys-reveal-rows strong { display: block; font-weight: var(--mlsys-strong); font-variant-numeric: tabular-nums; }
.mlsys-reveal-rows small { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
@container (max-width: 480px) { .mlsys-reveal-rows > li { grid-template-columns: minmax(0, 1fr); } }

/* Formulas: every side may stand on a line of its own, and one too wide for it scrolls. */
.mlsys-equation { display: block; line-height: 1.6; overflow-x: auto; overflow-y: hidden; }
.mlsys-equation math { font-size: 1.1em; margin-block: 4px; vertical-align: middle; }
.mlsys-equation mtext { font-family: var(--mlsys-font); }
/* The term that decides has the color of its part of the picture, dark or light enough to be read. */
.mlsys-term { color: color-mix(in srgb, var(--tone, var(--mlsys-ink)) 55%, var(--mlsys-ink)); font-weight: var(--mlsys-strong); }
.mlsys-decides > .mlsys-equation { border-left: 4px solid var(--tone, var(--mlsys-ink)); padding-left: 8px; }
`,""]),s.d(t,{},{A:o})},32(e){e.exports=function(e){var t=[];return t.toString=function(){return this.map(function(t){var s="",l=void 0!==t[5];return t[4]&&(s+="@supports (".concat(t[4],") {")),t[2]&&(s+="@media ".concat(t[2]," {")),l&&(s+="@layer".concat(t[5].length>0?" ".concat(t[5]):""," {")),s+=e(t),l&&(s+="}"),t[2]&&(s+="}"),t[4]&&(s+="}"),s}).join("")},t.i=function(e,s,l,a,r){"string"==typeof e&&(e=[[null,e,void 0]]);var o={};if(l)for(var n=0;n<this.length;n++){var i=this[n][0];null!=i&&(o[i]=!0)}for(var m=0;m<e.length;m++){var d=[].concat(e[m]);l&&o[d[0]]||(void 0!==r&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=r),s&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=s),a&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=a):d[4]="".concat(a)),t.push(d))}},t}},31(e){e.exports=function(e){return e[1]}},24(e){var t=[];function s(e){for(var s=-1,l=0;l<t.length;l++)if(t[l].identifier===e){s=l;break}return s}function l(e,l){for(var a={},r=[],o=0;o<e.length;o++){var n=e[o],i=l.base?n[0]+l.base:n[0],m=a[i]||0,d="".concat(i," ").concat(m);a[i]=m+1;var p=s(d),y={css:n[1],media:n[2],sourceMap:n[3],supports:n[4],layer:n[5]};if(-1!==p)t[p].references++,t[p].updater(y);else{var c=function(e,t){var s=t.domAPI(t);return s.update(e),function(t){t?(t.css!==e.css||t.media!==e.media||t.sourceMap!==e.sourceMap||t.supports!==e.supports||t.layer!==e.layer)&&s.update(e=t):s.remove()}}(y,l);l.byIndex=o,t.splice(o,0,{identifier:d,updater:c,references:1})}r.push(d)}return r}e.exports=function(e,a){var r=l(e=e||[],a=a||{});return function(e){e=e||[];for(var o=0;o<r.length;o++){var n=s(r[o]);t[n].references--}for(var i=l(e,a),m=0;m<r.length;m++){var d=s(r[m]);0===t[d].references&&(t[d].updater(),t.splice(d,1))}r=i}}},26(e){var t={};e.exports=function(e,s){var l=function(e){if(void 0===t[e]){var s=document.querySelector(e);if(window.HTMLIFrameElement&&s instanceof window.HTMLIFrameElement)try{s=s.contentDocument.head}catch(e){s=null}t[e]=s}return t[e]}(e);if(!l)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");l.appendChild(s)}},28(e){e.exports=function(e){var t=document.createElement("style");return e.setAttributes(t,e.attributes),e.insert(t,e.options),t}},27(e,t,s){e.exports=function(e){var t=s.nc;t&&e.setAttribute("nonce",t)}},25(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var t=e.insertStyleElement(e);return{update:function(s){var l,a,r;l="",s.supports&&(l+="@supports (".concat(s.supports,") {")),s.media&&(l+="@media ".concat(s.media," {")),(a=void 0!==s.layer)&&(l+="@layer".concat(s.layer.length>0?" ".concat(s.layer):""," {")),l+=s.css,a&&(l+="}"),s.media&&(l+="}"),s.supports&&(l+="}"),(r=s.sourceMap)&&"u">typeof btoa&&(l+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(r))))," */")),e.styleTagTransform(l,t,e.options)},remove:function(){var e;null===(e=t).parentNode||e.parentNode.removeChild(e)}}}},29(e){e.exports=function(e,t){if(t.styleSheet)t.styleSheet.cssText=e;else{for(;t.firstChild;)t.removeChild(t.firstChild);t.appendChild(document.createTextNode(e))}}}}]);