"""Live instruments: controls, one control panel, plots over scenes, and the math behind them.

An instrument declares controls, asks physics for a result, and says what to draw and what to say
about it. Start with `instrument`, whose example is a whole instrument of one's own, and `controls`;
`iron_law_widget` is one of ours to read next. `view`, `plot` and `control_panel` show any of them
in a browser, `live_math` and `physics_panel` derive the numbers on display, and `target` draws the
limits that a design must keep.
"""
