"""What travels between a coordinator and a cluster comes out as it went in."""

from __future__ import annotations

from mlsys_widgets.notebooks.remarks import Remark, RemarkKind
from mlsys_widgets.sandbox.job import Ending, Parcel
from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.packing import pack_parcel, pack_report, unpack_parcel, unpack_report

ALL_BYTES = bytes(range(256))


def test_a_parcel_comes_out_as_it_went_in(tmp_path):
    parcel = Parcel("a/ü", ALL_BYTES, {3: "x = 1"}, False, Limits(cell=3), 2.5)
    assert unpack_parcel(pack_parcel(parcel)) == parcel
    # Its content may lie in a file.
    path = tmp_path / "content"
    path.write_bytes(ALL_BYTES)
    assert unpack_parcel(pack_parcel(Parcel("ann", path))) == Parcel("ann", ALL_BYTES)


def test_a_report_comes_out_as_it_went_in():
    ending, remarks = Ending("exit 3", 1.5, 0.5, 17), (Remark(RemarkKind.RUN_AGAIN),)
    assert unpack_report(pack_report(ending, remarks, ALL_BYTES)) == (ending, remarks, ALL_BYTES)
    assert unpack_report(pack_report(Ending("finished"), (), b"")) == (Ending("finished"), (), b"")
