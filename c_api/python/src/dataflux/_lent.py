"""Memory of the caller's that the library reads or fills, and new bytes that it fills."""

from __future__ import annotations

import ctypes

_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes = (ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes = (ctypes.c_void_p,)
_release.restype = None
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t)
_new_bytes.restype = ctypes.py_object
_SIMPLE, _WRITABLE = 0, 1


class _View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("rest", ctypes.c_void_p * 8)]


class Lent:
    """The bytes of any object that exports them, pinned until release().

    address, size   of the memory
    """

    __slots__ = ("address", "size", "_view")

    def __init__(self, source, argument, writable=False):
        self._view = None
        view = _View()
        try:
            _get(source, ctypes.addressof(view), _WRITABLE if writable else _SIMPLE)
        except TypeError:
            raise TypeError(f"{argument}: a bytes-like object is needed, and not a "
                            f"{type(source).__name__}") from None
        except (BufferError, ValueError) as why:
            what = "that is contiguous and can be written" if writable else "that is contiguous"
            raise TypeError(f"{argument}: memory {what} is needed: {why}") from None
        self._view = view
        self.address = view.buf
        self.size = view.len

    def release(self):
        view, self._view = self._view, None
        if view is not None:
            _release(ctypes.addressof(view))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __del__(self):
        if _release is not None:
            self.release()


def new_bytes(size):
    """Bytes whose content is not set yet: they are filled by the library before anyone sees them."""
    return _new_bytes(None, size)
