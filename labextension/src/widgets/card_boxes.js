// What stands in the boxes of one card, whether or not it is drawn: what was recorded, or a draft.
//
// A draft is what was typed over something: once the card shows something else as recorded, the draft
// is out of date and goes. So what is recorded wins, whichever window or kernel recorded it.

const INPUTS = new Set(["options", "confidence", "textbox", "textarea", "blanks", "checkboxes"]);

// What a box holds when nobody has typed into it.
function recordedIn(part) {
  if (part.kind !== "blanks") return part.value;
  const gaps = part.pieces.filter((piece) => typeof piece !== "string");
  return Object.fromEntries(gaps.map(({ name, value }) => [name, value]));
}

const isBlank = (value) => value === null || value === undefined || value === ""
  || (typeof value === "object" && Object.values(value).every(isBlank));

// The ledger has the names of gaps in an order of its own.
const inOrder = (_name, value) => (value && typeof value === "object" && !Array.isArray(value)
  ? Object.fromEntries(Object.keys(value).sort().map((name) => [name, value[name]])) : value);
const written = (value) => JSON.stringify(value ?? null, inOrder);

export const same = (one, other) => written(one) === written(other);

export class CardBoxes {
  constructor(model, store) {
    this.model = model;
    this.store = store;
    this.views = new Set(); // functions that bring a box up to date
    this.memory = new Map(); // of a card that records nothing
    this.asked = new Map();
    this.heard = (item, box) => {
      if (item !== this.item) return;
      this.settle();
      this.tell(box);
    };
    store.listeners.add(this.heard);
    model.on("change:view", () => this.settle());
    model.on("msg:custom", (message) => this.hear(message));
    this.settle();
  }

  get view() {
    return this.model.get("view");
  }

  // Whether a kernel is behind the card, and a page in front of it: a notebook that is closed leaves its
  // models behind, and what they know grows old.
  get isLive() {
    return this.model.comm_live !== false && !this.model.widget_manager.context?.isDisposed;
  }

  // Say that the card is no more; its drafts stay.
  stop() {
    this.store.listeners.delete(this.heard);
  }

  get item() {
    return this.view.item?.id ?? "";
  }

  // Boxes that can be filled in now.
  get open() {
    return (this.view.parts ?? []).filter((part) => INPUTS.has(part.kind) && !part.disabled && !part.asks);
  }

  part(key) {
    return (this.view.parts ?? []).find((part) => part.key === key);
  }

  // The draft that a box shows: this window's own, or the newest.
  draft(key) {
    if (!this.item) return this.memory.get(key) ?? null;
    const drafts = this.store.of(this.item, key);
    return drafts.find((draft) => this.store.isMine(draft)) ?? drafts[0] ?? null;
  }

  // A draft of another window that says something else than the one that is shown.
  rival(key) {
    const shown = this.draft(key);
    return this.drafts(key).find((draft) => draft !== shown && !same(draft.value, shown.value)) ?? null;
  }

  value(part) {
    const draft = part.disabled ? null : this.draft(part.key);
    return draft ? draft.value : recordedIn(part);
  }

  // Whether something stands in a box that is not what was recorded.
  differs(part) {
    const draft = this.draft(part.key);
    return Boolean(draft) && !same(draft.value, recordedIn(part));
  }

  get unrecorded() {
    // What waits to be confirmed stands in boxes that are closed for now.
    const parts = this.view.unsettled ? (this.view.parts ?? []).filter((part) => INPUTS.has(part.kind)) : this.open;
    return parts.filter((part) => this.differs(part));
  }

  // Of these, the boxes that hold something recorded: others are filled in for the first time, as the next
  // claim of a card that records one after the other.
  get changed() {
    return this.view.item?.recorded ? this.unrecorded.filter((part) => !isBlank(recordedIn(part))) : [];
  }

