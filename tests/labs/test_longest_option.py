"""A guesser who always takes the longest option is not better off than any other."""

from __future__ import annotations

from mlsys_widgets.drawing import markup
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Choice, load
from mlsys_widgets.labs.option_order import scale
from tests.labs.rehearsal import ROOT, put_examples
from tests.labs.test_option_order import choices

#: How many standard deviations of a fair lottery a lab may be off.
SLACK = 1.0


def fixed(lab, folder):
    """Name, options and the right one of all whose right option is the same for everybody."""
    home = ROOT / "assignments" / lab
    put_examples(folder, home=home)
    declared, checks = load(home), load_checks(home)
    p = declared.draw("", variants=False)
    items = declared.items(p)
    for name, options, told in choices(items):
        item = items[name.partition(".")[0]]
        # A scale has its own reasons for the length of its words; a graded choice its own key.
        if isinstance(item, Choice) or scale(options, getattr(item, "values", None)):
            continue
        yield name, options, told or checks[name](Given(p, folder)).value


#: How many times as long as the shortest option the longest may be, from so many characters on.
UNEVEN, FROM = 2.0, 25


def test_no_option_stands_out_by_its_length(lab):
    """Names of levels and formats are as long as they are: a scale is left out."""
    declared = load(ROOT / "assignments" / lab)
    items = declared.items(declared.draw("", variants=False))
    uneven = {}
    for name, options, _ in choices(items):
        item = items[name.partition(".")[0]]
        length = {key: len(markup.plain(words)) for key, words in options.items()}
        scaled = getattr(item, "ordered", False) or scale(options, getattr(item, "values", None))
        if not scaled and max(length.values()) > max(FROM, UNEVEN * min(length.values())):
            uneven[name] = length
    assert uneven == {}


def test_the_right_option_is_not_the_longest_more_often_than_chance_makes_it(lab, tmp_path):
    chances, offenders = [], []
    for name, options, right in fixed(lab, tmp_path):
        length = {key: len(markup.plain(words)) for key, words in options.items()}
        chances.append(1 / len(options))
        if length[right] > max(length[key] for key in options if key != right):
            listed = ", ".join(f"{key} {n}" for key, n in length.items())
            offenders.append(f"{name}: {right} is right; characters: {listed}")
    allowed = sum(chances) + SLACK * sum(chance * (1 - chance) for chance in chances) ** 0.5
    told = (
        f"{lab}: the right option is the longest in {len(offenders)} of {len(chances)} items, and"
        f" at most {allowed:.1f} are allowed:\n" + "\n".join(offenders)
    )
    assert len(offenders) <= allowed, told
