"""What a dataset was told to read, as a source: what is listed, saved, named, or paired."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._client import Client, given_client
from .._errors import Error, InvalidArgumentError, NotFoundError, of_status
from .._listing import Listing, Rows
from .._manifest import Manifest, scheme_of_saved
from .._pairing import PairedRows
from .._place import SERVICES, bucket_url, named, one_of, scheme_of_place, url_of, with_both_slashes
from .._shard_lists import is_saved_index, shards_of
from .._shard_join import ShardJoin
from .._shards import ShardIndex
from . import _named, _pairs
from ._joined import join_of
from ._ranks import distributed
from ._source import Folder, Listed, Source, digest_of
from ._tars import Tars


def client_of(client: Client | None, url: Any, manifest: Any, names: Any, pairs: Any, shards: Any) -> Client:
    """That of a dataset: the given one; or a new one of the service that what it reads is of."""
    told = [scheme_of_place(url), scheme_of_place(names), scheme_of_place(pairs), scheme_of_saved(manifest),
            scheme_of_saved(shards)]
    return given_client(client) or Client(service=SERVICES.get(next(filter(None, told), "gs"), "gcs"))


def source_of(client: Client, url: Any, manifest: Any, names: Any, pairs: Any, shards: Any, unpaired: str,
              filters: dict[str, Any], rank: int, world_size: int) -> Source:
    """What a dataset was told: one of the five, but pairs may be of manifests. Rank 0 lists, pairs and
    indexes for all, where torch.distributed joins them."""
    given = [name for name, value in (("url", url), ("manifest", manifest), ("names", names),
                                      ("pairs", pairs), ("shards", shards)) if value is not None]
    if len(given) != 1 and given != ["manifest", "pairs"]:
        raise TypeError("url, manifest, names, pairs, shards: give one of them, or pairs with a manifest that has both "
                        f"sides; here {' and '.join(given) or 'none'} {'were' if given[1:] else 'was'} given")
    if one_of(unpaired, "unpaired", ("refuse", "omit")) != "refuse" and pairs is None:
        raise ValueError("unpaired: it goes with pairs alone")
    folder = Folder()
    if pairs is not None:
        _no(filters)
        return _of_pairs(client, pairs, unpaired, manifest, folder, rank, world_size)
    if shards is not None:
        _no(filters)
        return _of_shards(client, _several(shards, "shards"), folder, rank, world_size)
    value = next(value for value in (url, manifest, names) if value is not None)
    several = _several(value, given[0]) if names is None else [names]
    if any(map(are_rows, several)):
        _no(filters)
        if not all(map(are_rows, several)):
            raise TypeError(f"{given[0]}: its elements are all listings, or none of them is")
        parts, sizes = zip(*[_of_listing(client, each, folder, number) for number, each in enumerate(several)])
    elif names is not None:
        _no(filters)
        part, size = _named.write(client, os.path.join(folder.path, "names"), names)
        parts, sizes = (part,), (size,)
    else:
        if manifest is not None:
            _no(filters)
            paths = _manifest_files(client, several, folder)
        else:
            _check_apart([client._prefix_place(each) for each in several])
            paths = _once(lambda: _list(client, [(each, filters) for each in several], folder), folder, rank,
                          world_size)
        parts, sizes = zip(*[_of_manifest(client, path) for path in paths])
    if len({(part.bucket, part.digest) for part in parts}) < len(parts):
        raise ValueError(f"{given[0]}: the same listing was given twice, and its objects would come twice")
    return Source(list(parts), list(sizes), folder, _told(client, None if isinstance(names, tuple) else several[0], parts))


def _of_shards(client, several, folder, rank, world_size):
    """Of indexes, and of what is indexed here: prefixes and listings of shards."""
    if len(several) > 1 and all(map(_is_shard, several)):
        several = [list(several)]  # one index of all
    known = {number: _index_of(each) for number, each in enumerate(several)}
    missing = [number for number, index in known.items() if index is None]

    def indexed():
        paths = []
        for number in missing:
            paths.append(os.path.join(folder.path, f"shards-{number}"))
            if is_saved_index(several[number]):
                client.download(several[number], paths[-1])
            else:
                client.index_shards(several[number], paths[-1])
        return paths

    if missing:
        for number, path in zip(missing, _once(indexed, folder, rank, world_size)):
            known[number] = ShardIndex.open(path)
    indexes = list(known.values())
    for each, index in zip(several, indexes):
        if not len(index):
            raise NotFoundError(f"shards: {each} has no sample")
        for side in (index.left, index.right) if isinstance(index, ShardJoin) else (index,):
            client._own_bucket(side, "shards", side.bucket.encode())
    parts = [join_of(index, folder.path, number) or Tars.of(index)
             for number, index in enumerate(indexes)]
    if len({(part.bucket, part.digest) for part in parts}) < len(parts):
        raise ValueError("shards: the same index was given twice, and its samples would come twice")
    return Source(parts, list(map(len, indexes)), folder, _told(client, several[0], parts))


def _is_shard(given):
    """It names a shard, or several of them, and not a prefix."""
    return isinstance(given, (str, os.PathLike)) and "://" in os.fspath(given) and (
        os.fspath(given).endswith(".tar") or shards_of(given) is not None)


def _index_of(shards):
    """That of a path, or one that is open, or a join; None for what is to be indexed."""
    if isinstance(shards, (ShardIndex, ShardJoin)):
        return shards
    if isinstance(shards, (str, os.PathLike)) and "://" not in os.fspath(shards):
        return ShardIndex.open(shards)
    return None


def _no(filters):
    for name in filters:
        raise ValueError(f"{name}: it goes with a url alone, whose listing it narrows; a Listing is narrowed by "
                         "its where()")


def are_rows(value: Any) -> bool:
    """It is a listing, or rows of one."""
    return isinstance(value, (Listing, Rows, Manifest))


def _told(client, first, parts):
    """Where objects come from, for people."""
    if isinstance(first, (str, os.PathLike)):
        told = os.fspath(first)
    elif isinstance(first, list) and hasattr(parts[0], "shard_samples"):
        told = f"{first[0]} and {len(first) - 1} more shards"
    elif isinstance(first, tuple):
        told = url_of(named(first[0], client._scheme), first[1])
    elif isinstance(first, ShardJoin):
        told = f"a join of shards of {first.left.bucket} and {first.right.bucket}"
    elif isinstance(first, ShardIndex):
        told = f"shards of {first.bucket}"
    elif are_rows(first):
        told = f"a listing of {bucket_url(parts[0].bucket)}"
    else:
        told = getattr(first, "url", f"names of {bucket_url(parts[0].bucket)}")
    return told + f" and {len(parts) - 1} more" * (len(parts) > 1)


def _check_apart(places):
    """No prefix has what is below another one, whose objects would come twice."""
    ordered = sorted(places)
    for (bucket, prefix), (other, longer) in zip(ordered, ordered[1:]):
        if bucket == other and longer.startswith(prefix):
            one, two = (url_of(bucket.decode(), each.decode()) for each in (prefix, longer))
            raise ValueError(f"url: {one} was given twice, and its objects would come twice" if prefix == longer
                             else f"url: {one} has all that is below {two}, whose objects would come twice")


def _of_manifest(client, path):
    """(part, its size)"""
    part = Listed(path, digest_of(path))
    return part, len(part.open(client))


def _of_listing(client, listing, folder, number):
    """(part, its size) of a Listing, of Rows, or of a Manifest: as a manifest where it is one, else by the rows
    that are chosen."""
    listing = listing.rows() if isinstance(listing, Manifest) else listing
    client._own_bucket(listing, "listing", listing.bucket.encode())
    if not len(listing):
        raise NotFoundError("listing: it has no object", bucket=listing.bucket)
    if isinstance(listing, Listing) and listing._rows is None:
        path = os.path.join(folder.path, f"manifest-{number}")
        try:
            client.save_manifest(listing, path)
        except InvalidArgumentError:  # with a delimiter, or a part of a manifest: its rows are good all the same
            pass
        else:
            return _of_manifest(client, path)
    return _named.write(client, os.path.join(folder.path, f"names-{number}"), listing)


def _of_pairs(client, pairs, unpaired, manifest, folder, rank, world_size):
    sides = _pairs.pairs_of(client, pairs)
    paths = []

    def saved():
        """The files of both manifests that were given."""
        if not paths:
            found = _manifest_files(client, _several(manifest, "manifest"), folder)
            if len(found) > 2:
                raise ValueError("manifest: one for both sides of pairs, or one for each, and not "
                                 f"{len(found)}")
            paths.extend([found[0], found[-1]])
        return paths

    def listed():
        return _list(client, [((bucket, prefix), {"suffix": suffix} if suffix else {})
                              for bucket, prefix, suffix in sides], folder)

    def paired():
        """What rank 0 makes, so that whatever fails there is told to all."""
        both = saved() if manifest is not None else listed()
        made = _pairs.write(client, [Listed(path, digest_of(path)) for path in both], sides, unpaired,
                            folder.path)
        return [made] if manifest is not None else [*both, made]

    *both, path = _once(paired, folder, rank, world_size)
    listings = [Listed(each, digest_of(each)) for each in both or saved()]
    part = _pairs.Paired(listings, path, PairedRows(path).digest)
    rows = part.open(client)
    told = " and ".join(url_of(bucket, f"{prefix}*{suffix}") for bucket, prefix, suffix in sides)
    return Source([part], [len(rows)], folder, told, rows.unpaired)


def _several(value, argument):
    """Several URLs are a list; a tuple may be one: (bucket, prefix)."""
    if isinstance(value, list):
        if not value:
            raise ValueError(f"{argument}: an empty list names nothing")
        return value
    return [value]


def _manifest_files(client, manifests, folder):
    paths = []
    for number, each in enumerate(manifests):
        path, copied = _manifest_file(client, each, folder, number)
        try:
            known = client.open_manifest(path)
        except Error as why:
            if copied is None:
                raise
            # About the copy, whose name nobody has given.
            bucket, name = copied
            raise of_status(why.status, str(why).replace(path, url_of(bucket, name)), bucket=bucket,
                            object=name) from None
        client._own_bucket(known, "manifest", known.bucket.encode())
        if not len(known):
            where = {"path": path} if copied is None else {"bucket": copied[0], "object": copied[1]}
            raise NotFoundError(f"manifest: {each} has no object", **where)
        paths.append(path)
    return paths


def _manifest_file(client, manifest, folder, number):
    """The path of a manifest; and (bucket, name) of an object, else None. That is copied here once, so that
    processes share its pages."""
    path = os.path.join(folder.path, f"manifest-{number}")
    if are_rows(manifest):  # both sides of pairs: whole ones
        client._own_bucket(manifest, "manifest", manifest.bucket.encode())
        client.save_manifest(manifest.rows() if isinstance(manifest, Manifest) else manifest, path)
        return path, None
    if isinstance(manifest, (str, os.PathLike)):
        text = os.fspath(manifest)
        if isinstance(text, str) and "://" not in text and with_both_slashes(text) == text:
            return os.path.abspath(text), None
    bucket, name, _ = client._object_place(manifest, "manifest")
    client.download(manifest, path)
    return path, (bucket.decode(), name.decode())


def _list(client, wanted, folder):
    """Manifests of what is below several (url, filters)."""
    paths = []
    for number, (url, filters) in enumerate(wanted):
        bucket, prefix = client._prefix_place(url)
        path = os.path.join(folder.path, f"manifest-{number}")
        listing = client.list(url, **filters)
        if not len(listing):
            told = f" that {', '.join(f'{name}={value!r}' for name, value in filters.items())} leaves"
            raise NotFoundError(f"{url_of(bucket.decode(), prefix.decode())}: there is no object below it"
                                + told * bool(filters) + _left_out(listing.summary["dropped"]),
                                bucket=bucket.decode())
        client.save_manifest(listing, path)
        paths.append(path)
    return paths


def _left_out(dropped):
    """What is below a prefix all the same, and is no object of anybody's."""
    told = [f"{dropped[name]} {what}" for name, what in (
        ("markers", "markers of folders"), ("composed", "leftovers of composed downloads")) if dropped.get(name)]
    return f" but {' and '.join(told)}, which no dataset reads" if told else ""


def _once(make, folder, rank, world_size):
    """The paths of files that make() makes in the folder: by rank 0, which gives them to all."""
    group = distributed() if world_size > 1 else None
    if group is None or group.get_world_size() != world_size:
        return make()
    told: list[Any] = [None]
    if rank == 0:
        try:
            told = [[(os.path.basename(path), Path(path).read_bytes()) for path in make()]]
        except Exception as why:  # all ranks end by it
            told = [why if isinstance(why, (Error, TypeError, ValueError)) else Error(str(why))]
    group.broadcast_object_list(told, src=0)
    if isinstance(told[0], Exception):
        raise told.pop()
    paths = [os.path.join(folder.path, name) for name, _ in told[0]]
    for path, (_, content) in zip(paths, told[0]):
        if rank != 0:
            Path(path).write_bytes(content)
    return paths
