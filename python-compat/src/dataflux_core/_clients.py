"""The client of dataflux that does what is asked of a google.cloud.storage.Client. That package is not
imported: of a client that is given a few attributes are read."""

from __future__ import annotations

import os
import warnings
from typing import Any
from weakref import WeakKeyDictionary

from dataflux import Client

from ._retry import times_of
from .user_agent import add_dataflux_user_agent, user_agent_string

# By the client that was given, and by what else they differ in. setdefault() keeps one where two threads
# come at once; the other one has opened nothing.
_of_clients: WeakKeyDictionary[Any, dict[Any, Client]] = WeakKeyDictionary()
_of_none: dict[Any, Client] = {}


def client_of(storage_client: Any, retry_config: Any, *,
              user_project: str | None = None) -> Client:
    """The client for one that was given: the same one whenever the same is asked for. It costs nothing
    until it is used, and forked children may use it.

    Arguments:
        storage_client: a google.cloud.storage.Client, whose credentials, endpoint and user agent count;
            None = Application Default Credentials; a dataflux.Client, which is given back as it is.
        retry_config: as of times_of(). A dataflux.Client keeps its own attempts.
        user_project: who pays.

    Raises: TypeError for what is no client, or no retry.
    """
    attempts = times_of(retry_config).attempts  # which tells of what is no retry
    if isinstance(storage_client, Client):
        return storage_client
    if storage_client is None:
        key = attempts, user_project, os.environ.get("STORAGE_EMULATOR_HOST")
        made = _of_none.get(key)
        return made or _of_none.setdefault(key, Client(
            user_agent=user_agent_string, max_attempts=attempts, user_project=user_project))
    given = options_of(storage_client)
    known = _of_clients.get(storage_client)
    if known is None:
        known = _of_clients.setdefault(storage_client, {})
    # A program may change the endpoint, and the user agent, of a client that it has.
    key = attempts, user_project, given["endpoint"], given["user_agent"]
    made = known.get(key)
    return made or known.setdefault(key, Client(max_attempts=attempts, user_project=user_project, **given))


def options_of(storage_client: Any) -> dict[str, Any]:
    """Options of dataflux.Client for a client that was given, which is marked as ours before.

    Raises: TypeError where it is none.
    """
    connection = getattr(storage_client, "_connection", None)
    endpoint = getattr(connection, "API_BASE_URL", None)
    if not isinstance(endpoint, str) or not hasattr(storage_client, "_credentials"):
        raise TypeError("storage_client: a google.cloud.storage.Client, a dataflux.Client or None is "
                        f"needed, and not a {type(storage_client).__name__}")
    add_dataflux_user_agent(storage_client)
    agent = getattr(getattr(connection, "_client_info", None), "user_agent", None)
    emulator = endpoint.startswith("http://")
    return {"endpoint": endpoint.rstrip("/"), "emulator": emulator,
            # An emulator gets no token, and an object that has one would only be in the way of pickles.
            "credentials": None if emulator else storage_client._credentials,
            "user_agent": " ".join(agent.split()) if agent else user_agent_string}


def for_another_process(storage_client: Any, retry_config: Any) -> Client | None:
    """What a pickle carries of a client: its options, and no secret. Where it has credentials, whoever
    unpickles it finds Application Default Credentials, which a UserWarning says here."""
    if storage_client is None:
        return None
    client = client_of(storage_client, retry_config)
    source = client._options.source
    if not getattr(source, "secret", False):
        return client
    anonymous = bool(getattr(source, "anonymous", False))
    if not anonymous:
        warnings.warn("the credentials of storage_client do not travel to another process, which uses "
                      "Application Default Credentials", UserWarning, stacklevel=4)
    return Client(**{**client._options.given, "credentials": None, "anonymous": anonymous})
