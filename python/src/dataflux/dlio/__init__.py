"""DLIO, the benchmark of MLPerf Storage, on dataflux: its workloads, with data in a bucket.

    python -m dataflux.dlio workload=unet3d_h100 ++workload.storage.storage_root=gs://bucket/mlperf \\
        ++workload.reader.data_loader_classname=dataflux.dlio.Loader ++workload.reader.data_loader_sampler=none

Loader reads without worker processes. Reader is for DLIO's own loader, and what Loader decodes with. Importing this
imports dlio_benchmark; nothing else of dataflux does.
"""

from ._loader import Loader
from ._reader import Reader

__all__ = ["Loader", "Reader"]
