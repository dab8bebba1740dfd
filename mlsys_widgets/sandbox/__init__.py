"""Running untrusted notebooks: children, isolation, limits, the wire. It knows nothing about points."""
