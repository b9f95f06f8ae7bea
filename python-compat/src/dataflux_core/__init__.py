"""dataflux-client-python's names: listing and downloading, on dataflux. Each module says what it does; the
differences that are meant are in docs/from-the-original.md."""

__version__ = "0.1.0"

from . import download as download
from . import fast_list as fast_list
from . import user_agent as user_agent
