"""Lightning's checkpoints on dataflux. Importing this imports Lightning; nothing else of dataflux
does. What is here is for both of its names, `lightning` and `pytorch_lightning`."""

from ._async_io import AsyncCheckpointIO
from ._io import CheckpointIO
from ._last import resumable

__all__ = ["AsyncCheckpointIO", "CheckpointIO", "resumable"]
