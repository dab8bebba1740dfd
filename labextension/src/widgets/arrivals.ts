/** Tells when a model of ours has come. Whoever listens needs nothing of ipywidgets. */
export const arrivals = new EventTarget();
