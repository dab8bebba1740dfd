"""nbgrader's settings for this course. Stock nbgrader needs nothing else."""

c = get_config()  # noqa: F821 (nbgrader gives it)

c.CourseDirectory.course_id = "mlsys"

# An answer cell keeps its first line, `name = ...`, and loses the solution below it.
c.ClearSolutions.code_stub = {
    "python": "# Replace the three dots above, then run this cell and the next."
}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"

# A lab runs in seconds; a cell that takes longer than this hangs.
c.ExecutePreprocessor.timeout = 120
# Every card leaves text and a still picture beside it; its live state would be 300 kB a submission.
c.ExecutePreprocessor.store_widget_state = False
