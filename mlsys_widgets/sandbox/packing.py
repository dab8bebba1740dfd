"""Parcels and reports as bytes: all that travels between a coordinator and a cluster."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import Any, Final

from mlsys_widgets.notebooks.remarks import Remark
from mlsys_widgets.sandbox.job import Ending, Parcel
from mlsys_widgets.sandbox.limits import Limits

_LENGTH: Final = struct.Struct(">I")


def pack_parcel(parcel: Parcel) -> bytes:
    """Write a parcel as bytes, its content with it."""
    content = parcel.content if isinstance(parcel.content, bytes) else parcel.content.read_bytes()
    about = {
        "student": parcel.student,
        "hidden": {str(number): code for number, code in parcel.hidden.items()},
        "isolate": parcel.isolate,
        "limits": asdict(parcel.limits),
        "allowance": parcel.allowance,
    }
    return _joined(about, content)


def unpack_parcel(packed: bytes) -> Parcel:
    """Read what `pack_parcel` wrote."""
    about, content = _split(packed)
    about["hidden"] = {int(number): code for number, code in about["hidden"].items()}
    about["limits"] = Limits(**about["limits"])
    return Parcel(content=content, **about)


def pack_report(ending: Ending, remarks: tuple[Remark, ...], report: bytes) -> bytes:
    """Write how a child ended, what is to be said about that, and what it reported."""
    about = {"ending": asdict(ending), "remarks": [each.as_data() for each in remarks]}
    return _joined(about, report)


def unpack_report(packed: bytes) -> tuple[Ending, tuple[Remark, ...], bytes]:
    """Read what `pack_report` wrote."""
    about, report = _split(packed)
    remarks = tuple(map(Remark.from_data, about["remarks"]))
    return Ending(**about["ending"]), remarks, report


def _joined(about: dict[str, Any], content: bytes) -> bytes:
    head = json.dumps(about).encode()
    return b"".join((_LENGTH.pack(len(head)), head, content))


def _split(packed: bytes) -> tuple[dict[str, Any], bytes]:
    (size,) = _LENGTH.unpack_from(packed)
    begin = _LENGTH.size + size
    about: dict[str, Any] = json.loads(packed[_LENGTH.size : begin])
    return about, packed[begin:]
