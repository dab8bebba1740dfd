"""Running untrusted notebooks: children, isolation, limits, the wire. It knows no points."""
