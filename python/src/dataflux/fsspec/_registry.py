"""Which URLs are this filesystem's."""

from __future__ import annotations

_NAME = "dataflux.fsspec"
_registered: tuple[str, ...] = ()
_warned: set[str] = set()
# URLs that pyarrow opens by itself: dataflux:// and s3a:// are not among them.
_PAST_FSSPEC = {"gs": {"gs", "gcs"}, "s3": {"s3"}}


def register(*protocols: str) -> None:
    """Makes URLs of other protocols this filesystem's, for fsspec and all that stands on it.

        dataflux.fsspec.register("gs", "gcs")

    "dataflux://bucket/name" needs no registration. It holds in this process, in what it forks, in
    what multiprocessing starts by spawn and forkserver, as the workers of a DataLoader, and wherever
    one of its filesystems is unpickled. Filesystems that were made before stay what they are.

    Arguments:
        protocols: names such as "gs"; none = "gs" and "gcs". "s3" and "s3a" are DatafluxS3FileSystem's.

    Where pandas and pyarrow are there, a UserWarning says once what goes past fsspec: pandas hands a
    gs:// or s3:// URL of a Parquet file without `storage_options` to pyarrow's own client.

    Raises: ValueError for a name that is none of dataflux, gs, gcs, s3 and s3a.
    """
    _register(protocols)
    _warn_of_pandas(_registered)


def _register(protocols):
    from fsspec import register_implementation

    from ._filesystem import DatafluxFileSystem, DatafluxS3FileSystem
    from ._paths import PROTOCOLS, S3_PROTOCOLS

    global _registered
    for name in protocols:
        if not isinstance(name, str):
            raise TypeError(f"protocols: names are str, and not a {type(name).__name__}")
        if name not in (*PROTOCOLS, *S3_PROTOCOLS):
            raise ValueError(f"protocols: {name!r} is none of {', '.join((*PROTOCOLS, *S3_PROTOCOLS))}, whose "
                             "URLs name objects of Google Cloud Storage or S3")
    wanted = protocols or ("gs", "gcs")
    # The first is always ours; where the package is not installed nobody has said so.
    for name in (PROTOCOLS[0], *wanted):
        kind = DatafluxS3FileSystem if name in S3_PROTOCOLS else DatafluxFileSystem
        register_implementation(name, kind, clobber=True)
    _registered = tuple(dict.fromkeys((*_registered, *wanted)))
    _carry(_registered)


def _warn_of_pandas(protocols):
    import sys
    import warnings

    ours = [scheme for scheme, names in _PAST_FSSPEC.items() if names.intersection(protocols)]
    if "pandas" not in sys.modules or _warned.issuperset(ours):
        return
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        return
    for scheme in ours:
        if scheme in _warned:
            continue
        _warned.add(scheme)
        instead = ', or a URL "dataflux://..."' if scheme == "gs" else ""
        waits = ", and that waits for minutes where it finds no credentials" if scheme == "gs" else ""
        warnings.warn(
            f'pandas.read_parquet("{scheme}://...") and to_parquet() without storage_options go to pyarrow\'s '
            f"own client, past dataflux{waits}: give storage_options={{}}{instead}", UserWarning, stacklevel=3)


def registered() -> tuple[str, ...]:
    """What register() was called with, for pickles."""
    return _registered


class _Carried:
    """Lies in the configuration of a process of multiprocessing, which the processes that it starts
    inherit: unpickling it there registers."""

    def __init__(self, protocols):
        self.protocols = protocols

    def __reduce__(self):
        return _arrived, (self.protocols,)


def _arrived(protocols):
    _register(protocols)
    return _Carried(protocols)


def _carry(protocols):
    from multiprocessing.process import current_process

    current_process()._config[_NAME] = _Carried(protocols)
