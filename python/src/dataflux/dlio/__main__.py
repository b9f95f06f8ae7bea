"""python -m dataflux.dlio ARGUMENT...: dlio_benchmark, with its arguments, whose storage_root may be a URL.

Where a rank fails, all ranks end: by itself MPI would let the others wait for it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType

_PROFILER = "dlio_benchmark.profiler.tf_profiler"


def _main() -> None:
    if find_spec("tensorflow") is None:  # DLIO imports it for a profiler alone, which runs of PyTorch do without
        sys.modules[_PROFILER] = ModuleType(_PROFILER)
        sys.modules[_PROFILER].TFProfiler = None  # type: ignore[attr-defined]

    from dlio_benchmark.main import main
    from mpi4py import MPI

    from ._storage import use_buckets

    use_buckets()
    try:
        main()
    except BaseException as why:
        if isinstance(why, SystemExit) and why.code in (None, 0) or MPI.COMM_WORLD.size == 1:
            raise
        if not isinstance(why, SystemExit):  # else Hydra has told it
            sys.excepthook(type(why), why, why.__traceback__)
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)


_main()
