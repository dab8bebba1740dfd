"""Tables that every spreadsheet reads and none computes."""

from __future__ import annotations

import csv
import io

import pytest

from mlsys_widgets.classes.csv_tables import as_csv, harmless

#: Names as somebody may write them into a roster.
HOSTILE = [
    '=HYPERLINK("https://a.example","click")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\x00=1",
    " =1", "\N{FULLWIDTH EQUALS SIGN}1", "\x1b[2Jred", "ev\u202ell", "a\nb", "x" * 255, "bad\udcff",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_cell_is_no_formula_and_no_command(name):
    ((cell,),) = csv.reader(io.StringIO(as_csv((name,), ())))
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}"))
    assert cell.isprintable()
    cell.encode()


@pytest.mark.parametrize("cell", ["-", "-7.5", "+3", "0", "Zoë 李", "a=b", "    Points", ""])
def test_numbers_and_names_stay_as_they_are(cell):
    assert harmless(cell) == cell
