"""Telling students at the hand-in what their answers earn: judged once, kept, told."""
