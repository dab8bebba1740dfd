"""What a course has decided: its settings, dates, versions and people."""
