"""A course from one file: bundles, rosters, and a doctor for installations.

`pack` puts the labs of a course into one archive, `init_course` makes a course from it and the
installed package alone, `read_roster` and `enter_students` bring in the class, and `examine` says
what is wrong with an installation and how to mend it.
"""

from mlsys_widgets.courses.bundle import Manifest, pack
from mlsys_widgets.courses.doctor import Finding, examine
from mlsys_widgets.courses.enrolling import Enrolment, enter_students
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.courses.making import init_course
from mlsys_widgets.courses.roster import RosterError, Student, read_roster

__all__ = [
    "Enrolment",
    "Finding",
    "Manifest",
    "RosterError",
    "Student",
    "enter_students",
    "examine",
    "init_course",
    "pack",
    "read_roster",
    "stale_labs",
]
