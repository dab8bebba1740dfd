"""A submitted notebook as data: its text, cells and metadata, and what is odd about them."""
