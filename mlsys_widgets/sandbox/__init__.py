"""Running untrusted notebooks: children, isolation, limits, the wire; nothing about points."""
