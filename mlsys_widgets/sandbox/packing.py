"""Jobs, blueprints and results as bytes: all that travels between a coordinator and its workers."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict
from functools import lru_cache

from mlsys_widgets.sandbox.blueprint import Blueprint, SourceCell
from mlsys_widgets.sandbox.job import Job, RunResult
from mlsys_widgets.sandbox.limits import Limits
from mlsys_widgets.sandbox.remarks import Remark


def pack_job(job: Job) -> bytes:
    """Write a job as bytes."""
    data = asdict(job)
    data["files"] = {
        name: base64.b64encode(content).decode() for name, content in job.files.items()
    }
    return json.dumps(data).encode()


def unpack_job(packed: bytes) -> Job:
    """Read what `pack_job` wrote."""
    data = json.loads(packed)
    data["files"] = {name: base64.b64decode(content) for name, content in data["files"].items()}
    data["limits"] = Limits(**data["limits"])
    return Job(**data)


def pack_blueprint(blueprint: Blueprint) -> bytes:
    """Write a blueprint as bytes."""
    return zlib.compress(json.dumps(asdict(blueprint)).encode())


@lru_cache(maxsize=4)  # it is the same for a whole class
def unpack_blueprint(packed: bytes) -> Blueprint:
    """Read what `pack_blueprint` wrote."""
    data = json.loads(zlib.decompress(packed))
    data["cells"] = {name: SourceCell(**cell) for name, cell in data["cells"].items()}
    return Blueprint(**data)


def pack_result(result: RunResult) -> str:
    """Write a result as JSON."""
    return json.dumps(asdict(result))


def unpack_result(packed: str) -> RunResult:
    """Read what `pack_result` wrote."""
    data = json.loads(packed)
    data["remarks"] = tuple(map(Remark.from_data, data["remarks"]))
    data["missing"] = tuple(data["missing"])
    return RunResult(**data)
