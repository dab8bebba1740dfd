"""Scenes, charts, theme, still pictures and marked-up text, without any widget library.

What is drawn is described once, as data, so that the live plot in a notebook and the still picture
on a page come from the same description. Start with `scene`: axes, named marks, and a test that
every mark is inside. `theme` has the colors, light and dark, `picture` turns scenes into SVG and
PNG, and `charts` has the bars and curves of reports. `markup` renders the few kinds of Markdown
that lab texts use.
"""
