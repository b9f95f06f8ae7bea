"""Ray Data on dataflux: objects and samples as datasets of Ray, and datasets of Ray as objects and shards.

    import dataflux.ray

    dataset = dataflux.ray.read_objects("gs://bucket/train/", include_paths=True)
    samples = dataset.map(sample_of)
    dataflux.ray.write_shards(samples, "gs://bucket/shards/", index="gs://bucket/shards.dfx", count=10_000)

What is here imports Ray when it is first used; nothing else of dataflux does.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from ._read import read_objects, read_shards
    from ._write import write_objects, write_shards

__all__ = ["read_objects", "read_shards", "write_objects", "write_shards"]


def __getattr__(name: str) -> _Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("._read" if name.startswith("read") else "._write", __name__), name)
