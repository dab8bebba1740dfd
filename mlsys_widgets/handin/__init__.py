"""Handing in: what is missing, one file that holds a student's work, and reading such a file.

Students hand in through nbgrader's exchange, or with one file that they upload wherever the course
wants it. Start with `missing`, which says what a student has not done yet, and `archive`, which
makes that file; `archive_reader` reads one that somebody handed in, and believes nothing in it.
`due_now` says whether it is on time, and `second_look` is a student's question about a grade.
"""
