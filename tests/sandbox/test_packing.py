"""What travels between a coordinator and its workers comes out as it went in."""

from __future__ import annotations

from mlsys_widgets.sandbox.blueprint import Blueprint, SourceCell
from mlsys_widgets.sandbox.job import Job, RunResult
from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.packing import (
    pack_blueprint,
    pack_job,
    pack_result,
    unpack_blueprint,
    unpack_job,
    unpack_result,
)
from mlsys_widgets.sandbox.remarks import Remark, RemarkKind


def test_what_travels_comes_out_as_it_went_in():
    files = {"ü.bin": bytes(range(256)), "empty": b""}
    job = Job("a/ü", "lab", files, isolate=False, limits=Limits(cell=3))
    assert unpack_job(pack_job(job)) == job
    test = SourceCell("code", "1", "x", True, graded=True, metadata={"points": 3.0})
    blueprint = Blueprint(
        "lab", {"name": "python3"}, {"t": test, "a": SourceCell("code", "", "", False)}
    )
    assert unpack_blueprint(pack_blueprint(blueprint)) == blueprint
    remarks = (Remark(RemarkKind.MISSING_CELL, "t"), Remark(RemarkKind.NOT_BELIEVED))
    result = RunResult("a", "{}", {"t": ["int", "0x1"]}, "exit 3", remarks, ("t",), 1.5, 0.5, 0.1)
    assert unpack_result(pack_result(result)) == result
