"""nbgrader's gradebook, and what the course records beside it."""
