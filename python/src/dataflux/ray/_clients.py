"""Clients of worker processes: one for each set of options, which all tasks of a process share."""

from __future__ import annotations

from threading import Lock
from typing import Dict

from ray import cloudpickle

from .._client import Client

_opened: Dict[bytes, Client] = {}
_lock = Lock()


def carried(client: Client) -> bytes:
    """A client's options, for other processes.

    Raises: TypeError for options with a secret, which does not travel.
    """
    text: bytes = cloudpickle.dumps(client)
    return text


def client_of(text: bytes) -> Client:
    """The client of this process with these options."""
    with _lock:
        client = _opened.get(text)
        if client is None:
            client = _opened[text] = cloudpickle.loads(text)
        return client
