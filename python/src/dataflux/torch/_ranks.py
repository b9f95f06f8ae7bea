"""Which rank this process is, of how many; see .._ranks."""

from .._ranks import agree, distributed, ranks

__all__ = ["agree", "distributed", "ranks"]