  keep(key, value) {
    const part = this.part(key);
    if (!part) return;
    const over = recordedIn(part);
    if (!this.item) { this.memory.set(key, { value, over }); this.tell(key); return; }
    // What was taken over from another window is this window's from now on.
    const before = this.draft(key);
    this.store.put(this.item, key, value, over, this.view.item.ledger, this.isOnTheWay(key, value));
    if (before && !this.store.isMine(before)) this.store.drop(this.item, key, before);
  }

  // Go back to what was recorded.
  discard(key) {
    for (const draft of this.drafts(key)) this.store.drop(this.item, key, draft);
    if (this.memory.delete(key)) this.tell(key);
  }

  // Decide between this window's draft and another window's.
  choose(key, draft) {
    const others = this.drafts(key).filter((each) => each !== draft);
    if (!this.store.isMine(draft)) this.keep(key, draft.value);
    for (const other of others) if (!this.store.isMine(other)) this.store.drop(this.item, key, other);
  }

  values() {
    const parts = (this.view.parts ?? []).filter((part) => INPUTS.has(part.kind));
    return Object.fromEntries(parts.map((part) => [part.key, this.value(part)]));
  }

  // Ask the kernel for something, with what stands in all boxes and what was just chosen; resolves with
  // its trouble, or "", once it has answered.
  ask(action, chosen = {}) {
    const values = { ...this.values(), ...chosen }, stamp = performance.now() + Math.random();
    return new Promise((resolve) => {
      this.asked.set(stamp, { action, values, resolve });
      this.model.send({ action, values, stamp });
    });
  }

  // private

  drafts(key) {
    return this.item ? this.store.of(this.item, key) : [];
  }

  tell(key) {
    for (const view of this.views) view(key);
  }

  hear(message) {
    const waiting = this.asked.get(message?.answered);
    if (!waiting) return;
    this.asked.delete(message.answered);
    const trouble = message.refusal;
    // What was sent is recorded now, even if it reads as before. What was typed since then stays.
    if (!trouble && waiting.action === this.view.item?.record) {
      for (const [key, value] of Object.entries(waiting.values)) {
        for (const draft of this.drafts(key)) if (same(draft.value, value)) this.store.drop(this.item, key, draft);
        if (same(this.memory.get(key)?.value, value)) this.memory.delete(key);
        this.tell(key);
      }
    }
    waiting.resolve(trouble);
  }

  // Let go of drafts that are out of date. A card whose kernel is gone cannot tell which are.
  settle() {
    if (!this.item || this.view.unsettled || !this.isLive) return;
    const open = new Set(this.open.map((part) => part.key));
    // What is recorded for good has closed its boxes, and some of them are not on the card any more.
    if (this.view.item.recorded && !open.size) {
      for (const draft of this.store.all()) {
        if (draft.item === this.item) this.store.drop(this.item, draft.box, draft);
      }
    }
    for (const part of this.view.parts ?? []) {
      if (!INPUTS.has(part.kind)) continue;
      for (const draft of this.drafts(part.key)) {
        const isOpen = open.has(part.key) && !this.isOfAnotherCopy(draft);
        if (isOpen && same(draft.over, recordedIn(part))) continue;
        // Typed while the answer was under way: it is newer than what was recorded.
        const isMine = this.store.isMine(draft);
        const isNewer = draft.meanwhile || (isMine && this.isOnTheWay(part.key, draft.value));
        if (isOpen && isNewer && !same(draft.value, recordedIn(part))) {
          // Each of these tells, and so settles again: what was another window's goes first.
          if (!isMine) this.store.drop(this.item, part.key, draft);
          this.store.put(this.item, part.key, draft.value, recordedIn(part), this.view.item.ledger);
          continue;
        }
        this.store.drop(this.item, part.key, draft);
      }
    }
  }

  // Whether the lab was deleted and fetched again since: then its ledger is another one, or none.
  isOfAnotherCopy(draft) {
    const { ledger = null } = this.view.item;
    return Boolean(draft.ledger) && ledger !== null && draft.ledger !== ledger;
  }

  // Whether something else from a box was sent, and nobody knows yet what came of it.
  isOnTheWay(key, value) {
    return [...this.asked.values()].some(({ values }) => key in values && !same(values[key], value));
  }
}
