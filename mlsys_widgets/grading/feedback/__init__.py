"""What students and TAs read after grading: feedback pages, tables and second looks."""
