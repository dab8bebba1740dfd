// Whether a kernel is behind an instrument. After a restart its controls would look alive and do nothing.

const NO_KERNEL = "This instrument has no kernel. Press Resume at the top of the lab.";

// JupyterLab marks the views of a kernel that was restarted. `silent(true)` says that a kernel has not
// answered for longer than any cell should take; an answer takes that back.
export function livenessOf(el, notice, freeze) {
  let isSilent = false, wasGone = false;
  const look = () => {
    const gone = isSilent || Boolean(el.closest(".jupyter-widgets-disconnected"));
    if (gone === wasGone) return;
    wasGone = gone;
    notice.textContent = gone ? NO_KERNEL : "";
    notice.hidden = !gone;
    freeze(gone);
  };
  const watch = new MutationObserver(look);
  return {
    // The mark may be on any box around the panel.
    attach(board) {
      for (const node of [el, el.parentElement, board]) watch.observe(node, { attributeFilter: ["class"] });
      look();
    },
    get gone() { return wasGone; },
    silent(is) { isSilent = is; look(); },
    remove() { watch.disconnect(); },
  };
}
