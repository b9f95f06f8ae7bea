"""What a filesystem is made with: fsspec's and gcsfs's arguments, and those of dataflux.Client."""

from __future__ import annotations

import os
from contextlib import contextmanager

from .._client import Core

_OWN = frozenset(Core.__init__.__kwdefaults__)
ACCESS = ("read_only", "read_write", "full_control")
CONSISTENCY = ("none", "size", "md5", "crc32c")


# What other filesystems' verbs take, and what has no meaning here: all is compared by checksums and
# sent in parts of whatever length is best, and who asks is known when a filesystem is made.
_HARMLESS = ("consistency", "chunksize", "chunk_size", "timeout", "batch_size", "concurrency",
             "max_prefetch_size", "retries", "fill_cache", "anon", "token")


def tunes_caches(name):
    """It says how something is kept or cut into blocks, which changes nothing of what is read."""
    return (name.startswith("cache_") and name != "cache_control" or "block_size" in name
            or name.startswith("default_") and "cache" in name)


def without_harmless(given):
    return {name: value for name, value in given.items()
            if name not in _HARMLESS and not tunes_caches(name)}


def client_options(given, *, project, token, anon, endpoint_url, requester_pays, requests_timeout):
    """Keyword arguments of a Client, and whether one of them is a secret."""
    for name in given:
        if name not in _OWN and name != "retries" and not tunes_caches(name):
            raise TypeError(f"{name}: there is no such option of a filesystem of dataflux")
    made = {name: value for name, value in given.items() if name in _OWN and value is not None}
    if endpoint_url is not None:
        _once(made, "endpoint", "endpoint_url")
        made["endpoint"] = endpoint_url
    in_s3 = made.get("service") == "s3"
    if str(made.get("endpoint")).startswith("http://") and not in_s3:
        # gcsfs says so by the URL alone; no token goes over such a connection.
        made.setdefault("emulator", True)
    if requests_timeout is not None:
        # aiohttp's, which gcsfs gives it to, counts from the request on.
        _once(made, "stall_timeout", "requests_timeout")
        made["stall_timeout"] = requests_timeout
        made.setdefault("first_byte_timeout", requests_timeout)
    if requester_pays and in_s3:
        made["requester_pays"] = True
    elif requester_pays:
        _once(made, "user_project", "requester_pays")
        payer = requester_pays if isinstance(requester_pays, str) else project
        if not payer:
            raise ValueError("requester_pays: True needs `project`, which is to pay; or give the "
                             "project itself")
        made["user_project"] = payer
    if anon or token == "anon":
        if token not in (None, "anon"):
            raise ValueError("anon: it does not go with token, for each says who asks")
        made["anonymous"] = True
        return made, False
    secret = _of_token(token, made) or any(name in made for name in ("secret_access_key", "session_token"))
    own = made.get("credentials")
    return made, secret or isinstance(own, str) or hasattr(own, "refresh")


_NAMES = (("stall_timeout", "requests_timeout"), ("first_byte_timeout", "requests_timeout"),
          ("credentials", "token"),
          ("endpoint", "endpoint_url"), ("user_project", "requester_pays"))


def s3_options(given, key, secret, token, endpoint_url, client_kwargs, default_block_size):
    """What s3fs's arguments are here, into keyword arguments of DatafluxFileSystem."""
    made = dict(given, service="s3")
    for name, value, argument in (("access_key_id", key, "key"), ("secret_access_key", secret, "secret"),
                                  ("session_token", token, "token"), ("endpoint_url", endpoint_url, "endpoint_url"),
                                  ("block_size", default_block_size, "default_block_size")):
        if value is not None:
            _once(made, name, argument)
            made[name] = value
    for name, value in (client_kwargs or {}).items():
        if name not in _OF_BOTO:
            raise TypeError(f"client_kwargs: {name} is boto's, and there is no such option here: known are "
                            + ", ".join(_OF_BOTO))
        if value is not None:
            _once(made, _OF_BOTO[name], f"client_kwargs: {name}")
            made[_OF_BOTO[name]] = value
    return made


_OF_BOTO = {"region_name": "region", "endpoint_url": "endpoint_url", "aws_access_key_id": "access_key_id",
            "aws_secret_access_key": "secret_access_key", "aws_session_token": "session_token"}


@contextmanager
def names_of(given, options):
    """What a client refuses has the name of an argument of gcsfs where that was given, and not by its own
    name."""
    try:
        yield
    except (TypeError, ValueError) as why:
        own, mark, said = str(why).partition(": ")
        for name, argument in _NAMES:
            if mark and own == name and given.get(argument) is not None and options.get(own) is None:
                raise type(why)(f"{argument} (dataflux.Client's {name}): {said}") from None
        raise


def _once(made, name, argument):
    if name in made:
        raise ValueError(f"{argument}: it does not go with {name}, which is the same")


def _of_token(token, made):
    """What gcsfs's `token` means. Gives whether it is a secret."""
    if token is None or token == "google_default":
        return False
    _once(made, "credentials", "token")
    _once(made, "credentials_file", "token")
    if token in ("browser", "cache"):
        raise ValueError(f"token: {token!r} is gcsfs's own: run `gcloud auth application-default "
                         "login` and leave token out")
    if token == "cloud":
        made["credentials"] = _of_machine
        return False
    if isinstance(token, dict):
        made["credentials"] = _of_dict(token)
        return True
    if isinstance(token, (str, os.PathLike)) and os.path.exists(token):
        made["credentials_file"] = token
        return False
    if isinstance(token, os.PathLike):
        raise FileNotFoundError(f"token: there is no file {os.fspath(token)!r}")
    made["credentials"] = token
    return isinstance(token, str) or hasattr(token, "refresh")


def _google(what):
    try:
        from importlib import import_module

        return import_module(what)
    except ImportError as why:
        raise ImportError("token: this kind needs google-auth: pip install libdataflux[google]") \
            from why


def _of_machine():
    """A token of the service account of this machine, and its expiry."""
    from datetime import timezone

    found = _google("google.auth.compute_engine").Credentials()
    found.refresh(_google("google.auth.transport.requests").Request())
    return found.token, found.expiry and found.expiry.replace(tzinfo=timezone.utc)


def _of_dict(known):
    kind = known.get("type")
    if kind == "service_account":
        return _google("google.oauth2.service_account").Credentials.from_service_account_info(known)
    if kind == "authorized_user":
        return _google("google.oauth2.credentials").Credentials.from_authorized_user_info(known)
    if kind in ("external_account", "external_account_authorized_user", "impersonated_service_account"):
        from warnings import catch_warnings, simplefilter

        with catch_warnings():  # it warns of dicts of strangers, and this one is the caller's
            simplefilter("ignore", DeprecationWarning)
            return _google("google.auth").load_credentials_from_dict(known)[0]
    raise ValueError('token: a dict is the content of a credentials file, whose "type" is one of '
                     f"docs/credentials.md, and not {kind!r}")
