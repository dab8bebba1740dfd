// Whether a page shows what its kernel has. Messages can be lost on their way: a server drops updates
// when there are too many, and a connection that breaks takes some along. So what our widgets show has
// a number that only grows. When the kernel has done something and rests, the page tells it all of its
// numbers; the kernel sends what is newer, and answers with the numbers of that.
//
// It costs one message for a page, and nothing while nothing happens. A question by the clock would
// make servers look used that nobody uses, and keep them from being stopped.
import { whenReplaced } from "./replaced";
import { clock, stand } from "./standing";

// Milliseconds: how long the kernel rests before it is asked, and how long an answer may take before
// it is asked again, which doubles each time.
const REST = 500, PATIENCE = 2000;
const MOST = 4;

const BEHIND = "What stood here is out of date: the kernel has something newer, and it is being fetched.";
const silence = (since) => `The kernel has not answered since ${since}, so this may be out of date. If it was`
  + " restarted, press Resume at the top of the lab.";

// One for each widget manager, that is, for each kernel.
const CHECKS = new WeakMap();

// Follow a model. `shown` returns the number of what is shown, after `settled` has resolved. The
// function that is returned must be called when something newer is shown.
export function follow(model, shown, settled = () => model.state_change) {
  const manager = model.widget_manager;
  if (!CHECKS.has(manager)) CHECKS.set(manager, new Check(manager));
  return CHECKS.get(manager).add(model, shown, settled);
}

class Check {
  constructor(manager) {
    this.manager = manager;
    this.followed = new Map();
    this.kernels = new WeakSet();
    this.visible = () => { if (document.visibilityState === "visible") this.soon(); };
    this.timer = this.asked = this.tries = 0;
    this.own = ""; // the message that the last question is
    this.missed = false; // whether something happened that it does not follow
  }

  add(model, shown, settled) {
    if (!this.followed.size) document.addEventListener("visibilitychange", this.visible);
    const one = { shown, settled, known: 0 };
    one.look = () => {
      const isBehind = one.shown() < one.known;
      stand(model, "behind", isBehind && BEHIND);
      return isBehind;
    };
    this.followed.set(model, one);
    model.on("msg:custom", (message) => { if (message?.newest) void this.heard(message); });
    // Where the page tells nothing about its kernel, a message of any widget of ours has to do.
    model.on("change", () => { if (!this.asked) this.soon(); });
    const leave = () => {
      if (model.comm_live && !model._closed) return;
      this.followed.delete(model);
      if (!this.followed.size) document.removeEventListener("visibilitychange", this.visible);
    };
    model.on("comm_live_update", leave);
    model.once("destroy", leave);
    this.watch(this.manager.kernel);
    return one.look;
  }

  // JupyterLab tells when its kernel is done with something, and when a lost connection is back.
  watch(kernel) {
    if (!kernel?.iopubMessage || this.kernels.has(kernel)) return;
    this.kernels.add(kernel);
    whenReplaced(kernel, () => { for (const model of [...this.followed.keys()]) model.comm_live = false; });
    kernel.iopubMessage.connect((_, { header, content, parent_header }) => {
      if (header.msg_type !== "status") return;
      const isOwn = parent_header?.msg_id === this.own;
      // The question follows what the kernel did before it begins with it, and not what it does later, even if
      // the answer to it is still on its way to the screen.
      if (isOwn && content.execution_state === "busy") this.missed = false;
      if (!isOwn && content.execution_state === "idle") this.soon();
    });
    kernel.connectionStatusChanged.connect((_, status) => { if (status === "connected") this.soon(); });
  }

  soon() {
    this.missed = Boolean(this.asked);
    if (this.asked) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.tries = 0; this.since = clock(); this.ask(); }, REST);
  }

  ask() {
    clearTimeout(this.timer);
    const live = [...this.followed].filter(([model]) => model.comm_live);
    if (!live.length) { this.asked = 0; return; }
    this.asked = Date.now() + Math.random();
    const have = Object.fromEntries(live.map(([model, { shown }]) => [model.model_id, shown()]));
    const question = { method: "custom", content: { have, stamp: this.asked } };
    try { this.own = live[0][0].comm.send(question); } catch { /* as if it were lost */ }
    this.wait(() => this.unanswered());
  }

  wait(then) { this.timer = setTimeout(then, PATIENCE * 2 ** this.tries); }

  unanswered() {
    // A kernel that runs a cell answers when it is done.
    if (this.manager.kernel?.status === "busy") return this.wait(() => this.unanswered());
    this.tries += 1;
    if (this.tries <= MOST) return this.ask();
    this.asked = 0;
    for (const model of this.followed.keys()) stand(model, "silent", silence(this.since), "note");
  }

  async heard({ newest, stamp }) {
    if (stamp !== this.asked) return;
    clearTimeout(this.timer);
    this.asked = 0;
    if (this.missed) this.soon();
    const behind = await Promise.all([...this.followed].map(async ([model, one]) => {
      stand(model, "silent", "");
      one.known = Math.max(one.known, newest[model.model_id] ?? 0);
      // What is newer came before the answer, but may still be on its way to the screen.
      await one.settled();
      return one.look();
    }));
    // What was sent again may be lost again.
    if (!this.asked && behind.some(Boolean) && this.tries < MOST) {
      this.tries += 1;
      clearTimeout(this.timer);
      this.wait(() => this.ask());
    }
  }
}
