"""libdataflux, loaded once. Its functions and structs are made of the rows of _abi.py when they are
first used: declaring all of them costs a program more than it uses of them."""

import ctypes
import os
import sys

from . import _abi

_TYPES = {
    "i": ctypes.c_int32, "I": ctypes.c_uint32, "q": ctypes.c_int64, "Q": ctypes.c_uint64,
    "d": ctypes.c_double, "s": ctypes.c_char_p, "P": ctypes.c_void_p, "v": None,
}
_NAME = "libdataflux.so.0"


def _path():
    """DATAFLUX_LIBRARY says which; else the one of the wheel, else the system's."""
    named = os.environ.get("DATAFLUX_LIBRARY")
    if named:
        return named
    shipped = os.path.join(os.path.dirname(__file__), "lib", _NAME)
    return shipped if os.path.exists(shipped) else _NAME


class _Library:
    """Functions as attributes, without "dataflux_". ctypes lets go of the interpreter's lock while
    one runs."""

    def __init__(self):
        if sys.platform != "linux" or sys.maxsize < 2**32:
            raise ImportError("dataflux runs on 64-bit Linux")
        self._loaded = ctypes.CDLL(_path())
        there = self.abi_version()
        if there != _abi.ABI_VERSION:
            raise ImportError(f"libdataflux has version {there} of its interface, and this package "
                              f"needs {_abi.ABI_VERSION}: install both of one version")

    def __getattr__(self, name):
        letters = _abi.FUNCTIONS.get(name)
        if letters is None:
            raise AttributeError(name)
        function = self._loaded["dataflux_" + name]
        function.restype = _TYPES[letters[0]]
        function.argtypes = [_TYPES[letter] for letter in letters[1:]]
        setattr(self, name, function)
        return function


library = _Library()
_structs = {}


def struct(name, **members):
    """A struct with the members given, as options are: the rest is 0, which is each one's default.
    Texts are str or None, and kept alive by the struct."""
    kind = _structs.get(name)
    if kind is None:
        rows = [(member, _TYPES[letter]) for member, letter in _abi.STRUCTS[name]]
        kind = _structs[name] = type(name, (ctypes.Structure,), {"_fields_": rows})
    made = kind()
    if kind._fields_[0][0] == "struct_size":
        made.struct_size = ctypes.sizeof(kind)
    for member, value in members.items():
        if value is None:
            continue
        setattr(made, member, value.encode() if isinstance(value, str) else value)
    return made
