"""What is pickled of an object that was given a client."""

from __future__ import annotations

import copy
from typing import Any

from ._clients import for_another_process
from ._retry import DEFAULT_RETRY


class Carried:
    """An object with a `storage_client`. In its pickle, such as one for a spawned process, that is a client
    of dataflux without credentials: see for_another_process().

    Members that hold the client of dataflux are named by `_holds`.
    """

    _holds = "_client"

    storage_client: Any

    def __getstate__(self) -> dict[str, Any]:
        above: Any = super()
        # Before Python 3.11 object has none.
        state = dict(above.__getstate__() if hasattr(above, "__getstate__") else self.__dict__)
        if self.storage_client is not None:
            state["storage_client"] = for_another_process(self.storage_client, self._retry())
            if self._holds in state:
                state[self._holds] = state["storage_client"]
        return state

    def __copy__(self) -> Any:
        # In this process it has the client itself, with its credentials.
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: Any) -> Any:
        made = copy.copy(self)
        for name, value in self.__dict__.items():
            if name not in ("storage_client", self._holds, "_own"):
                made.__dict__[name] = copy.deepcopy(value, memo)
        return made

    def _retry(self) -> Any:
        """The retry object that the client has its attempts from."""
        return DEFAULT_RETRY
