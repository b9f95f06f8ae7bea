"""libdataflux, loaded when it is first used. Its functions and structs are made of the rows of
_abi.py when they are first used: declaring all of them costs more than a program uses of them."""

import _thread
import ctypes
import os
import sys

from . import _abi

_TYPES = {
    "i": ctypes.c_int32, "I": ctypes.c_uint32, "q": ctypes.c_int64, "Q": ctypes.c_uint64,
    "d": ctypes.c_double, "s": ctypes.c_char_p, "P": ctypes.c_void_p, "v": None,
}
_NAME = "libdataflux.so.0"
addressof = ctypes.addressof
byref = ctypes.byref
Pointer = ctypes.c_void_p
Size = ctypes.c_size_t


def _path():
    """DATAFLUX_LIBRARY says which; else the one that was installed with the package, else the
    system's."""
    named = os.environ.get("DATAFLUX_LIBRARY")
    if named:
        return named
    shipped = os.path.join(os.path.dirname(__file__), "lib", _NAME)
    return shipped if os.path.exists(shipped) else _NAME


class _Library:
    """Functions as attributes, without "dataflux_". ctypes lets go of the interpreter's lock while
    one runs."""

    def __init__(self):
        self._waiting = []
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self):
        self._lock = _thread.RLock()  # one thread loads it
        self._coming = None

    def when_loaded(self, function):
        """Calls it once the library is loaded, which may be now, and before another thread has it."""
        with self._lock:
            self._waiting.append(function)
            if "_loaded" in self.__dict__:
                function()

    def __getattr__(self, name):
        if name == "_loaded":
            return self._load()
        letters = _abi.FUNCTIONS.get(name)
        if letters is None:
            raise AttributeError(name)
        function = self._loaded["dataflux_" + name]
        function.restype = _TYPES[letters[0]]
        function.argtypes = [_TYPES[letter] for letter in letters[1:]]
        setattr(self, name, function)
        return function

    def _load(self):
        with self._lock:
            loaded = self.__dict__.get("_loaded") or self._coming
            if loaded is None:
                self._coming = loaded = _opened()
                try:
                    for function in self._waiting:  # which use what is coming
                        function()
                finally:
                    self._coming = None
                self._loaded = loaded
            return loaded


def _opened():
    """The library, whose interface is the one that is needed."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        raise ImportError("dataflux runs on 64-bit Linux")
    if _interpreter("Get") != _interpreter("Main"):
        # Its end aborts the process while a thread of its is there, even one that just ends.
        raise ImportError("dataflux runs in the main interpreter of a process, and this is a "
                          "sub-interpreter: use threads or processes")
    path = _path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"{path} cannot be loaded ({why}): install libdataflux again, or let "
                          "DATAFLUX_LIBRARY name the library") from None
    try:
        there = loaded.dataflux_abi_version()
    except AttributeError:
        raise ImportError(f"{path} is another library, and none of dataflux: let DATAFLUX_LIBRARY name "
                          "libdataflux") from None
    if there < _abi.ABI_VERSION:
        raise ImportError(f"{path} has version {there} of its interface, and this package needs "
                          f"{_abi.ABI_VERSION}: install both of one version")
    return loaded


def _interpreter(which):
    return ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyInterpreterState_" + which, ctypes.pythonapi))()


library = _Library()
# Its own prototype: those of ctypes.pythonapi are shared by the whole process.
method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
    ("PyInstanceMethod_New", ctypes.pythonapi))  # makes a method of any callable
_structs = {}


def kind_of(name):
    """The ctypes class of a struct of the ABI, by its name without "dataflux_"."""
    kind = _structs.get(name)
    if kind is None:
        rows = [(member, _TYPES[letter]) for member, letter in _abi.STRUCTS[name]]
        kind = _structs[name] = type(name, (ctypes.Structure,), {"_fields_": rows})
    return kind


def filled(name, *values):
    """A struct of those values, of its first members in their order but for its size, which is known:
    faster than struct()."""
    kind = kind_of(name)
    return kind(ctypes.sizeof(kind), *values)


def struct(name, **members):
    """A struct with the members given: the rest is 0, which is each one's default. Texts are str or
    bytes, and kept alive by the struct; None is left out."""
    kind = kind_of(name)
    made = kind()
    if kind._fields_[0][0] == "struct_size":
        made.struct_size = ctypes.sizeof(kind)
    for member, value in members.items():
        if value is None:
            continue
        setattr(made, member, value.encode() if isinstance(value, str) else value)
    return made


def key_bytes(key):
    """Bytes where C reads them."""
    return (ctypes.c_uint8 * len(key)).from_buffer_copy(key)


def text_at(pointer, size=-1):
    """The text at an address, which ends with a NUL or has `size` bytes."""
    return ctypes.string_at(pointer, size).decode("utf-8", "replace")
