// What is typed into the cards of one notebook and not recorded yet.
//
// The browser keeps it at once, in its own storage, where neither a restarted kernel nor a reload
// reaches it. A moment later it lies beside the ledger too, for another browser: through the server,
// or through the kernel where no server of ours is (`remote`).
//
// Every window of the browser writes drafts of its own. So no window overwrites another, and a box
// with two drafts can say so.

// Milliseconds without typing until drafts travel, and the longest that they wait.
const PAUSE = 500;
const LONGEST = 3000;
// Milliseconds until a save that failed is tried again.
const RETRY = 5000;

// A new name with every load: what this window typed before is taken over like any other draft.
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join("-");
const PREFIX = "mlsys-draft";
const SEPARATOR = "\n";

// A browser may refuse storage, as private windows do; then the drafts of this page are all there is.
const storage = (() => {
  try {
    localStorage.setItem(PREFIX, "");
    localStorage.removeItem(PREFIX);
    return localStorage;
  } catch {
    return null;
  }
})();

function parsed(text) {
  try {
    const draft = JSON.parse(text);
    return draft && typeof draft.at === "number" && typeof draft.window === "string" ? draft : null;
  } catch {
    return null;
  }
}

export class DraftStore {
  // `place` names the notebook among all that this browser knows.
  constructor(place, remote) {
    this.place = place;
    this.remote = remote;
    this.drafts = new Map(); // by item, box and window
    this.listeners = new Set();
    this.changes = new Map(); // what the remote side has not got yet
    this.timer = null;
    this.waits = 0;
    this.newest = 0;
    this.trouble = "";
    this.root = [PREFIX, place, ""].join(SEPARATOR);
    for (const key of storage ? Object.keys(storage) : []) {
      if (key.startsWith(this.root)) this.take(key, parsed(storage.getItem(key)));
    }
    window.addEventListener("storage", (event) => {
      if (!event.key?.startsWith(this.root)) return;
      this.take(event.key, parsed(event.newValue));
      this.tell(event.key);
    });
    // A page that is left sends what it has, for another browser. One that is looked at again asks
    // what another browser has sent.
    document.addEventListener("visibilitychange", () => {
      void (document.visibilityState === "hidden" ? this.flush() : this.load());
    });
    this.loaded = this.load();
  }

  // All drafts of a box, the newest first.
  of(item, box) {
    const start = this.key(item, box, "");
    return [...this.drafts].filter(([key]) => key.startsWith(start)).map(([, draft]) => draft)
      .sort((one, other) => other.at - one.at);
  }

  // Every draft with its item and box.
  all() {
    return [...this.drafts].map(([key, draft]) => {
      const [item, box] = this.named(key);
      return { ...draft, item, box };
    });
  }

  isMine(draft) {
    return draft.window === WINDOW;
  }

  // Keep what this window has in a box, typed over what was recorded in it, in a ledger by its id; `meanwhile`
  // something else from the box may have been recorded.
  put(item, box, value, over, ledger, meanwhile = false) {
    this.newest = Math.max(this.newest + 1, Date.now());
    const draft = { window: WINDOW, value, over, at: this.newest, ledger: ledger ?? "", meanwhile };
    this.write(item, box, WINDOW, draft);
  }

  drop(item, box, draft) {
    this.write(item, box, draft.window, null);
  }

  // Send what waits now; resolves once it has arrived or failed.
  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    this.waits = 0;
    const changes = [...this.changes.values()];
    if (!changes.length) return this.sending ?? Promise.resolve();
    this.changes.clear();
    // One after the other: an older draft must not arrive after a newer one.
    this.sending = Promise.resolve(this.sending).then(() => this.send(changes));
    return this.sending;
  }

  // Forget everything, as for a lab that is begun again.
  clear() {
    clearTimeout(this.timer);
    this.changes.clear();
    for (const key of [...this.drafts.keys()]) { this.take(key, null); storage?.removeItem(key); this.tell(key); }
  }

  // private

  key(item, box, window) {
    return `${this.root}${[item, box, window].map(encodeURIComponent).join(SEPARATOR)}`;
  }

  take(key, draft) {
    if (draft) this.drafts.set(key, draft); else this.drafts.delete(key);
  }

  named(key) {
    return key.slice(this.root.length).split(SEPARATOR).map(decodeURIComponent);
  }

  tell(key) {
    const [item, box] = this.named(key);
    for (const listener of this.listeners) listener(item, box);
  }

  write(item, box, window, draft) {
    const key = this.key(item, box, window);
    if (!draft && !this.drafts.has(key)) return;
    this.take(key, draft);
    try {
      if (draft) storage?.setItem(key, JSON.stringify(draft)); else storage?.removeItem(key);
    } catch {
      // The storage is full; the remote side still gets it.
    }
    this.changes.set(key, { item, box, window, draft });
    const now = Date.now();
    this.waits ||= now + LONGEST;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), Math.min(PAUSE, Math.max(0, this.waits - now)));
    this.tell(key);
  }

  async send(changes) {
    try {
      await this.remote.save(changes);
      this.trouble = "";
    } catch (problem) {
      this.trouble = problem.message;
      // Newer changes of the same boxes have precedence.
      for (const change of changes) {
        const key = this.key(change.item, change.box, change.window);
        if (!this.changes.has(key)) this.changes.set(key, change);
      }
      this.timer ??= setTimeout(() => void this.flush(), RETRY);
    }
  }

  async load() {
    let found = {};
    try {
      found = await this.remote.load();
    } catch (problem) {
      this.trouble = problem.message;
    }
    for (const [item, boxes] of Object.entries(found)) {
      for (const [box, drafts] of Object.entries(boxes)) {
        for (const draft of drafts) {
          const key = this.key(item, box, draft.window);
          if (this.changes.has(key) || (this.drafts.get(key)?.at ?? -1) >= draft.at) continue;
          this.take(key, draft);
          try { storage?.setItem(key, JSON.stringify(draft)); } catch { /* as above */ }
          this.tell(key);
        }
      }
    }
  }
}
