"""Whether there is an exchange for a lab, as nbgrader's settings say."""

from __future__ import annotations

import pytest

from mlsys_widgets.server.exchange_finder import course_that_takes, released_folder

LAB = "lab_11_roofline"


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("JUPYTER_NO_CONFIG", "")
    path = tmp_path / "home" / "nbgrader_config.py"
    path.parent.mkdir()

    def write(**lines):
        path.write_text(
            "c = get_config()\n"
            + "".join(f"c.{k.replace('__', '.')} = {v!r}\n" for k, v in lines.items())
        )
        return course_that_takes(LAB, path.parent)

    return write


def test_an_exchange_that_has_the_lab_takes_it(settings, tmp_path):
    root = tmp_path / "exchange"
    said = {"CourseDirectory__course_id": "mlsys", "Exchange__root": str(root)}
    assert settings(**said) is None
    (root / "mlsys" / "inbound").mkdir(parents=True)
    assert settings(**said) is None, "the lab was not released there"
    (root / "mlsys" / "outbound" / LAB).mkdir(parents=True)
    assert settings(**said) == "mlsys"
    ours = {"ExchangeFactory__submit": "mlsys_widgets.server.submit.SubmitWithReceipt"}
    ours["ExchangeFactory__release_assignment"] = (
        "mlsys_widgets.courses.release_hook.ReleaseVersion"
    )
    assert settings(**said, **ours) == "mlsys"
    assert released_folder(LAB, tmp_path / "home") == root / "mlsys" / "outbound" / LAB
    assert released_folder("lab_99", tmp_path / "home") is None
    assert settings(Exchange__root=str(root)) is None, "no course is named"


def test_another_kind_of_exchange_is_believed(settings, tmp_path):
    kind = {"ExchangeFactory__list": "elsewhere.List"}
    assert settings(CourseDirectory__course_id="mlsys", **kind) == "mlsys"
    assert released_folder(LAB, tmp_path / "home") is None
    assert settings(**kind) is None


def test_settings_that_cannot_be_run_are_no_exchange(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("1 / 0\n")
    assert course_that_takes(LAB, tmp_path) is None
    assert released_folder(LAB, tmp_path) is None
