"""Scenes, charts, theme, still pictures and marked-up text, without any widget library.

What is drawn is described once, as data, so that the live plot in a notebook and the still
picture on a page come from the same description. Start with `scene`, which has the axes and the
named marks, and with `theme`, which has colors that work on light and dark pages alike. `picture`
writes scenes as SVG, `charts` and `diagram` make scenes of bars, boxes and arrows, `film`
describes what moves, and `markup` reads the Markdown of lab texts.
"""
