"""nbgrader's settings for this course. Stock nbgrader needs nothing else."""

c = get_config()  # noqa: F821 (nbgrader provides it)

c.CourseDirectory.course_id = "mlsys"

# A scratch cell keeps its first lines and loses the solution below them; an essay is written in
# its card and shown here.
c.ClearSolutions.code_stub = {"python": ""}
c.ClearSolutions.text_stub = "*What you record in the card above appears here.*"

# A lab runs in seconds; a cell that takes longer than this hangs.
c.ExecutePreprocessor.timeout = 120
# On a busy machine a kernel may start late, and its last words may come late.
c.ExecutePreprocessor.startup_timeout = 300
c.ExecutePreprocessor.iopub_timeout = 60
# Every card also leaves text and a still picture; its live state would be 300 kB per submission.
c.ExecutePreprocessor.store_widget_state = False

# A person grades essays where they were written: in their cards, that is, in the ledger.
essays = "mlsys_widgets.grading.plugins.autograde.EssaysFromLedger"
c.Autograde.autograde_preprocessors.prepend([essays])
# Formgrader and feedback show what students wrote; nothing of it may run in a grader's browser.
inert = "mlsys_widgets.grading.plugins.autograde.WithoutActiveContent"
c.Autograde.autograde_preprocessors.extend([inert])

# Feedback is a page to read: answers, points and why, with no code and no hidden test.
c.GenerateFeedback.preprocessors = ["mlsys_widgets.grading.plugins.feedback.GradesAndUnread"]
c.GenerateFeedback.exporter_class = "mlsys_widgets.grading.plugins.feedback.FeedbackPage"
# A cell that begins with %%perl would be colored as Perl, by patterns that some text keeps busy.
c.HighlightMagicsPreprocessor.enabled = False

# What handing in late costs is in assignments/course.toml; without dates there, nothing is late.
late = "mlsys_widgets.grading.plugins.late_penalties.CalendarPenalties"
c.AssignLatePenalties.plugin_class = late

# `nbgrader zip_collect` takes the files that students make with Hand in: LAB-STUDENT.zip.
c.FileNameCollectorPlugin.named_regexp = r".*/[^/-]+-(?P<student_id>[^/]+)/(?P<file_id>[^/]+)"
c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".jsonl", ".json", ".txt"]

# `mlsys grade` is the fast way to grade a class. If you stay with formgrader's Autograde button,
# these lines let it run notebooks in the same isolated child, not in a new kernel for each.
# isolated = "mlsys_widgets.grading.plugins.autograde.ExecuteIsolated"
# c.Execute.enabled = False
# c.Autograde.autograde_preprocessors.prepend([isolated])
