// How what a widget shows stands to what its kernel has, in words, wherever the two may differ. Views
// cover themselves with these words, so that no old number is read as a present one.

// Say what is known, by reason; no words take a reason back. What is covered: "all" where what is shown
// is old; "readout" where the controls of an instrument are newer than the rest; and nothing, with
// "note", where it is not known whether it is old.
export function stand(model, reason, words, covered = "all") {
  model.standing ??= new Map();
  if ((model.standing.get(reason)?.words ?? "") === (words || "")) return;
  if (words) model.standing.set(reason, { words, covered });
  else model.standing.delete(reason);
  model.trigger("mlsys:standing");
}

// The sentence of a view, which covers the view's element while there is something to say.
export function coverOf(model, el) {
  const sentence = document.createElement("p");
  sentence.className = "mlsys-cover";
  sentence.setAttribute("role", "status");
  const look = () => {
    const said = [...(model.standing?.values() ?? [])];
    const first = ["all", "readout", "note"].flatMap((kind) => said.filter(({ covered }) => covered === kind))[0];
    if (sentence.textContent !== (first?.words ?? "")) sentence.textContent = first?.words ?? "";
    sentence.hidden = !first;
    if (first) el.dataset.covered = first.covered;
    else delete el.dataset.covered;
  };
  model.on("mlsys:standing", look);
  look();
  return { sentence, remove: () => model.off("mlsys:standing", look) };
}

export const clock = () => new Date().toLocaleTimeString("en-US", { hourCycle: "h23" });
