// The cards of the page, by notebook: where their drafts are kept, and which boxes are not recorded.
import { CardBoxes, same } from "./card_boxes";
import { DraftStore } from "./draft_store";
import { plain } from "./elements";

const STORES = new Map();
const CARDS = new Map(); // by model

// How to reach the server of a notebook, and its address; our Lab extension knows. Elsewhere drafts go
// through kernels.
let remoteOf = null, address = "";
export function reachServer(remote, base) {
  remoteOf = remote;
  address = base;
}

const pathOf = (model) => model.widget_manager.context?.path ?? "";

// Drafts of a card go beside the ledger that its kernel writes.
function throughKernel(model) {
  const waiting = [];
  model.on("msg:custom", (message) => {
    if ("drafts" in message) waiting.shift()?.(message.drafts);
  });
  const ask = (drafts) => new Promise((resolve) => { waiting.push(resolve); model.send({ drafts }); });
  return {
    load: () => ask(null),
    async save(changes) {
      const trouble = await ask(changes);
      if (typeof trouble === "string") throw new Error(trouble);
    },
    recorded: null,
  };
}

// Where no server of ours is, drafts go through a kernel, which only a card has.
function storeAt(path, otherwise) {
  const remote = path && remoteOf ? remoteOf : otherwise;
  if (!STORES.has(path) && remote) {
    // The browser's storage is one for all users of a hub: the address of a server says whose it is.
    const place = path && address ? `${address} ${path}` : location.pathname;
    STORES.set(path, new DraftStore(place, remote(path)));
  }
  return STORES.get(path);
}

const storeOf = (model) => storeAt(pathOf(model), () => throughKernel(model));

// Follow a card from the moment its model exists.
export function openCard(model) {
  const boxes = new CardBoxes(model, storeOf(model));
  CARDS.set(model, boxes);
  model.on("destroy", () => { boxes.stop(); CARDS.delete(model); });
  return boxes;
}

export const boxesOf = (model) => CARDS.get(model);

// Whether a draft is recorded, or something else was recorded since it was typed, according to the ledger
// beside it. `is_out_of_date` of the server, for drafts that only this browser has.
function isOutOfDate({ item, box, value, over, ledger: before, meanwhile }, { ledger, recorded }) {
  if (before && ledger !== null && before !== ledger) return true;
  const name = [item, `${item}.${box}`].find((each) => each in recorded);
  return name !== undefined && (same(value, recorded[name]) || !(meanwhile || same(over, recorded[name])));
}

// What stands in boxes of a notebook and is not recorded, by item. `beside` is what the server says of the
// ledger there; null if it does not answer.
export function unrecordedIn(path, beside) {
  const live = [...CARDS].filter(([model, boxes]) => pathOf(model) === path && boxes.isLive && boxes.item);
  const cards = new Map(live.map(([, boxes]) => [boxes.item, boxes]));
  const found = [...cards.values()].filter((boxes) => boxes.unrecorded.length).map((boxes) => ({
    item: boxes.item,
    isOutdated: false,
    entered: boxes.unrecorded.map((part) => inWords(part, boxes.value(part))).filter(Boolean).join("; "),
    // One click records what can be changed again; what is sealed asks for a decision of its own.
    record: boxes.view.item.record ? () => boxes.ask(boxes.view.item.record) : null,
  }));
  // A design has no boxes: its instruments were moved since it was saved. Saving it may need a decision.
  const outdated = [...cards.values()].filter((boxes) => boxes.view.item.outdated)
    .map((boxes) => ({ item: boxes.view.item.names[0], isOutdated: true, entered: "", record: null }));
  // Without a kernel there is no card to ask, and nothing can be recorded.
  const asleep = new Map();
  for (const draft of STORES.get(path)?.all() ?? []) {
    const { item, value, over } = draft;
    if (cards.has(item) || same(value, over) || (beside && isOutOfDate(draft, beside))) continue;
    asleep.set(item, typeof value === "string" ? value : asleep.get(item) ?? "");
  }
  const left = [...asleep].map(([item, entered]) => ({ item, isOutdated: false, entered, record: null }));
  return [...found, ...outdated, ...left];
}

// What stands in a box, as the page shows it.
export function inWords(part, value) {
  if (value === null || value === undefined) return "";
  const label = (options, key) => plain(options.find(([each]) => each === key)?.[1] ?? `${key}`);
  switch (part.kind) {
    case "options": return label(part.options, value);
    case "confidence": return `confidence ${value}`;
    case "checkboxes": return value.map((key) => label(part.options, key)).join(", ");
    case "blanks": {
      const gaps = part.pieces.filter((piece) => typeof piece !== "string");
      return gaps.map(({ name, options }) => (value[name] ? label(options, value[name]) : "…")).join(", ");
    }
    default: return value;
  }
}

// Have the drafts of a notebook arrive before anybody counts on them. A page that was loaded again without a
// kernel has no cards, and drafts all the same.
export async function flushDrafts(path) {
  const store = storeAt(path);
  await store?.loaded;
  await store?.flush();
}

export function forgetDrafts(path) {
  STORES.get(path)?.clear();
}
