"""What is drawn and how words are marked up: scenes, theme, still pictures; no widget library."""
