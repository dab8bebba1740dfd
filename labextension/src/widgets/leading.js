// One thing leads on a page: the first card on the way that waits for an answer has the one filled
// button. Whoever works on another card has it there (card.css).

const LEADS = "mlsys-lab-leads";
const waiting = new Set();

export function leadThePage(card) {
  const place = () => card.closest(".jp-Notebook, .jp-NotebookPanel, body");
  if (waiting.size === 0) requestAnimationFrame(() => {
    const pages = new Set([...waiting].map((find) => find()).filter(Boolean));
    waiting.clear();
    for (const page of pages) choose(page);
  });
  waiting.add(place);
}

function choose(page) {
  const cards = [...page.querySelectorAll(".mlsys-lab-frame")];
  const first = cards.find((card) => ["open", "opened"].includes(card.dataset.state)
    && card.querySelector(".mlsys-lab-main:not(.mlsys-lab-again)")
    && (card.dataset.state === "open" || card.classList.contains("mlsys-lab-entered")));
  for (const card of cards) card.classList.toggle(LEADS, card === first);
}
