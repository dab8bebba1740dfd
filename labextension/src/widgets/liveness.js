// Whether a kernel is behind an instrument. After a restart its controls would look alive and do nothing.

const NO_KERNEL = "This instrument has no kernel. Press Resume at the top of the lab.";

// JupyterLab marks the views of a kernel that was restarted.
export function livenessOf(el, notice, freeze) {
  let wasGone = false;
  const look = () => {
    const gone = Boolean(el.closest(".jupyter-widgets-disconnected"));
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
    remove() { watch.disconnect(); },
  };
}
