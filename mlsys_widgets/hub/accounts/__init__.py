"""Who may sign in to a hub, and the users of the machine behind them."""
