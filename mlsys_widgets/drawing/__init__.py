"""Scenes, charts, theme, still pictures and marked-up text, without any widget library."""
