"""Essays read by people: a rubric that staff may change, and who got which of its items."""
