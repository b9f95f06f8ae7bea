"""What of the machine a process reads with: many of them share one."""

from __future__ import annotations

import os

from .._client import Client

MEMORY = 256 << 20  # bytes of reads ahead, of all processes of a machine
CONNECTIONS = 256
LEAST_MEMORY = 32 << 20
LEAST_CONNECTIONS = 8


def share_of(processes: int) -> dict[str, int]:
    """Options of a client in one of so many processes."""
    if processes <= 1:
        return {}
    threads = max(1, len(os.sched_getaffinity(0)) // 4 // processes)
    return {"memory_cap": max(LEAST_MEMORY, _memory() // processes),
            "max_connections_per_host": max(LEAST_CONNECTIONS, CONNECTIONS // processes),
            "io_threads": threads}


def _memory():
    """A sixteenth of the machine's, and no less than one client reads ahead by itself."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(MEMORY, pages // 16)


def memory_of(client: Client) -> int:
    """Bytes that a client has for reads ahead."""
    return client._options.given["memory_cap"] or MEMORY


def local_ranks() -> int:
    """How many ranks this machine has, by LOCAL_WORLD_SIZE; 1 where nobody says so."""
    told = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return int(told) if told.isdecimal() and int(told) else 1


def client_for(client: Client, workers: int) -> Client:
    """A client with the options of `client`, and this machine's share where those say nothing; itself,
    where nobody shares."""
    share = share_of(max(1, workers) * local_ranks())
    if not share:
        return client  # in a forked child it opens itself anew
    given = dict(client._options.given)
    return Client(**{**given, **{name: given[name] or value for name, value in share.items()}})
