"""Handing in: what is missing, one file that holds a student's work, and reading such a file.

Students hand in through nbgrader's exchange, or with one file that they upload wherever the course
wants it. Start with `missing`, which says what a student has not done yet, and `archive`, which
makes that file; `archive_reader` opens one that somebody else made, and trusts nothing in it.
`second_look` holds a student's request to look at a grade again.
"""
