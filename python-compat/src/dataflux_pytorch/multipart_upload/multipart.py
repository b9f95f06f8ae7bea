"""An object from memory, by parts that are sent at the same time."""

from __future__ import annotations

from typing import Any

from dataflux_core._clients import client_of
from dataflux_core._retry import DEFAULT_RETRY

TM_DEFAULT_CHUNK_SIZE = 32 * 1024 * 1024
DEFAULT_MAX_WORKERS = 8

# Names of the service's JSON that an upload carries, as Client.writer() has them.
_CARRIED = {"contentType": "content_type", "contentEncoding": "content_encoding",
            "contentDisposition": "content_disposition", "contentLanguage": "content_language",
            "cacheControl": "cache_control", "storageClass": "storage_class", "metadata": "metadata"}
_CHECKSUMS = ("crc32c", "md5", "auto", None)


def upload_chunks_concurrently_from_bytesio(
        bytesio: Any, blob: Any, content_type: str | None = None,
        chunk_size: int = TM_DEFAULT_CHUNK_SIZE, deadline: float | None = None,
        max_workers: int = DEFAULT_MAX_WORKERS, *, checksum: str | None = "crc32c",
        timeout: Any = 60, retry: Any = DEFAULT_RETRY) -> None:
    """Uploads what a BytesIO holds to a blob. It appears whole and verified, or what was there stays.

    Arguments:
        bytesio: an io.BytesIO, or anything with its getbuffer(). Its position counts for nothing.
        blob: a google.cloud.storage.Blob: its name, bucket and client, who pays, its KMS key, and what was
            set of its metadata.
        content_type: None = the blob's.
        chunk_size: bytes of a part, as far as that is possible; short objects take one request.
        deadline: seconds for all of it; None = no limit.
        max_workers: not used: the client's memory for uploads, 256 MiB, says how many parts go at a time.
        checksum: "crc32c", "md5", "auto" or None: the whole object is compared by its CRC32C in any case.
        timeout: not used: a request without progress is begun anew.
        retry: how long a failing request is tried again; None = a single attempt.

    Raises: DeadlineError, a TimeoutError, at `deadline`; ValueError for a key of the customer's, which is
        not supported; other Errors of dataflux.
    """
    if checksum not in _CHECKSUMS:
        raise ValueError(f"checksum: {checksum!r} is none of {_CHECKSUMS}")
    if getattr(blob, "_encryption_key", None) is not None:
        raise ValueError("blob: a customer-supplied encryption key is not supported: use a key of Cloud KMS")
    given = _attributes_of(blob)
    if content_type is not None:
        given["content_type"] = content_type
    client = client_of(blob.client, retry, user_project=getattr(blob, "user_project", None))
    with bytesio.getbuffer() as memory:
        with client.writer((blob.bucket.name, blob.name), size_hint=len(memory), part_size=chunk_size,
                           timeout=deadline, **given) as writer:
            writer.write(memory)


def _attributes_of(blob):
    """What was set of a blob, and goes with its bytes."""
    properties = getattr(blob, "_properties", {})
    given = {_CARRIED[name]: properties[name] for name in getattr(blob, "_changes", ())
             if name in _CARRIED and properties.get(name) is not None}
    key = getattr(blob, "kms_key_name", None)
    # A version of a key is what the service tells of an object, and cannot be asked for.
    if key is not None and "cryptoKeyVersions" not in key:
        given["kms_key_name"] = key
    return given
