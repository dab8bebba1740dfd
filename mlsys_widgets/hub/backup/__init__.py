"""One file from which a hub can be restored."""
