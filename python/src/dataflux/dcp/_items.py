"""Items of a checkpoint's file, written one behind the other."""

from __future__ import annotations

import ctypes
import io
from typing import IO, Any, Sequence, cast

import torch
from torch.distributed.checkpoint._extension import StreamTransformExtension
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem, WriteItemType
from torch.distributed.checkpoint.utils import find_state_dict_object

from .._writer import Writer
from ..torch._save import Sink


class _Stream(io.RawIOBase):
    """What torch.save() and extensions write to: a Sink as a file. Closing it leaves the member's file
    open for the next item."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._sink.write(data)

    def close(self) -> None:
        pass


class Items:
    """Items of a member, one behind the other. Memory that is the state's own is lent to the library, and
    not copied. What was made for the save alone, a copy of a GPU's tensor for one, is let go of as soon
    as it was written: of such there is one at a time."""

    def __init__(self, writer: Writer, planner: SavePlanner,
                 extensions: Sequence[StreamTransformExtension]) -> None:
        self._own: dict[int, torch.UntypedStorage] = {}  # by address
        self._planner = planner
        self._extensions = extensions
        self.sink = Sink(writer, self._own)

    def write(self, item: WriteItem) -> list[str]:
        """Writes one. The descriptors of the extensions that have transformed it."""
        data = self._planner.resolve_data(item)
        stream = _Stream(self.sink)
        target = cast("IO[bytes]", stream)
        for extension in self._extensions:
            target = extension.transform_to(target)
        with self.sink:
            if item.type == WriteItemType.BYTE_IO:
                if not isinstance(data, io.BytesIO):
                    raise TypeError(f"{item.index.fqn}: the planner gives a {type(data).__name__} for an "
                                    "item of bytes, and not a BytesIO")
                target.write(data.getbuffer())
            else:
                if not isinstance(data, torch.Tensor):
                    raise TypeError(f"{item.index.fqn}: the planner gives a {type(data).__name__} for a "
                                    "tensor")
                torch.save(self._ready(item, data), target)
            if target is not cast(Any, stream):
                target.close()
        self._own.clear()
        return [extension.get_descriptor() for extension in reversed(self._extensions)]

    def _ready(self, item: WriteItem, data: torch.Tensor) -> torch.Tensor:
        tensor, memory = on_host(data), _memory(data)
        if memory is not None and memory == self._memory_of_state(item) and _lies_in(tensor, data):
            self._own[tensor.data_ptr()] = tensor.untyped_storage()
        return tensor

    def _memory_of_state(self, item: WriteItem) -> int | None:
        """Where that tensor lies which the state has for an item. A planner may give another one, whose
        memory it uses again for the next."""
        state = getattr(self._planner, "state_dict", None)
        try:
            found = find_state_dict_object(cast(Any, state), item.index)
        except Exception:  # the planner has a way of its own
            return None
        return _memory(found) if isinstance(found, torch.Tensor) else None


def _memory(tensor: torch.Tensor) -> int | None:
    """The address of its storage in memory of the processor."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return None
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return None  # it has none, as some wrappers


def _lies_in(tensor: torch.Tensor, of: torch.Tensor) -> bool:
    storage = of.untyped_storage()
    return 0 <= tensor.data_ptr() - storage.data_ptr() <= storage.nbytes() - tensor.nbytes


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in memory of the processor, with a storage of its own size, so that no more than it
    is saved. What is contiguous there is not copied."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    tensor = tensor.resolve_conj().resolve_neg()
    storage = tensor.untyped_storage()
    if storage.nbytes() == tensor.nbytes:
        return tensor
    if tensor.nbytes == 0 or type(tensor) is not torch.Tensor or not tensor.is_contiguous():
        return tensor.clone()
    memory = (ctypes.c_char * tensor.nbytes).from_address(tensor.data_ptr())
    memory.tensor = tensor  # type: ignore[attr-defined]  # it is its memory
    flat = torch.frombuffer(memory, dtype=torch.uint8)
    return torch.empty(0, dtype=tensor.dtype, device="cpu").set_(
        flat.untyped_storage(), 0, tensor.size(), tensor.stride())
