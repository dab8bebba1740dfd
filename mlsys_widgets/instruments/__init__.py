"""Live instruments: controls, one control panel, plots over scenes, and the math behind them."""
