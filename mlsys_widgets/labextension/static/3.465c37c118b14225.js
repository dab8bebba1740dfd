"use strict";(self.rspackChunkmlsys_widgets_lab=self.rspackChunkmlsys_widgets_lab||[]).push([[3],{34(e,s,t){t.r(s),t.d(s,{CardModel:()=>ec,CardView:()=>eb,ControlPanelModel:()=>eh,ControlPanelView:()=>ef});var l=t(33),a=t(23),r=t.n(a),n=t(24),i=t.n(n),o=t(25),d=t.n(o),m=t(26),p=t.n(m),y=t(27),c=t.n(y),h=t(28),u=t.n(h),b=t(32),f={};f.styleTagTransform=u(),f.setAttributes=p(),f.insert=d().bind(null,"head"),f.domAPI=i(),f.insertStyleElement=c(),r()(b.A,f),b.A&&b.A.locals&&b.A.locals;var g=t(35),v={};v.styleTagTransform=u(),v.setAttributes=p(),v.insert=d().bind(null,"head"),v.domAPI=i(),v.insertStyleElement=c(),r()(g.A,v),g.A&&g.A.locals&&g.A.locals;var x=t(36),w={};w.styleTagTransform=u(),w.setAttributes=p(),w.insert=d().bind(null,"head"),w.domAPI=i(),w.insertStyleElement=c(),r()(x.A,w),x.A&&x.A.locals&&x.A.locals;var k=t(37),N={};N.styleTagTransform=u(),N.setAttributes=p(),N.insert=d().bind(null,"head"),N.domAPI=i(),N.insertStyleElement=c(),r()(k.A,N),k.A&&k.A.locals&&k.A.locals;var D=t(19),C=t(14);let z=new Set;var A=t(13);let T=([e,s,t,l],a="mlsys-reveal-words")=>(0,C.ND)("div",{class:`mlsys-reveal-side ${a}`,style:`--tone: var(--mlsys-${t})`},(0,C.ND)("span",{text:e}),(0,C.ND)("strong",{html:s}),...l?[(0,C.ND)("small",{text:l})]:[]),E="This card has no kernel. What you enter is kept, but nothing can be recorded until you press Resume at the top of the lab.",$={"data-lm-suppress-shortcuts":"true"},M=/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;function S(e){let s,t,l=new Date(e);if(Number.isNaN(l.getTime()))return e;let a=l.getFullYear()===new Date().getFullYear()?"":` ${l.getFullYear()}`,r=[l.getHours(),l.getMinutes()].map(e=>String(e).padStart(2,"0")).join(":"),n=new Intl.DateTimeFormat("en-US",{timeZoneName:"short"}).formatToParts(l).find(e=>"timeZoneName"===e.type).value;return`${s={weekday:"short"},l.toLocaleDateString("en-US",s)} ${l.getDate()} ${t={month:"short"},l.toLocaleDateString("en-US",t)}${a}, ${r} ${n}`}let L=RegExp(`(${M.source})|(${/\d of \d+|\d (?:[A-Za-zµ×%]{1,8}(?:\/[A-Za-z]+)?)(?![\w-])/.source})`,"g");function q(e,s,...t){let l=(0,C.ND)("span",{html:e.html});return l.prepend(...t),(0,C.ND)("p",{class:s,tabindex:"-1"},l,(0,C.ND)("time",{datetime:e.time,text:S(e.time)}))}function j(e,{keep:s,ask:t},l){let a=(0,C.Am)("group"),r=e.options.map(([l,r],n)=>{let i=(0,C.ND)("input",{type:"radio",name:a,value:l,disabled:e.disabled,...$});i.addEventListener("change",()=>{i.checked&&(e.asks?t(e.asks,{[e.key]:l}):s(e.key,l))});let o=e.lettered?[(0,C.ND)("b",{text:String.fromCharCode(65+n)})]:[];return(0,C.ND)("label",{},i,...o,(0,C.ND)("span",{html:r}))}),n=e.options.every(([,e])=>(0,C.pj)(e).length<=60)?" mlsys-lab-tiles":"",i=(0,C.ND)("div",{class:e.inline?"mlsys-lab-inline":`mlsys-lab-options${n}`},...r);return l&&(i.prepend((0,C.ND)("span",{text:l[0]})),i.append((0,C.ND)("span",{text:l[1]}))),{node:(0,C.ND)("fieldset",{class:"mlsys-lab-field"},(0,C.ND)("legend",{html:e.legend,class:e.asks?"mlsys-lab-unseen":null}),i),fill:e=>{for(let{firstChild:s}of r)s.checked=s.value===e}}}function P(e,s,{unfolded:t}){let l=(0,C.ND)("details",{class:"mlsys-lab-fold"},(0,C.ND)("summary",{text:e.heading,...$}),s);return l.open=t.has(e.key),l.addEventListener("toggle",()=>l.open?t.add(e.key):t.delete(e.key)),{node:l}}let O={comparison:e=>{let[s,...t]=e.compared,l=e.compared[e.counts],a=t.filter(e=>e!==l),r=!!e.html,n=r?[T(s),function([e,s,t,l]){let[,a,r]=/^(\S+)(.*)$/.exec(s);return T([e,r?`${a}<small>${r}</small>`:a,t,l],"mlsys-reveal-number")}(l)]:s[1]===l[1]?[T(["You predicted, and the answer is",s[1],...l.slice(2,3),s[3]])]:[T(s),T(l)];return{node:(0,C.ND)("div",{class:"mlsys-reveal",tabindex:"-1"},(0,C.ND)("div",{class:"mlsys-reveal-sides"},...n),...r?[(0,C.ND)("div",{class:"mlsys-reveal-picture",html:e.html})]:[],...a.filter(([,,,e])=>e||!r).map(([e,s,,t])=>(0,C.ND)("p",{class:"mlsys-reveal-note",html:`${e}: ${s}`},t?` (${t})`:"")))}},revealverdict:e=>({node:(0,C.ND)("div",{class:"mlsys-reveal-verdict",tabindex:"-1"},(0,C.ND)("p",{class:"mlsys-reveal-lead",html:e.lead}),...e.note?[(0,C.ND)("p",{class:"mlsys-reveal-note",html:e.note})]:[],...e.rest.map(e=>(0,C.ND)("p",{html:e})))}),numbersbehind:(e,{unfolded:s})=>{let[t]=e.groups[0],l=e.groups.flatMap(([e,s])=>[...e===t?[]:[(0,C.ND)("h4",{text:e})],(0,C.ND)("ul",{class:"mlsys-reveal-rows"},...s.map(([e,s,t,l])=>(0,C.ND)("li",{},(0,C.ND)("span",{text:e}),(0,C.ND)("div",{},(0,C.ND)("strong",{text:s}),...l||!t?[]:[(0,C.ND)("span",{class:"mlsys-equation",html:t})],...l?[(0,C.ND)("small",{text:l})]:[]))))]),a=(0,C.ND)("details",{class:"mlsys-lab-fold mlsys-reveal-behind"},(0,C.ND)("summary",{text:t,"data-lm-suppress-shortcuts":"true"}),...l);return a.open=s.has(e.key),a.addEventListener("toggle",()=>a.open?s.add(e.key):s.delete(e.key)),{node:a}},prose:e=>{let s=e.tone?`--tone: ${e.tone}`:null,t=`mlsys-lab-prose${e.tone?" mlsys-lab-edge":""}${e.quiet?" mlsys-lab-quiet":""}`;return{node:(0,C.ND)("div",{class:t,style:s,html:e.html,tabindex:"-1"})}},recordedanswer:e=>({node:q(e,"mlsys-lab-recorded")}),sealedanswer:e=>{let s;return{node:q(e,"mlsys-lab-recorded mlsys-lab-sealed",((s=(0,C.ND)("span",{class:"mlsys-lab-padlock","aria-hidden":"true"})).innerHTML='<svg width="13" height="15" viewBox="0 0 13 15"><path d="M3.2 7V4.4a3.3 3.3 0 0 1 6.6 0V7" fill="none" stroke="currentColor" stroke-width="1.7"/><rect x="1" y="6.6" width="11" height="8" rx="1.6" fill="currentColor"/></svg>',s))}},options:(e,s)=>j(e,s),confidence:(e,s)=>{let t=j({...e,inline:!0},s,e.ends);return t.node.classList.add("mlsys-lab-confidence"),t},textbox:(e,{keep:s,submit:t})=>{let l=(0,C.Am)("entry"),a=(0,C.ND)("input",{type:"text",id:l,"aria-describedby":`${l}-hint`,disabled:e.disabled,spellcheck:"false",autocomplete:"off",...$});a.addEventListener("input",()=>s(e.key,a.value)),a.addEventListener("keydown",e=>"Enter"===e.key&&t());let r=e.scale?.length?function({scale:e,legend:s},t){let l=e.length-1,a=(0,C.ND)("input",{type:"range",min:0,max:l,step:1,"aria-label":(0,C.pj)(s),...$}),r=e.every(e=>e.length<=5)?5:2,n=Array.from({length:r},(s,t)=>(0,C.ND)("span",{text:e[Math.round(t*l/(r-1))]})),i=()=>t(e[Number(a.value)]);return a.addEventListener("input",i),a.addEventListener("click",i),{node:(0,C.ND)("div",{class:"mlsys-lab-scale"},a,(0,C.ND)("div",{class:"mlsys-lab-ticks","aria-hidden":"true"},...n)),mark:s=>{let t=e.indexOf(s);a.classList.toggle("mlsys-lab-unmarked",t<0),a.value=t<0?Math.round(l/2):t,a.setAttribute("aria-valuetext",t<0?s||"no mark yet":s)}}}(e,t=>s(e.key,t)):null;return{node:(0,C.ND)("div",{class:"mlsys-lab-field"},(0,C.ND)("label",{for:l,html:e.legend}),...r?[r.node]:[],a,(0,C.ND)("p",{class:"mlsys-lab-hint",id:`${l}-hint`,text:e.hint,hidden:e.disabled})),fill:e=>{a.value!==e&&(a.value=e),r?.mark(e)}}},textarea:(e,{keep:s})=>{let t=(0,C.Am)("area"),l=(0,C.ND)("textarea",{id:t,rows:e.rows,"aria-describedby":`${t}-hint`,...$});return l.addEventListener("input",()=>s(e.key,l.value)),{node:(0,C.ND)("div",{class:"mlsys-lab-field"},(0,C.ND)("label",{for:t,html:e.legend}),l,...function({at_least:e,at_most:s},t){if(e<=1&&null===s)return[];let l=(0,C.ND)("span"),a=(0,C.ND)("span",{"aria-live":"polite"}),r=(0,C.ND)("p",{class:"mlsys-lab-count"},l," ",a),n=()=>{let n=t.value.split(/\s+/u).filter(e=>/[\p{L}\p{N}]/u.test(e)).length,[i,o]=n<e?["short",`too short, at least ${e}`]:null!==s&&n>s?["long",`too long, at most ${s}`]:["fits","long enough"];l.textContent=`${n} ${1===n?"word":"words"}:`,a.textContent!==o&&(a.textContent=o),r.dataset.length=i,r.hidden=0===e&&"fits"===i};for(let e of["input","filled"])t.addEventListener(e,n);return n(),[r]}(e,l),(0,C.ND)("p",{class:"mlsys-lab-hint",id:`${t}-hint`,text:e.hint})),fill:e=>{l.value!==e&&(l.value=e,l.dispatchEvent(new Event("filled")))}}},blanks:(e,{keep:s})=>{let t={},l=e.pieces.map(l=>{if("string"==typeof l)return(0,C.ND)("span",{html:l});let a=Object.keys(t).length+1,r=(0,C.ND)("select",{"aria-label":`Gap ${a}`,...$},(0,C.ND)("option",{value:"",text:"…"}),...l.options.map(([e,s])=>(0,C.ND)("option",{value:e,text:s})));return r.addEventListener("change",()=>s(e.key,Object.fromEntries(Object.entries(t).map(([e,s])=>[e,s.value||null])))),t[l.name]=r,r});return{node:(0,C.ND)("p",{class:"mlsys-lab-blanks"},...l),fill:e=>{for(let[s,l]of Object.entries(t))l.value=e?.[s]??""}}},checkboxes:(e,{keep:s})=>{let t=e.options.map(([l,a,r])=>{let n=(0,C.ND)("input",{type:"checkbox",value:l,...$});return n.addEventListener("change",()=>s(e.key,t.map(e=>e.firstChild).filter(e=>e.checked).map(e=>e.value))),(0,C.ND)("label",{},n,(0,C.ND)("span",{html:a},...r?[(0,C.ND)("small",{html:r})]:[]))});return{node:(0,C.ND)("fieldset",{class:"mlsys-lab-field"},(0,C.ND)("legend",{html:e.legend}),(0,C.ND)("div",{class:"mlsys-lab-options"},...t)),fill:e=>{for(let{firstChild:s}of t)s.checked=e.includes(s.value)}}},buttons:(e,{ask:s})=>({node:(0,C.ND)("div",{class:"mlsys-lab-buttons"},...e.buttons.map(([t,l],a)=>{let r=a?null:e.leads?"mlsys-lab-main":"mlsys-lab-main mlsys-lab-again",n=(0,C.ND)("button",{type:"button",text:l,class:r,...$});return n.addEventListener("click",()=>s(t)),n}))}),goon:e=>{let s=(0,C.ND)("button",{type:"button",text:e.words,class:e.leads?"mlsys-lab-main":"mlsys-lab-main mlsys-lab-again",...$});return s.addEventListener("click",()=>s.dispatchEvent(new CustomEvent("mlsys-next",{bubbles:!0}))),{node:(0,C.ND)("div",{class:"mlsys-lab-buttons mlsys-lab-goon"},s)}},actspath:e=>({node:(0,C.ND)("ol",{class:"mlsys-lab-path"},...e.points.map(([e,s],t)=>(0,C.ND)("li",{},(0,C.ND)("b",{text:`${t+1}`,"aria-hidden":"true"}),(0,C.ND)("span",{html:e},...s?[(0,C.ND)("small",{text:s})]:[]))))}),besidelinks:e=>({node:(0,C.ND)("p",{class:"mlsys-lab-beside"},(0,C.ND)("span",{text:"Show beside this:"}),...e.titles.map(e=>{let s=(0,C.ND)("button",{type:"button",text:e,...$});return s.addEventListener("click",()=>s.dispatchEvent(new CustomEvent("mlsys-beside",{bubbles:!0,detail:e}))),s}))}),numbers:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-cards",role:"list",tabindex:"-1"},...e.cards.map(([e,s,t,l])=>(0,C.ND)("div",{class:"mlsys-lab-card",role:"listitem",style:`--tone: ${t}`},(0,C.ND)("span",{text:e}),(0,C.ND)("strong",{text:s}),(0,C.ND)("small",{text:l}))))}),steps:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-steps"},...e.groups.map(([e,s,t,l])=>(0,C.ND)("section",{"aria-label":e},(0,C.ND)("p",{},(0,C.ND)("strong",{text:e}),(0,C.ND)("span",{text:`${s} of ${t}`})),(0,C.ND)("progress",{max:t||1,value:s,"aria-label":`Progress of ${e}`}),(0,C.ND)("ul",{},...l.map(([e,s,t])=>(0,C.ND)("li",{class:s?"mlsys-lab-done":null},(0,C.ND)("span",{"aria-hidden":"true",text:s?"✓":"○"}),(0,C.ND)("span",{html:e},t?` (${t})`:(0,C.ND)("span",{class:"mlsys-lab-unseen",text:s?" (done)":" (to do)"}))))))))}),progressbar:e=>({node:(0,C.ND)("div",{class:"mlsys-lab-progress"},(0,C.ND)("p",{text:e.words}),(0,C.ND)("progress",{max:1,value:e.share,"aria-label":e.label}))}),rows:e=>({node:(0,C.ND)("ul",{class:"mlsys-lab-rows"},...e.rows.map(([e,s])=>(0,C.ND)("li",{},(0,C.ND)("strong",{html:e}),(0,C.ND)("span",{html:s}))))}),foldedrows:(e,s)=>P(e,O.rows(e).node,s),foldedprose:(e,s)=>P(e,O.prose(e).node,s),numberedlist:e=>({node:(0,C.ND)("ol",{class:"mlsys-lab-points"},...e.points.map(([e,s])=>(0,C.ND)("li",{},...e?[(0,C.ND)("strong",{html:e})]:[],(0,C.ND)("span",{html:s}))))})};function W(e,s){s.classList.add("mlsys-lab-card-root");let t=(0,A.fU)(e),l=null,a=null,r=null,n=(0,C.ND)("span",{class:"mlsys-lab-kind"}),i=(0,C.ND)("h3",{class:"mlsys-lab-title",id:(0,C.Am)("title"),tabindex:"-1"}),o=(0,C.ND)("div",{class:"mlsys-lab-body"}),d=(0,C.ND)("p",{class:"mlsys-lab-trouble",role:"alert"}),m=(0,C.ND)("button",{type:"button",text:"Try again",...$}),p=(0,C.ND)("div",{class:"mlsys-lab-after"},d,m),y=(0,C.ND)("p",{class:"mlsys-lab-unrecorded",role:"status"}),c=(0,C.ND)("button",{type:"button",text:"Undo my change",...$}),h=(0,C.ND)("div",{class:"mlsys-lab-draft",hidden:!0},y,c),u=(0,C.ND)("div",{class:"mlsys-lab-unseen",role:"status","aria-live":"polite"}),b=(0,C.ND)("button",{type:"button",class:"mlsys-lab-link",hidden:!0,...$}),f=(0,C.ND)("section",{class:"mlsys-lab-frame","aria-labelledby":i.id},(0,C.ND)("div",{class:"mlsys-lab-head"},n,i),o,b,h,p,u);s.append(f);let g=(e,s)=>{d.textContent!==e.replace(M,S)&&(d.textContent=e.replace(M,S)),m.hidden=!s,p.hidden=!e},v=async e=>{let{recorded:s}=t.store.remote;if(!s||!t.item)return null;let l=await s(t.view.item.names).catch(()=>null);return null===l?null:l>e?l:""},x=()=>{clearTimeout(a),l=null,f.removeAttribute("aria-busy")},w=async()=>{let e=l,s=await v(e.before);e===l&&(s?g(`Recorded ${s}: it is in the ledger. The kernel has not answered yet, so the rest of this card may be older.`,!1):t.isLive?g("Not known yet whether this is recorded: the kernel has not answered. It may be busy with a cell. What you entered is kept; asking again.",!1):""===s?g("Not recorded: the kernel was lost before it answered, and the ledger does not have it. What you entered is kept. Press Resume at the top of the lab, then record it.",!1):g("The kernel was lost before it answered, so it is not known whether this is recorded. What you entered is kept. Press Resume at the top of the lab to see.",!1),s||!t.isLive?x():a=setTimeout(w,8e3))},k=()=>{t.isLive||(clearTimeout(a),l?w():g(E,!1))},N=async(e,s)=>{if(!t.isLive)return void g(E,!1);clearTimeout(a);let r=l={before:t.view.item?.recorded??""};if(f.setAttribute("aria-busy","true"),a=setTimeout(w,8e3),await t.ask(e,s),r!==l)return;x();let{trouble:n}=t.view;g(n?.words??"",n?.retry),n||e!==t.view.item?.record||(j=!1,W())};m.addEventListener("click",()=>N("retry")),c.addEventListener("click",()=>{for(let e of t.unrecorded)t.discard(e.key);j=!1,W()}),b.addEventListener("click",()=>{j=!j,W();let e=j&&o.querySelector("input:checked, input:not(:disabled), select, textarea");(e&&!e.disabled?e:b).focus()});let D={ask:N,keep:(e,s)=>t.keep(e,s),submit:()=>o.querySelector(".mlsys-lab-main")?.click(),unfolded:new Set},T=(e,s)=>{var l,a;let r,n=s.fill&&!e.disabled?t.rival(e.key):null;if(s.rival?.remove(),s.rival=null,!n)return;let i=(s,l)=>{let a=(0,C.ND)("button",{type:"button",text:s,...$});return a.addEventListener("click",()=>t.choose(e.key,l)),a};s.rival=(0,C.ND)("div",{class:"mlsys-lab-rival",role:"status"},(0,C.ND)("p",{text:`Another window has something else here: “${(l=e,a=n.value,(r=(0,A.r4)(l,a)).length>200?`${r.slice(0,200)} …`:r)}”`}),i("Use that",n),i("Keep this",t.draft(e.key))),s.node.append(s.rival)},q=e=>{for(let s of t.view.parts??[]){let l=R.get(s.key);l?.fill&&(!e||e===s.key)&&(l.fill(t.value(s)),l.node.classList.toggle("mlsys-lab-differs",t.changed.includes(s)),T(s,l))}let s=(t.item&&!t.view.unsettled?t.unrecorded:[]).length?t.changed.length?"You changed this, and the change is not recorded yet.":"Kept as a draft. It is not recorded yet.":"",l=s&&t.store.trouble?` So far only this browser has it: ${t.store.trouble}`:"";y.textContent!==s+l&&(y.textContent=s+l),c.hidden=!t.changed.length,h.hidden=!s,W()},j=!1,P="",W=()=>{let{fold:e,closed:s,title:l,focus:a}=t.view,r=t.unrecorded.length>0||t.open.some(e=>t.rival(e.key));j=!!e&&(j||r);let n=!!e&&!j;for(let[t,{node:l}]of(f.dataset.state=s?"closed":e?n?"short":"opened":"open",f.classList.toggle("mlsys-lab-entered",r),R))l.hidden=n&&!e.stays.includes(t);b.hidden=!e||j&&r;let i=n?e?.link:"Close";b.textContent!==i&&(b.textContent=i??""),b.setAttribute("aria-label",`${i}: ${(0,C.pj)(l)}`),b.setAttribute("aria-expanded",String(!n));let d=document.activeElement;if(o.contains(d)&&d.closest("[hidden]")){let e=R.get(a)?.node;(e&&!e.hidden?e:b).focus()}0===z.size&&requestAnimationFrame(()=>{let e=new Set([...z].map(e=>e()).filter(Boolean));for(let s of(z.clear(),e))!function(e){let s=[...e.querySelectorAll(".mlsys-lab-frame")],t=s.find(e=>["open","opened"].includes(e.dataset.state)&&e.querySelector(".mlsys-lab-main:not(.mlsys-lab-again)")&&("open"===e.dataset.state||e.classList.contains("mlsys-lab-entered")));for(let e of s)e.classList.toggle("mlsys-lab-leads",e===t)}(s)}),z.add(()=>f.closest(".jp-Notebook, .jp-NotebookPanel, body"))},R=new Map,I="",F=!1,H=()=>{let t=e.get("view");if(!t.parts)return;n.textContent=t.kind,f.dataset.look=t.look,(t.item?.recorded??"")!==P&&(P=t.item?.recorded??"",j=!1),i.innerHTML!==t.title&&(i.innerHTML=t.title),f.style.setProperty("--tone",t.tone);let l=f.contains(document.activeElement),a=new Map;for(let e of t.parts){let s=JSON.stringify(e),t=R.get(e.key);if(t?.json===s){a.set(e.key,t);continue}let l=O[e.kind](e,D);!function(e){let s=document.createTreeWalker(e,NodeFilter.SHOW_TEXT),t=[];for(;s.nextNode();){let e=s.currentNode.parentElement;e?.closest("textarea, option, svg, math")||t.push(s.currentNode)}for(let e of t){let s=[],t=0;for(let{0:l,1:a,index:r}of e.data.matchAll(L))s.push(e.data.slice(t,r),a?(0,C.ND)("time",{datetime:a,text:S(a)}):(0,C.ND)("bdi",{class:"mlsys-lab-whole",text:l})),t=r+l.length;s.length&&e.replaceWith(...s,e.data.slice(t))}}(l.node),a.set(e.key,{json:s,...l})}for(let[e,s]of R)a.get(e)!==s&&s.node.remove();R=a;let d=o.firstChild;for(let{node:e}of R.values())e===d?d=d.nextSibling:o.insertBefore(e,d);q(),g(t.trouble?.words??"",t.trouble?.retry),t.said&&t.said!==I&&(u.textContent=t.said.replace(M,S),clearTimeout(r),r=setTimeout(()=>{u.textContent=""},15e3)),I=t.said,l&&!f.contains(document.activeElement)&&(F=!0,i.focus({preventScroll:!0}));let m=R.get(t.focus)?.node;F&&document.activeElement===i&&m&&(F=!1,(m.querySelector("button, input:checked, input, select, textarea")??m).focus()),_(s,t)},B=new MutationObserver(()=>_(s,e.get("view")));return requestAnimationFrame(()=>{let e=s.closest(".mlsys-lab");e&&B.observe(e,{childList:!0,subtree:!0})}),e.on("change:view",H),e.on("comm_live_update",k),t.views.add(q),H(),k(),()=>{for(let e of[a,r])clearTimeout(e);B.disconnect(),e.off("change:view",H),e.off("comm_live_update",k),t.views.delete(q)}}function _(e,s){if(s.figure)for(let t of e.closest(".mlsys-lab")?.querySelectorAll(".mlsys-plot")??[]){let[e,...l]=[...t.querySelectorAll(":scope > svg")].reverse();if(e&&e.getAttribute("aria-label")!==s.figure)for(let t of(e.setAttribute("role","img"),e.setAttribute("aria-label",s.figure),l))t.setAttribute("aria-hidden","true")}}function R(e,s){if(e.zero&&s<=0)return 0;let t=+!!e.zero,l=(s-t)/(1e3-t),a=e.log?e.low*(e.high/e.low)**l:e.low+(e.high-e.low)*l;if(s<=t)return e.low;if(s>=1e3)return e.high;let r=Number(a.toPrecision(3)),n=Math.min(e.high,Math.max(e.low,r));return e.whole?Math.round(n):n}function I(e,s){if(e.zero&&s<=0)return 0;let t=+!!e.zero;return Math.round(t+(e.log?Math.log(s/e.low)/Math.log(e.high/e.low):(s-e.low)/(e.high-e.low))*(1e3-t))}function F(e,s,t,l){let a=I(e,s),r=s;for(let n=0;n<1e3&&r===s;n++){if((a+=t*(l?50:5))<0||a>1e3){r=R(e,t<0?0:1e3);break}r=R(e,a)}return r}let H={slider(e,s,t){let l=(0,C.Am)("slider"),a=(0,C.ND)("input",{type:"range",min:0,max:1e3,step:1,id:l,"aria-describedby":`${l}-help`,"data-lm-suppress-shortcuts":"true"}),r=(0,C.ND)("input",{type:"text","aria-label":`${e.label}, typed (${e.allowed})`,spellcheck:"false",autocomplete:"off","data-lm-suppress-shortcuts":"true"}),n=e.low;a.addEventListener("input",()=>{s(n=R(e,Number(a.value)))}),a.addEventListener("keydown",t=>{let l={ArrowRight:1,ArrowUp:1,PageUp:1,ArrowLeft:-1,ArrowDown:-1,PageDown:-1};t.key in l&&(t.preventDefault(),n=F(e,n,l[t.key],t.key.startsWith("Page")),a.value=I(e,n),s(n))});let i="",o=()=>{r.value!==i&&t(i=r.value)};r.addEventListener("change",o),r.addEventListener("keydown",e=>{e.stopPropagation(),"Enter"===e.key&&(e.preventDefault(),o()),"Escape"===e.key&&(r.value=i=a.getAttribute("aria-valuetext"))});let d=(0,C.ND)("p",{class:"mlsys-error",id:`${l}-error`,role:"alert"});return{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("label",{for:l,text:e.label}),(0,C.ND)("div",{class:"mlsys-row"},a,r),(0,C.ND)("p",{class:"mlsys-help",id:`${l}-help`,text:e.help}),d),show(s,t,l){n=t;let o=String(I(e,t));a.value!==o&&(a.value=o),a.setAttribute("aria-valuetext",s),l?(r.setAttribute("aria-invalid","true"),r.setAttribute("aria-describedby",d.id)):(r.removeAttribute("aria-invalid"),r.removeAttribute("aria-describedby"),i=s,r.value!==s&&(r.value=s)),d.textContent!==(l??"")&&(d.textContent=l??"")}}},menu(e,s){let t=(0,C.Am)("menu"),l=(0,C.ND)("span",{class:"mlsys-chosen","aria-hidden":"true"}),a=()=>{l.textContent=r.selectedOptions[0]?.textContent??""},r=(0,C.ND)("select",{id:t,"aria-describedby":`${t}-help`,"data-lm-suppress-shortcuts":"true"}),n=null,i=e=>{let s=JSON.stringify(e);s!==n&&(n=s,r.replaceChildren(...e.map(([e,s])=>(0,C.ND)("option",{value:e,text:s}))))};return i(e.options),r.addEventListener("change",()=>{a(),s(r.value)}),{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("label",{for:t,text:e.label}),(0,C.ND)("div",{class:"mlsys-menu"},r,l),(0,C.ND)("p",{class:"mlsys-help",id:`${t}-help`,text:e.help})),fill:i,show(e,s){r.value!==s&&(r.value=s),a()}}},buttons(e,s){let t=(0,C.Am)("choice"),l=(0,C.ND)("div",{class:"mlsys-pills"}),a=null,r=e=>{let r=JSON.stringify(e);r!==a&&(a=r,l.replaceChildren(...e.map(([e,l])=>{let a=(0,C.ND)("input",{type:"radio",name:t,value:e,"data-lm-suppress-shortcuts":"true"});return a.addEventListener("change",()=>a.checked&&s(e)),(0,C.ND)("label",{},a,document.createTextNode(l))})))};return r(e.options),{node:(0,C.ND)("fieldset",{class:"mlsys-control","aria-describedby":`${t}-help`},(0,C.ND)("legend",{text:e.label}),l,(0,C.ND)("p",{class:"mlsys-help",id:`${t}-help`,text:e.help})),fill:r,show(e,s){for(let e of l.querySelectorAll("input"))e.checked=e.value===s}}},several(e,s){let t=(0,C.Am)("several"),l=e.options.map(([e,t])=>{let a=(0,C.ND)("input",{type:"checkbox",value:e});return a.addEventListener("change",()=>s(l.filter(e=>e.box.checked).map(e=>e.box.value))),{box:a,node:(0,C.ND)("label",{},a,document.createTextNode(t))}});return{node:(0,C.ND)("fieldset",{class:"mlsys-control","aria-describedby":`${t}-help`},(0,C.ND)("legend",{text:e.label}),(0,C.ND)("div",{class:"mlsys-pills"},...l.map(e=>e.node)),(0,C.ND)("p",{class:"mlsys-help",id:`${t}-help`,text:e.help})),show(e,s){for(let{box:e}of l)e.checked=s.includes(e.value)}}},switch(e,s){let t=(0,C.Am)("switch"),l=(0,C.ND)("input",{type:"checkbox",id:t,"aria-describedby":`${t}-help`});return l.addEventListener("change",()=>s(l.checked)),{node:(0,C.ND)("div",{class:"mlsys-control"},(0,C.ND)("div",{class:"mlsys-pills"},(0,C.ND)("label",{for:t},l,document.createTextNode(e.label))),(0,C.ND)("p",{class:"mlsys-help",id:`${t}-help`,text:e.help})),show(e,s){l.checked=s}}}},B=new Set,U={ArrowRight:1,ArrowUp:1,PageUp:1,ArrowLeft:-1,ArrowDown:-1,PageDown:-1};function J([e,s,t],l){return t?Math.log(l/e)/Math.log(s/e):(l-e)/(s-e)}function V([e,s,t],l){return t?e*(s/e)**l:e+(s-e)*l}function Y(e){return e&&1e-6>Math.abs(e)?e.toFixed(20).replace(/0+$/,""):String(e)}function Z(e){for(let s of e.querySelectorAll(".axis")){let t=[...s.querySelectorAll(".tick text")],l=t.map(e=>e.getBoundingClientRect()).filter(e=>e.width);if(!(l.length>1&&24>Math.abs(l.at(-1).top-l[0].top)))continue;t.forEach((e,s)=>e.classList.toggle("mlsys-stepped",s%2==1));let a=l.some((e,s)=>s&&e.left<l[s-1].right+4);e.classList.toggle("mlsys-staggered",a)}!function(e){let{left:s,right:t}=e.getBoundingClientRect();for(let l of e.querySelectorAll(".axislabel")){l.style.removeProperty("font-size"),l.style.removeProperty("translate");let{width:e,height:a}=l.getBoundingClientRect();if(e<a)continue;if(e>t-s){let a=Math.max(9,12*(t-s)/e);l.style.setProperty("font-size",`${a}px`,"important")}let r=l.getBoundingClientRect(),n=Math.max(0,r.right-t)||Math.min(0,r.left-s);n&&l.style.setProperty("translate",`${-n}px`)}}(e)}var K=t(21);function X(e,s,t,l="all"){e.standing??(e.standing=new Map),(e.standing.get(s)?.words??"")!==(t||"")&&(t?e.standing.set(s,{words:t,covered:l}):e.standing.delete(s),e.trigger("mlsys:standing"))}let G=()=>new Date().toLocaleTimeString("en-US",{hourCycle:"h23"}),Q=e=>`The kernel has not answered since ${e}, so this may be out of date. If it was restarted, press Resume at the top of the lab.`,ee=new WeakMap;function es(e,s,t=()=>e.state_change){let l=e.widget_manager;return ee.has(l)||ee.set(l,new et(l)),ee.get(l).add(e,s,t)}class et{constructor(e){this.manager=e,this.followed=new Map,this.kernels=new WeakSet,this.visible=()=>{"visible"===document.visibilityState&&this.soon()},this.timer=this.asked=this.tries=0}add(e,s,t){this.followed.size||document.addEventListener("visibilitychange",this.visible);let l={shown:s,settled:t,known:0};l.look=()=>{let s=l.shown()<l.known;return X(e,"behind",s&&"What stood here is out of date: the kernel has something newer, and it is being fetched."),s},this.followed.set(e,l),e.on("msg:custom",e=>{e?.newest&&this.heard(e)}),e.on("change",()=>this.soon());let a=()=>{(!e.comm_live||e._closed)&&(this.followed.delete(e),this.followed.size||document.removeEventListener("visibilitychange",this.visible))};return e.on("comm_live_update",a),e.once("destroy",a),this.watch(this.manager.kernel),l.look}watch(e){!e?.statusChanged||this.kernels.has(e)||(this.kernels.add(e),(0,K.Z)(e,()=>{for(let e of[...this.followed.keys()])e.comm_live=!1}),e.statusChanged.connect((e,s)=>{"idle"!==s||this.asked||(this.isOwn?this.isOwn=!1:this.soon())}),e.connectionStatusChanged.connect((e,s)=>{"connected"===s&&this.soon()}))}soon(){this.asked||(clearTimeout(this.timer),this.timer=setTimeout(()=>{this.tries=0,this.since=G(),this.ask()},500))}ask(){clearTimeout(this.timer);let e=[...this.followed].filter(([e])=>e.comm_live);if(!e.length){this.asked=0;return}this.asked=Date.now()+Math.random();let s=Object.fromEntries(e.map(([e,{shown:s}])=>[e.model_id,s()]));try{e[0][0].send({have:s,stamp:this.asked})}catch{}this.wait(()=>this.unanswered())}wait(e){this.timer=setTimeout(e,2e3*2**this.tries)}unanswered(){if(this.manager.kernel?.status==="busy")return this.wait(()=>this.unanswered());if(this.tries+=1,this.tries<=4)return this.ask();for(let e of(this.asked=0,this.followed.keys()))X(e,"silent",Q(this.since),"note")}async heard({newest:e,stamp:s}){if(s!==this.asked)return;clearTimeout(this.timer),this.asked=0,this.isOwn=!0;let t=await Promise.all([...this.followed].map(async([s,t])=>(X(s,"silent",""),t.known=Math.max(t.known,e[s.model_id]??0),await t.settled(),t.look())));!this.asked&&t.some(Boolean)&&this.tries<4&&(this.tries+=1,clearTimeout(this.timer),this.wait(()=>this.ask()))}}let el=[.25,.5,1,2,4],ea=document.createElement("canvas").getContext("2d"),er=new WeakMap;async function en({packed:e,numbers:s}){let t=new DecompressionStream("deflate"),l=t.writable.getWriter();return l.write(e),l.close(),{...await new Response(t.readable).json(),numbers:s}}let ei=new WeakMap;function eo([e,s,t]){let l,a=(ei.has(e)||ei.set(e,{}),l=ei.get(e),Object.entries(s).filter(([e,s])=>{let t=s?.value instanceof DataView?`${s.shape}:${new Uint8Array(s.value.buffer)}`:JSON.stringify(s),a=l[e]!==t;return l[e]=t,a}).map(([e])=>e));if(a.length)try{e.set_state(Object.fromEntries(a.map(e=>[e,t[e]])))}catch(s){throw ei.delete(e),s}}async function ed(e,s){clearTimeout(s.timer);let t=({number:e})=>e>(s.state?.number??0),l=e.get("readout");if(t(l)){try{let a=await en(l),r=a.number===s.first?[]:await function(e,{plots:s,numbers:t}){let l=e.widget_manager,a=e.get("spec").plots;return Promise.all(s.flatMap((e,s)=>e.map(async([e,r])=>{let n=await l.get_model(a[s][e]),i=Object.fromEntries(Object.entries(r).map(([e,s])=>{let l;return[e,s?.span?(([e,...s])=>{let l=s.reduce((e,s)=>e*s,1),a=t.byteOffset+4*e;return{value:new DataView(t.buffer.slice(a,a+4*l)),dtype:"float32",shape:s,type:null}})(s.span):s?.exact?(l=s.exact,{value:new DataView(Float64Array.from(l).buffer),dtype:"float64",shape:[l.length],type:null}):s]}));return[n,i,await n.constructor._deserialize_state({...i},l)]})))}(e,a);if(!t(a))return;r.forEach(eo),s.state=a}catch(t){console.error(t),X(e,"undrawn","The newest state of this instrument cannot be drawn yet, because one of its plots is not there. It is tried again and again. If this stays, press Resume at the top of the lab."),clearTimeout(s.timer),s.timer=setTimeout(s.take,s.pause),s.pause=Math.min(2*s.pause,3e4);return}s.pause=250,X(e,"undrawn",""),s.isShown(),s.begin();try{for(let e of s.views)e()}catch(s){console.error(s),e.trigger("mlsys:undrawn")}}}async function em(e,s){var t,l,a,r;let n,i,o,d,m,p,y,c,h,u,b,f,g,v,x,w,k,N,D,z,A,T,E,$,M,S,L,q,j,P;s.classList.add("mlsys-panel");let O=e.get("spec"),W=er.get(e);await W.begun;let _=0,R=()=>_=Math.max(_+.001,Date.now()+Math.random()),I={},K={},Q=[],ee=0,es=0,et=0,en=G(),ei=()=>Object.keys(I).some(e=>I[e]!==W.state.heard[e])||Object.keys(K).some(e=>K[e]!==W.state.stamps[e]),eo=e=>void 0!==I[e]&&I[e]!==W.state.heard[e],ed=[],em={},ey={},ec=({name:e,stamp:s})=>s<=(e?W.state.heard[e]??0:W.state.stamps.dragged??0),eh=()=>{!((ed=ed.filter(e=>!ec(e))).length>=2)&&em.update&&(ed.push(em.move),e.send({update:em.update}),em={})},eu=(e,s)=>{ey={...ey,...e},em={update:{...em.update,...e},move:s},eh(),es=0,en=G(),eb()},eb=()=>{clearTimeout(ee),ee=setTimeout(()=>{let t,l=ed.filter(e=>!ec(e));if(l.length&&(em={update:ey,move:em.move??l.at(-1)}),ed=[],eh(),!s.isConnected||!ei())return;let a=es>=6;X(e,s,a?(t=en,`The kernel has not answered your last move, at ${t}. It may be busy with a cell. If it was restarted, press Resume at the top of the lab.`):"Waiting for the kernel’s answer to your last move.","readout"),a||(es+=1,ew("again"))},3e3*2**es)},ef=e=>s=>{I[e]=R(),W.moved={...W.moved,[e]:[s,I[e]]},eu({moved:W.moved},{name:e,stamp:I[e]})},eg=s=>{em.move&&ed.push(em.move),e.send({update:{...em.update,...s}}),em={}},ev=e=>s=>eg({typed:{name:e,text:s,stamp:R()}}),ex=(e,s,t,l,a)=>{K.dragged=R(),eu({dragged:{handle:e,control:s,x:t,y:l,held:a,stamp:K.dragged}},{stamp:K.dragged})},ew=(e,s={})=>{K.command=R(),Q.push({name:e,...s,stamp:K.command}),eg({command:{list:[...Q]}}),eb()},ek={},eN={},eD=[],eC=[],ez=null,eA=null,eT=(0,C.ND)("div",{class:"mlsys-controls",role:"group","aria-label":`Controls of ${O.title}`}),eE=(0,C.ND)("div",{class:"mlsys-controls"}),e$=(0,C.ND)("details",{class:"mlsys-more"},(0,C.ND)("summary",{text:"More"}),eE);for(let e of O.controls){ek[e.name]=e;let s=H[e.kind](e,ef(e.name),ev(e.name));if(!s.node.querySelector(".mlsys-error")){let e=(0,C.ND)("p",{class:"mlsys-error",role:"alert"});s.node.append(e),s.complain=s=>{e.textContent!==s&&(e.textContent=s)}}eN[e.name]=s,(e.rare?eE:eT).append(s.node)}eE.children.length&&eT.append(e$);let eM=(e,s)=>{let t=(0,C.ND)("button",{type:"button",text:e});return t.addEventListener("click",s),t},eS=eM("Pin",()=>ew(W.state.pinned?"unpin":"pin")),eL=eM("Reset",()=>ew(W.state.undo?"undo":"reset")),eq=(0,C.ND)("p",{class:"mlsys-code",hidden:!0,tabindex:"-1"}),ej=eM("Copy as code",async()=>{eq.textContent=W.state.code,eq.hidden=!1;let e=!0;try{await navigator.clipboard.writeText(eq.textContent)}catch{e=!1}ej.textContent=e?"Copied":"Select and copy below",setTimeout(()=>{ej.textContent="Copy as code"},2e3)}),eP=(0,C.ND)("p",{class:"mlsys-lost",role:"alert",hidden:!0}),eO=(0,C.ND)("div",{class:"mlsys-head"},(0,C.ND)("h3",{class:"mlsys-title",text:O.title}),(0,C.ND)("div",{class:"mlsys-tools"},eS,eL,ej),eP),eW=(0,C.ND)("div",{class:"mlsys-tabs",role:"group","aria-label":"Plot",hidden:!0}),e_=(0,C.ND)("div",{class:"mlsys-alert",role:"alert"}),eR=(0,C.ND)("ul",{class:"mlsys-lamps","aria-label":`Targets of ${O.title}`}),eI=(0,C.ND)("p",{class:"mlsys-sentence",role:"status","aria-live":"polite"}),eF=(0,C.ND)("table",{class:"mlsys-table"}),eH=(0,C.ND)("div",{}),eB=(e,...s)=>(0,C.ND)("details",{class:"mlsys-fold"},(0,C.ND)("summary",{text:e}),...s),eU=(e,...s)=>(0,C.ND)("div",{class:"mlsys-scroll",tabindex:"0",role:"region","aria-label":e},...s),eJ=(0,C.ND)("p",{class:"mlsys-hint"}),eV=eB("What would help?",eJ),eY=eU(`The math of ${O.title}`),eZ=eB("The math",eY),eK=(n=window.matchMedia("(prefers-reduced-motion: reduce)"),i=(0,C.ND)("div",{class:"mlsys-stage",role:"img"}),o=(0,C.ND)("p",{class:"mlsys-caption",role:"status","aria-live":"polite"}),d=(0,C.ND)("button",{type:"button",text:"Play"}),m=(0,C.ND)("button",{type:"button",text:"◂ Step","aria-label":"One step back"}),p=(0,C.ND)("button",{type:"button",text:"Step ▸","aria-label":"One step forward"}),y=(0,C.ND)("select",{"aria-label":"Speed","data-lm-suppress-shortcuts":"true"},...el.map(e=>(0,C.ND)("option",{value:e,text:`${e}\xd7`,selected:1===e}))),c=(0,C.ND)("input",{type:"range",min:0,max:1e3,step:1,value:0,"aria-label":"Time in the film","data-lm-suppress-shortcuts":"true"}),h=(0,C.ND)("div",{class:"mlsys-transport"},d,m,p,y,c),u=(0,C.ND)("div",{class:"mlsys-player"},h,i,o),b=null,f="",g=0,v=0,x=0,w=[],k=[],N=null,D=()=>{let e=N.clientWidth;b.actors.forEach((s,t)=>{let l=function([,,e,s],t){if(t<e[0][0]||null!==s&&t>=s)return null;let l=e.findIndex(([e])=>e>t);if(l<0)return e[e.length-1].slice(1);let[a,r]=[e[l-1],e[l]],n=(t-a[0])/(r[0]-a[0]);return a.slice(1).map((e,s)=>e+n*(r[s+1]-e))}(s,g),a=w[t];if(a.style.display=l?"":"none",!l)return;let[r,n,i,o]=l;a.classList.toggle("mlsys-narrow",k[t]>i*e),Object.assign(a.style,{left:`${100*r}%`,bottom:`${100*n}%`,width:`${100*i}%`,height:`${100*o}%`})}),c.value=String(Math.round(1e3*g/b.seconds));let s=b.moments.filter(([e])=>e<=g+1e-6).pop()??b.moments[0];o.textContent!==s[1]&&(o.textContent=s[1],i.setAttribute("aria-label",`${b.title}. ${s[1]}`),c.setAttribute("aria-valuetext",s[1]))},z=()=>{cancelAnimationFrame(v),v=0,d.textContent="Play"},A=e=>{g=Math.min(b.seconds,g+(e-x)/1e3*Number(y.value)),x=e,D(),g>=b.seconds||!u.isConnected?z():v=requestAnimationFrame(A)},T=e=>{z();let s=b.moments.map(([e])=>e);g=(e>0?s.find(e=>e>g+1e-6):s.filter(e=>e<g-1e-6).pop())??(e>0?b.seconds:0),D()},d.addEventListener("click",()=>v?z():(g>=b.seconds&&(g=0),n.matches)?T(1):void(d.textContent="Pause",x=performance.now(),v=requestAnimationFrame(A))),m.addEventListener("click",()=>T(-1)),p.addEventListener("click",()=>T(1)),c.addEventListener("input",()=>{z(),g=b.seconds*Number(c.value)/1e3,D()}),new ResizeObserver(()=>{b&&D()}).observe(i),{node:u,stop:z,show(e,s){if(u.classList.toggle("mlsys-stale",s),s)return z();let t=JSON.stringify(e);if(t===f)return;if(f=t,!e){z(),b=null,i.replaceChildren();return}g=(b?g/b.seconds:0)*(b=e).seconds,i.style.height=`${b.height}px`;let l=b.rows.map(([e,s])=>(0,C.ND)("span",{class:"mlsys-row-name",style:`bottom: ${100*e}%`,text:s}));w=b.actors.map(([e,s])=>(0,C.ND)("span",{class:"mlsys-actor",style:`background: ${s}`,text:e})),N=(0,C.ND)("div",{class:"mlsys-scene"},...w),i.replaceChildren((0,C.ND)("div",{class:"mlsys-rows"},...l),N);let a=`11.5px ${getComputedStyle(i).fontFamily}`;k=b.actors.map(([e])=>(ea.font=a,e?ea.measureText(e).width+6:0)),D()}}),eX=eB("Play it",eK.node),eG=(l=O.title,E=(0,C.ND)("div",{class:"mlsys-leading",role:"list","aria-label":`Main numbers of ${l}`,"aria-live":"polite"}),$=(0,C.ND)("div",{class:"mlsys-cards",role:"list","aria-label":`Other numbers of ${l}`}),(M=(0,C.ND)("details",{class:"mlsys-fold",open:B.has(l)},(0,C.ND)("summary",{text:"All numbers"}),$)).addEventListener("toggle",()=>{M.open?B.add(l):B.delete(l)}),S=[],L="",{large:E,fold:M,show(e,s){for(;S.length<e.length;)S.push(function(){let e=(0,C.ND)("span"),s=(0,C.ND)("strong"),t=(0,C.ND)("em"),l=(0,C.ND)("div",{class:"mlsys-card",role:"listitem"},e,s,t);return{box:l,show([a,r,n,i]){e.textContent!==a&&(e.textContent=a),s.textContent!==r&&(s.textContent=r),t.textContent!==i&&(t.textContent=i),l.classList.toggle("mlsys-long",r.length>20),l.style.setProperty("--tone",n)}}}());S.length=e.length,e.forEach((e,s)=>S[s].show(e));let t=`${s}/${e.length}`;t!==L&&(L=t,E.replaceChildren(...s.map(e=>S[e].box)),$.replaceChildren(...S.filter((e,t)=>!s.includes(t)).map(({box:e})=>e)),E.hidden=!E.children.length,M.hidden=!$.children.length)}}),eQ=eB("Numbers as a table",eU(`Numbers of ${O.title}`,eF)),e0={hint:eV,math:eZ,table:eQ,film:eX};for(let[e,s]of Object.entries(e0)){let l=(t=W.open)[e]??(t[e]=new Set);a=W.state,s.open="table"===e?a.table.header.length>0:!!a[e],s.open&&l.add(s),s.addEventListener("toggle",()=>{let t=l.size;s.open?l.add(s):l.delete(s),!!t!=!!l.size&&ew("fold",{what:e,open:s.open})})}eX.addEventListener("toggle",()=>{eX.open||eK.stop()}),eX.hidden=!O.film,eZ.hidden=!O.math;let e1=(0,C.ND)("div",{class:"mlsys-readout"},eG.large,eR,e_,eI,eH,eG.fold,eV,eX,eZ,eQ,eq);s.append(eO,eT,eW,e1);let e2=(r=e=>{for(let s of eT.querySelectorAll("input, select, button"))s.disabled=e;for(let s of(eS.disabled=eL.disabled=e,Object.values(e0)))s.inert=e&&!s.open;for(let s of eD)s.freeze(e);(ez??s).classList.toggle("mlsys-frozen",e)},q=!1,P=new MutationObserver(j=()=>{let e=!!s.closest(".jupyter-widgets-disconnected");e!==q&&(q=e,eP.textContent=e?"This instrument has no kernel. Press Resume at the top of the lab.":"",eP.hidden=!e,r(e))}),{attach(e){for(let t of[s,s.parentElement,e])P.observe(t,{attributeFilter:["class"]});j()},get gone(){return q},remove(){P.disconnect()}}),e3="",e6="",e4="",e5="",e8=()=>{let t=W.state;for(let[l,a]of(ei()||X(e,s,""),eh(),Q=Q.filter(e=>e.stamp>(t.stamps.command??0)),Object.entries(eN)))t.options?.[l]&&a.fill?.(t.options[l]),a.node.hidden=t.hidden.includes(l),(!eo(l)||t.errors[l])&&(delete I[l],a.show(t.shown[l],t.values[l],t.errors[l]),a.complain?.(t.errors[l]??""));e$.hidden=[...eE.children].every(e=>e.hidden),eG.show(t.cards,t.leading);let l=JSON.stringify(t.lamps);l!==e5&&(e5=l,(0,C.v)(eR,t.lamps)),eI.textContent!==t.remark&&(eI.textContent=t.remark);let[a,r]=t.alert??["",""];e_.textContent!==a&&(e_.textContent=a),e_.style.setProperty("--tone",r),eV.hidden=!t.hints,eJ.textContent!==t.hint&&(eJ.textContent=t.hint),t.html!==e3&&(e3=t.html,eH.innerHTML=t.html??"");let n=JSON.stringify(t.math);if(n!==e4){e4=n;let e=eY.contains(document.activeElement)?document.activeElement.textContent:null;eY.replaceChildren(...(0,C.K)(t.math,e=>ew("part",{what:e}))),e&&[...eY.querySelectorAll("button")].find(s=>s.textContent===e)?.focus()}let i=JSON.stringify(t.table);i!==e6&&(e6=i,eF.replaceChildren(...(0,C.tp)(t.table))),eK.show(t.film,t.stale),clearTimeout(et),t.stale&&eX.open&&(et=setTimeout(()=>ew("fold",{what:"film",open:!0}),300)),eS.textContent=t.pinned?"Unpin":"Pin",eS.title=t.pinned?"Let the pinned state go":"Keep this state as a ghost and compare with it",eL.textContent=t.undo?"Undo reset":"Reset",eq.hidden||(eq.textContent=t.code),eD.forEach((e,s)=>e.show(t.frames[s],t.handles[s],t.values)),eC.forEach((e,s)=>e.show(t.legends[s]??[],t.titles[s])),ep(s,O.title,t.sentence),clearTimeout(ee),ei()&&eb()},e7=()=>{let e=s.closest(".mlsys-board")?.querySelectorAll(":scope > .mlsys-plot")??[];e.forEach((e,s)=>{if(!eD[s]){var t;let l,a,r,n,i,o,d,m,p,y,c,h,u;eD[s]=(t=(e,s)=>ef(e)(s),l=(0,C.ND)("div",{class:"mlsys-handles"}),a=new Map,r=null,n=null,i=[e.clientWidth,e.clientHeight],o=()=>{let[e,s,t,l]=r[2];return{left:l,top:e,width:i[0]-l-s,height:i[1]-e-t}},d=e=>{let{left:s,top:t,width:l,height:a}=o(),n=Math.min(1,Math.max(0,J(r[0],e.x))),i=Math.min(1,Math.max(0,J(r[1],e.y)));e.node.style.transform=`translate(${s+n*l}px, ${t+(1-i)*a}px)`},m=s=>{let{node:t,tip:l}=s;if(!t.matches(":hover, :focus-visible, .mlsys-held"))return;let a=e.closest(".mlsys-board")??e,r=a.getBoundingClientRect(),n=t.getBoundingClientRect(),i=e.getBoundingClientRect().width/e.clientWidth||1,o=l.offsetWidth*i,d=l.offsetHeight*i,m=[...a.querySelectorAll(".mlsys-plot text, .mlsys-legend li, .mlsys-card, .mlsys-sentence, .mlsys-lamps li")].map(e=>e.getBoundingClientRect()).filter(e=>e.width),p={x:(n.left+n.right)/2,y:(n.top+n.bottom)/2},y=[...[.5,1,.75,.25,0].flatMap(e=>[n.top-d-2,n.bottom+2].map(s=>[Math.min(Math.max(p.x-e*o,r.left+4),r.right-4-o),s])),[n.right+2,p.y-d/2],[n.left-2-o,p.y-d/2],[n.right+2,n.top-d-2],[n.right+2,n.bottom+2]],c=y.map(e=>(([e])=>e<r.left||e+o>r.right)(e)?1/0:(([e,s])=>m.reduce((t,l)=>t+Math.max(0,Math.min(e+o,l.right)-Math.max(e,l.left))*Math.max(0,Math.min(s+d,l.bottom)-Math.max(s,l.top)),0))(e));0!==c[s.side]&&(s.side=c.indexOf(Math.min(...c)));let[h,u]=y[s.side];l.style.left=`${(h-n.left)/i}px`,l.style.top=`${(u-n.top)/i}px`},p=(e,s)=>{n||requestAnimationFrame(()=>{let e=n;n=null,e()});let[t,l]=e.pulled;n=()=>ex(e.name,e.control,t,l,s)},y=(s,n)=>{let i=ek[n],d=function(e){if("slider"===e.kind)return{low:e.zero?0:e.low,high:e.high,at:e=>e,next:(s,t,l)=>F(e,s,t,l)};let s=e.options.map(([e])=>e);return{low:s[0],high:s[s.length-1],at:e=>s.indexOf(e),next:(e,t)=>{let l;return l=s.indexOf(e)+t,s[Math.min(s.length-1,Math.max(0,l))]}}}(i),y=(0,C.ND)("div",{class:"mlsys-handle",role:"slider",tabindex:"0","aria-label":i.label,"aria-valuemin":Y(d.at(d.low)),"aria-valuemax":Y(d.at(d.high)),"data-handle":s,"data-lm-suppress-shortcuts":"true"},(0,C.ND)("span",{class:"mlsys-grip"}),(0,C.ND)("span",{class:"mlsys-tip","aria-hidden":"true"})),c={name:s,control:n,node:y,scale:d,tip:y.lastChild};for(let s of(y.addEventListener("pointerdown",e=>{e.button||(e.preventDefault(),y.focus({preventScroll:!0}),y.setPointerCapture(e.pointerId),y.classList.add("mlsys-held"))}),y.addEventListener("pointermove",s=>{y.hasPointerCapture(s.pointerId)&&(c.pulled=(s=>{let t=e.getBoundingClientRect(),{left:l,top:a,width:n,height:i}=o(),d=t.width/e.clientWidth||1,m=((s.clientX-t.left)/d-l)/n,p=1-((s.clientY-t.top)/d-a)/i;return[V(r[0],Math.min(1,Math.max(0,m))),V(r[1],Math.min(1,Math.max(0,p)))]})(s),p(c,!0))}),["pointerenter","focus"]))y.addEventListener(s,()=>m(c));let h=()=>{y.classList.remove("mlsys-held"),c.pulled&&p(c,!1),c.pulled=null};return y.addEventListener("pointerup",h),y.addEventListener("pointercancel",h),y.addEventListener("keydown",e=>{let s=U[e.key];if(!s&&"Home"!==e.key&&"End"!==e.key)return;e.preventDefault(),e.stopPropagation();let l=s?d.next(c.value,c.flip?-s:s,e.key.startsWith("Page")):"Home"===e.key?d.low:d.high;c.value=l,t(n,l)}),l.append(y),a.set(s,c),c},c=0,h=()=>{if(r&&i[0]){for(let e of a.values())d(e);c||(c=requestAnimationFrame(()=>{for(let e of(c=0,a.values()))m(e)}))}},(u=new ResizeObserver(()=>{i=[e.clientWidth,e.clientHeight],h()})).observe(e),e.append(l),{plot:e,freeze(e){l.inert=e},show(e,s,t){r=e;let l=new Set(a.keys());for(let[e,r,n,i,o,d,m]of s){let s=a.get(e)??y(e,r);l.delete(e),Object.assign(s,{x:n,y:i,flip:d}),eo(r)||(s.value=t[r]),s.node.dataset.along=o,s.node.setAttribute("aria-valuenow",Y(s.scale.at(t[r]))),s.node.setAttribute("aria-valuetext",m);let p=`${ek[r].label}: ${m}`;s.tip.textContent!==p&&(s.tip.textContent=p)}for(let e of l)a.get(e).node.remove(),a.delete(e);h()},remove(){u.disconnect(),cancelAnimationFrame(c),l.remove()}}),eC[s]=(0,C.Sj)(e,O.title),O.plots.length>1&&(eC[s].list.dataset.name=O.names[s]),eD[s].show(W.state.frames[s],W.state.handles[s],W.state.values),eD[s].freeze(e2.gone),eC[s].show(W.state.legends[s]??[],W.state.titles[s])}}),eA.take(eD.map((e,s)=>[e.plot,eC[s].list])),ep(s,O.title,W.state.sentence),[...e].filter(e=>e.querySelector("svg:not(.mlsys-sign)")).length===O.plots.length&&e9.disconnect()},e9=new MutationObserver(e7),se=()=>{ez||(ez=s.closest(".mlsys-board"))&&(eA=function(e,s,t,l,{names:a,heights:r}){let n=e.closest(".jp-WindowedPanel-outer")??document.documentElement,i=0,o=0,d="",m=[],p=e=>{i=e,[...t.children].forEach((s,t)=>s.setAttribute("aria-pressed",String(t===e))),m.forEach(([s,t],l)=>{for(let a of[s,t])a.classList.toggle("mlsys-away",l!==e)})};a.forEach((e,s)=>{let l=(0,C.ND)("button",{type:"button",text:e});l.addEventListener("click",()=>{p(s),h()}),t.append(l)});let y=()=>l.offsetHeight-[...l.querySelectorAll(":scope > details[open]")].reduce((e,s)=>e+s.offsetHeight-s.firstChild.offsetHeight,0),c=()=>getComputedStyle(e).gridTemplateColumns.trim().includes(" "),h=()=>{let a,o,p,h,u,b,f=n.clientHeight,g=m[i]?.[0];if(!f||!g||!e.offsetWidth||e.querySelector(".mlsys-held"))return;e.classList.toggle("mlsys-low",f<760);let v=[f,e.offsetWidth,m.length].join();v!==d&&(a=m.reduce((e,[,s],t)=>e+r[t]+s.offsetHeight,0),o=e.querySelector(".mlsys-head").offsetHeight+40,p=44*!!l.querySelector(".mlsys-alert:empty"),h=a+y()+p,u=s.offsetHeight,b=o+(c()?Math.max(u,h):u+h),e.classList.toggle("mlsys-compact",b>f-20)),d=v;let x=e.classList.contains("mlsys-compact");if(t.hidden=!x||m.length<2,!x){for(let[s]of(e.style.removeProperty("--plot-height"),m))Z(s);return}let w=e.getBoundingClientRect(),k=g.getBoundingClientRect().top,N=w.width/e.offsetWidth||1,D=(k-w.top)/N,C=y()+20,z=c(),A=f-20-D-C-(z?0:s.offsetHeight),T=z?(s.getBoundingClientRect().bottom-k)/N-C:0,E=Math.max(170,Math.min(Math.max(r[i]*(Number(getComputedStyle(e).getPropertyValue("--mlsys-plot-growth"))||1),T),A));for(let[s]of(e.style.setProperty("--plot-height",`${Math.floor(E)}px`),m))Z(s)},u=()=>{clearTimeout(o),o=setTimeout(h,150)},b=new ResizeObserver(u);for(let s of[n,e,l])b.observe(s);let f=new MutationObserver(u);return{take(e){for(let[s]of m=e)f.observe(s,{subtree:!0,attributeFilter:["width","viewBox"]});p(Math.min(i,Math.max(0,m.length-1))),h()},remove(){clearTimeout(o),f.disconnect(),b.disconnect()}}}(ez,eT,eW,e1,O),e2.attach(ez),e9.observe(ez,{childList:!0,subtree:!0}),e7())},ss=new ResizeObserver(se);ss.observe(e1),W.views.add(e8);let st=e=>{e?.newest&&ei()&&(es=0,eb())};return e.on("msg:custom",st),e8(),requestAnimationFrame(se),()=>{for(let e of(e9.disconnect(),ss.disconnect(),eA?.remove(),e2.remove(),clearTimeout(ee),clearTimeout(et),eK.stop(),[...eD,...eC]))e.remove();for(let[e,s]of Object.entries(e0))W.open[e].delete(s);W.views.delete(e8),e.off("msg:custom",st),X(e,s,"")}}function ep(e,s,t){let l=`${s}. ${t}`;for(let s of e.closest(".mlsys-board")?.querySelectorAll(".mlsys-plot")??[])s.querySelectorAll(":scope svg:not(.mlsys-sign)").forEach((e,s)=>{s?e.setAttribute("aria-hidden","true"):e.getAttribute("aria-label")!==l&&(e.setAttribute("role","img"),e.setAttribute("aria-label",l))})}class ey extends l.DOMWidgetModel{initialize(e,s){super.initialize(e,s),D.n.dispatchEvent(new Event("model"))}async _handle_comm_msg(e){try{await super._handle_comm_msg(e)}catch(e){console.error(e),this.state_change=Promise.resolve(),this.trigger("mlsys:undrawn")}}}class ec extends ey{initialize(e,s){super.initialize(e,s),(0,A.no)(this),this.on("change:view",es(this,()=>this.get("view").number??0))}}class eh extends ey{initialize(e,s){var t;let l;super.initialize(e,s),t=this,l={state:null,first:t.get("readout").number,pause:250,views:new Set,open:{},moved:{}},er.set(t,l),l.begun=new Promise(e=>{l.begin=e}),l.take=()=>{t._closed||(l.taken=ed(t,l))},l.isShown=es(t,()=>l.state?.number??0,async()=>{await t.state_change,await l.taken}),t.on("change:readout",l.take),l.take()}}eh.serializers={...l.DOMWidgetModel.serializers,readout:{serialize:e=>({...e})}};class eu extends l.DOMWidgetView{render(){var e,s;let t,l;this.cover=(e=this.model,s=this.el,(t=document.createElement("p")).className="mlsys-cover",t.setAttribute("role","status"),l=()=>{let l=[...e.standing?.values()??[]],a=["all","readout","note"].flatMap(e=>l.filter(({covered:s})=>s===e))[0];t.textContent!==(a?.words??"")&&(t.textContent=a?.words??""),t.hidden=!a,a?s.dataset.covered=a.covered:delete s.dataset.covered},e.on("mlsys:standing",l),l(),{sentence:t,remove:()=>e.off("mlsys:standing",l)}),this.listenTo(this.model,"mlsys:undrawn",()=>void this.attempt(250)),this.attempt(250)}async attempt(e){clearTimeout(this.again),this.stop?.(),this.stop=null,this.el.replaceChildren(this.cover.sentence);try{let e=await this.draw(this.model,this.el);if(this.isRemoved)return e();this.stop=e,X(this.model,this,""),this.el.querySelector(":scope > .mlsys-head")?.append(this.cover.sentence)}catch(s){console.error(s),X(this.model,this,`This could not be drawn (${s.message??s}). Trying again.`),this.again=setTimeout(()=>void this.attempt(Math.min(2*e,3e4)),e)}}remove(){return this.isRemoved=!0,clearTimeout(this.again),this.stop?.(),this.cover.remove(),X(this.model,this,""),super.remove()}}class eb extends eu{get draw(){return W}}class ef extends eu{get draw(){return em}}},35(e,s,t){var l=t(30),a=t.n(l),r=t(31),n=(t.n(r))()(a());n.push([e.id,`/* Cards of a lab: what is asked, committed and said. Sizes, widths and colors: design.css. */
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
.mlsys-lab-recorded time { font-size: var(--mlsys-note); color: var(--mlsys-quiet); white-space: nowrap; }
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
.mlsys-lab-confidence .mlsys-lab-inline > span { grid-row: 2; font-size: var(--mlsys-note); color: var(--mlsys-quiet); white-space: nowrap; }
.mlsys-lab-confidence .mlsys-lab-inline > span:last-child { grid-column: 5; justify-self: end; }
.mlsys-lab-frame button, .mlsys-lab-frame select, .mlsys-lab-frame input[type="text"], .mlsys-lab-frame textarea {
  font: inherit; color: inherit; background: var(--mlsys-field);
  border: 1px solid var(--mlsys-edge); border-radius: 6px; padding: 6px 14px; min-height: 36px; box-sizing: border-box; max-width: 100%;
}
.mlsys-lab-frame textarea { width: 100%; resize: vertical; line-height: var(--mlsys-line-height); padding: 8px 12px; }
.mlsys-lab-frame input[type="text"] { width: 240px; }
.mlsys-lab-frame select { padding: 2px 8px; margin: 0 3px; min-height: 32px; }

/* Buttons: one of a page is filled, that of the card that leads or that somebody works on. */
.mlsys-lab-frame button { cursor: pointer; }
.mlsys-lab-frame button:hover { background: var(--mlsys-tint); }
.mlsys-lab-frame button.mlsys-lab-main:not(.mlsys-lab-again) { border-color: var(--mlsys-primary); font-weight: var(--mlsys-strong); }
.mlsys-lab-frame:is(.mlsys-lab-leads, :focus-within):is([data-state="open"], .mlsys-lab-entered) button.mlsys-lab-main:not(.mlsys-lab-again) { background: var(--mlsys-primary); color: #fff; }
.mlsys-lab-frame:is(.mlsys-lab-leads, :focus-within):is([data-state="open"], .mlsys-lab-entered) button.mlsys-lab-main:not(.mlsys-lab-again):hover { background: var(--mlsys-primary-hover); }
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
.mlsys-lab-cards { display: grid; gap: 12px 24px; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); }
.mlsys-lab-card:only-child { max-width: 300px; }
.mlsys-lab-card { border-top: 2px solid var(--tone, var(--mlsys-textbook)); padding: 6px 0 0; min-width: 0; }
.mlsys-lab-card span, .mlsys-lab-card small { display: block; font-size: var(--mlsys-note); color: var(--mlsys-quiet); }
.mlsys-lab-card strong { display: block; margin: 2px 0; font-size: var(--mlsys-lead); line-height: 1.3; overflow-wrap: anywhere; }
.mlsys-lab-steps { display: grid; gap: 10px 24px; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); }
.mlsys-lab-steps section > p { display: flex; justify-content: space-between; gap: 8px; }
.mlsys-lab-steps section > p span { color: var(--mlsys-quiet); white-space: nowrap; }
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
`,""]),t.d(s,{},{A:n})},37(e,s,t){var l=t(30),a=t.n(l),r=t(31),n=(t.n(r))()(a());n.push([e.id,`/* One visual language for all instruments: the picture first, two large numbers below it, and the controls
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
.mlsys-row input[type="text"] { flex: 0 0 106px; width: 106px; padding-inline: 6px; text-align: right; font-variant-numeric: tabular-nums; }
/* What is chosen may need two lines, which no browser gives to a menu: it lies over its words, unseen. */
.mlsys-menu { display: grid; position: relative; border-radius: 5px; }
.mlsys-menu > * { grid-area: 1 / 1; min-width: 0; }
.mlsys-panel .mlsys-menu > select { opacity: 0; width: 100%; height: 100%; cursor: pointer; }
.mlsys-panel .mlsys-menu > .mlsys-chosen { padding-right: 26px; line-height: 1.3; pointer-events: none; overflow-wrap: anywhere; }
.mlsys-chosen::after { content: ""; position: absolute; right: 10px; top: 50%; width: 6px; height: 6px; border: solid currentColor; border-width: 0 1.5px 1.5px 0; transform: translateY(-70%) rotate(45deg); }
.mlsys-menu > select:disabled + .mlsys-chosen { opacity: 0.6; }
/* Help appears below its control on hover and when the keyboard is there, for one control at a time; screen readers
   always read it. */
.mlsys-help {
  position: absolute; z-index: 5; top: 100%; left: 0; right: 0; margin: 2px 0 0; padding: 6px 9px;
  line-height: 1.35; border-radius: 5px; pointer-events: none;
  color: var(--jp-ui-inverse-font-color1, #fff); background: var(--jp-inverse-layout-color1, #303030);
  opacity: 0; visibility: hidden;
}
.mlsys-control:hover > .mlsys-help, .mlsys-controls:not(:has(.mlsys-control:hover)) .mlsys-control:has(:focus-visible) > .mlsys-help { opacity: 1; visibility: visible; transition: opacity 0.15s 0.35s, visibility 0s 0.35s; }
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
.mlsys-leading > .mlsys-card.mlsys-long strong { font-size: var(--mlsys-lead); line-height: 1.3; }
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
.mlsys-lost, .mlsys-cover { flex: 1 0 100%; margin: 4px 0 0; border-left: 4px solid var(--mlsys-failure); border-radius: 6px; padding: 6px 12px; background: color-mix(in srgb, var(--mlsys-failure) 12%, transparent); }
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
`,""]),t.d(s,{},{A:n})},32(e,s,t){var l=t(30),a=t.n(l),r=t(31),n=(t.n(r))()(a());n.push([e.id,`/* The one design system: cards, instruments, the panel, feedback and reports take their sizes, weights,
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
`,""]),t.d(s,{},{A:n})},36(e,s,t){var l=t(30),a=t.n(l),r=t(31),n=(t.n(r))()(a());n.push([e.id,`/* A reveal: the largest thing on the page. The result leads, one axis shows how far off it was. */
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
`,""]),t.d(s,{},{A:n})},31(e){e.exports=function(e){var s=[];return s.toString=function(){return this.map(function(s){var t="",l=void 0!==s[5];return s[4]&&(t+="@supports (".concat(s[4],") {")),s[2]&&(t+="@media ".concat(s[2]," {")),l&&(t+="@layer".concat(s[5].length>0?" ".concat(s[5]):""," {")),t+=e(s),l&&(t+="}"),s[2]&&(t+="}"),s[4]&&(t+="}"),t}).join("")},s.i=function(e,t,l,a,r){"string"==typeof e&&(e=[[null,e,void 0]]);var n={};if(l)for(var i=0;i<this.length;i++){var o=this[i][0];null!=o&&(n[o]=!0)}for(var d=0;d<e.length;d++){var m=[].concat(e[d]);l&&n[m[0]]||(void 0!==r&&(void 0===m[5]||(m[1]="@layer".concat(m[5].length>0?" ".concat(m[5]):""," {").concat(m[1],"}")),m[5]=r),t&&(m[2]&&(m[1]="@media ".concat(m[2]," {").concat(m[1],"}")),m[2]=t),a&&(m[4]?(m[1]="@supports (".concat(m[4],") {").concat(m[1],"}"),m[4]=a):m[4]="".concat(a)),s.push(m))}},s}},30(e){e.exports=function(e){return e[1]}},23(e){var s=[];function t(e){for(var t=-1,l=0;l<s.length;l++)if(s[l].identifier===e){t=l;break}return t}function l(e,l){for(var a={},r=[],n=0;n<e.length;n++){var i=e[n],o=l.base?i[0]+l.base:i[0],d=a[o]||0,m="".concat(o," ").concat(d);a[o]=d+1;var p=t(m),y={css:i[1],media:i[2],sourceMap:i[3],supports:i[4],layer:i[5]};if(-1!==p)s[p].references++,s[p].updater(y);else{var c=function(e,s){var t=s.domAPI(s);return t.update(e),function(s){s?(s.css!==e.css||s.media!==e.media||s.sourceMap!==e.sourceMap||s.supports!==e.supports||s.layer!==e.layer)&&t.update(e=s):t.remove()}}(y,l);l.byIndex=n,s.splice(n,0,{identifier:m,updater:c,references:1})}r.push(m)}return r}e.exports=function(e,a){var r=l(e=e||[],a=a||{});return function(e){e=e||[];for(var n=0;n<r.length;n++){var i=t(r[n]);s[i].references--}for(var o=l(e,a),d=0;d<r.length;d++){var m=t(r[d]);0===s[m].references&&(s[m].updater(),s.splice(m,1))}r=o}}},25(e){var s={};e.exports=function(e,t){var l=function(e){if(void 0===s[e]){var t=document.querySelector(e);if(window.HTMLIFrameElement&&t instanceof window.HTMLIFrameElement)try{t=t.contentDocument.head}catch(e){t=null}s[e]=t}return s[e]}(e);if(!l)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");l.appendChild(t)}},27(e){e.exports=function(e){var s=document.createElement("style");return e.setAttributes(s,e.attributes),e.insert(s,e.options),s}},26(e,s,t){e.exports=function(e){var s=t.nc;s&&e.setAttribute("nonce",s)}},24(e){e.exports=function(e){if("u"<typeof document)return{update:function(){},remove:function(){}};var s=e.insertStyleElement(e);return{update:function(t){var l,a,r;l="",t.supports&&(l+="@supports (".concat(t.supports,") {")),t.media&&(l+="@media ".concat(t.media," {")),(a=void 0!==t.layer)&&(l+="@layer".concat(t.layer.length>0?" ".concat(t.layer):""," {")),l+=t.css,a&&(l+="}"),t.media&&(l+="}"),t.supports&&(l+="}"),(r=t.sourceMap)&&"u">typeof btoa&&(l+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(r))))," */")),e.styleTagTransform(l,s,e.options)},remove:function(){var e;null===(e=s).parentNode||e.parentNode.removeChild(e)}}}},28(e){e.exports=function(e,s){if(s.styleSheet)s.styleSheet.cssText=e;else{for(;s.firstChild;)s.removeChild(s.firstChild);s.appendChild(document.createTextNode(e))}}}}]);