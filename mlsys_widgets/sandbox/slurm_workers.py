"""Dask's workers as jobs of a Slurm cluster, for as long as a class is graded.

Partition, account, memory and time are Dask's own settings (``jobqueue.slurm``); without any, a
worker asks for one core, for half an hour, in the cluster's default partition.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

_WHO: Final = ("scheduler", "worker", "client")
_USUAL: Final = {"cores": 1, "memory": "2GiB"}
#: What a worker needs to know of where the command runs; nobody's tokens are among it.
_EXPORTED: Final = "--export=PATH,HOME,LANG,SLURM_CONF"


def start_workers(workers: int, keys: Path) -> Any:
    """Submit workers, which talk to nobody without a certificate: students have jobs there, too."""
    import dask.config

    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        raise ValueError("this needs dask-jobqueue: pip install 'mlsys-widgets[hub]'") from None
    said = {name: dask.config.get(f"jobqueue.slurm.{name}", None) for name in _USUAL}
    chosen: dict[str, Any] = {name: said[name] or usual for name, usual in _USUAL.items()}
    extra = dask.config.get("jobqueue.slurm.job-extra-directives", None) or []
    try:
        return SLURMCluster(
            n_workers=workers, processes=1, **chosen, security=_security(keys),
            local_directory="/tmp",
            scheduler_options={"dashboard_address": None}, worker_extra_args=["--no-dashboard"],
            job_extra_directives=[*extra, _EXPORTED, "--output=/dev/null"],
        )  # fmt: skip
    except (OSError, RuntimeError) as problem:
        raise ValueError(f"no job can be submitted to Slurm: {problem}") from None


def _security(folder: Path) -> Any:
    """Make certificates for this class alone, as files that workers can read."""
    from distributed import Security

    made = Security.temporary()
    paths = {}
    for name in ("tls_ca_file", *(f"tls_{who}_{what}" for who in _WHO for what in ("cert", "key"))):
        (folder / name).write_text(getattr(made, name), "utf-8")
        paths[name] = str(folder / name)
    return Security(require_encryption=True, **paths)
