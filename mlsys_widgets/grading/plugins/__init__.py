"""What nbgrader's own commands load from this package."""
