"""How requests say that they come from here."""

from __future__ import annotations

from typing import Any

user_agent_string = "dataflux/1.0"


def add_dataflux_user_agent(storage_client: Any) -> None:
    """Puts "dataflux/1.0" before the user agent of a google.cloud.storage.Client, once. None, and a client
    without a connection, are left alone; a dataflux.Client has its own."""
    connection = getattr(storage_client, "_connection", None)
    if not connection:
        return
    known = getattr(connection, "_client_info", None)
    if not known:
        connection._client_info = _new_client_info()
    elif not known.user_agent:
        known.user_agent = user_agent_string
    elif user_agent_string not in known.user_agent:
        known.user_agent = f"{user_agent_string} {known.user_agent}"


def _new_client_info():
    try:
        from google.api_core.client_info import ClientInfo  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from types import SimpleNamespace as ClientInfo
    return ClientInfo(user_agent=user_agent_string)
