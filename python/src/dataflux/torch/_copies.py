"""Batches copied to a device, some ahead of the step."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Tuple

import torch

cuda: Any = torch.cuda
_WITH_STREAMS = ("cuda",)
Begun = Tuple[Any, Any]  # the batch there, the event behind its copy


def each_tensor(batch: Any, made: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The batch with other tensors."""
    if isinstance(batch, torch.Tensor):
        return made(batch)
    if isinstance(batch, dict):
        return {name: each_tensor(value, made) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[each_tensor(value, made) for value in batch])
    if type(batch) in (tuple, list):
        return type(batch)([each_tensor(value, made) for value in batch])
    return batch


class Copies:
    """Copies on a stream beside the one of the step. Memory here is kept until its copy is over.

    Arguments:
        device: where to.
        ahead: batches that are copied before the step wants them.
    """

    def __init__(self, device: torch.device, ahead: int) -> None:
        self._device = device
        self.ahead = ahead
        self._beside: Any = None
        self._under_way: deque[tuple[Any, Any]] = deque()  # (event, batch here)

    @property
    def pinned(self) -> bool:
        """Whether copies want memory that is page-locked."""
        return self._device.type == "cuda"

    def begin(self, batch: Any) -> Begun:
        """Starts a copy. Raises: what torch does where the device has no memory for it."""
        if self._device.type not in _WITH_STREAMS:
            return each_tensor(batch, self._moved), None
        self._beside = self._beside or cuda.Stream(self._device)
        event = cuda.Event()
        try:
            with cuda.stream(self._beside):
                there = each_tensor(batch, self._moved)
        finally:  # where one of several failed, others may be under way
            event.record(self._beside)
            self._under_way.append((event, batch))
        return there, event

    def _moved(self, tensor):
        return tensor.to(self._device, non_blocking=True, copy=True)

    def end(self, begun: Begun) -> Any:
        """The batch there, for the stream that is the current one."""
        there, event = begun
        if event is None:
            return there
        current = cuda.current_stream(self._device)
        current.wait_event(event)

        def used(tensor):
            tensor.record_stream(current)  # it was allocated for the other stream
            return tensor

        return each_tensor(there, used)

    def recycle(self) -> None:
        """Lets go of memory here whose copies are over, and waits where there is too much of it."""
        under_way = self._under_way
        while under_way and (under_way[0][0].query() or len(under_way) > 2 * (1 + self.ahead)):
            under_way[0][0].synchronize()
            under_way.popleft()

    def close(self) -> None:
        """Waits for all copies: their memory here is to be used again."""
        while self._under_way:
            self._under_way[0][0].synchronize()
            self._under_way.popleft()
