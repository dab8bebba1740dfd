"""What a student sees: instruments and lab widgets over the physics core."""
