"""A course from one file: bundles, rosters, and a doctor for installations.

`pack` puts the labs of a course into one archive, `init_course` makes a course from that archive
and the installed package alone, `read_roster` and `enter_students` bring in the class, and
`examine` says what is wrong with an installation and how to fix it.
"""

from mlsys_widgets.courses.bundle import Manifest, pack
from mlsys_widgets.courses.doctor import Finding, examine
from mlsys_widgets.courses.enrollment import Enrollment, enter_students
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.courses.new_course import init_course
from mlsys_widgets.courses.roster import RosterEntry, RosterError, read_roster

__all__ = [
    "Enrollment",
    "Finding",
    "Manifest",
    "RosterEntry",
    "RosterError",
    "enter_students",
    "examine",
    "init_course",
    "pack",
    "read_roster",
    "stale_labs",
]
