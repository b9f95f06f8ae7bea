"""Files that appear together."""

from __future__ import annotations

from collections import deque

from fsspec.transaction import Transaction

from .._errors import Error, NotFoundError


class ThreadTransaction(Transaction):
    """Files that this thread writes appear at the end, and none of them where an exception leaves the
    `with`.

    The service changes one object at a time. Where one of several fails at the end, those that were
    made before it are removed again; of what had a name before, the old content cannot come back, and
    the Error says so.

    One within another is a part of it: its files appear at the end of the outer one, and an exception
    that leaves it discards them alone.
    """

    def __init__(self, fs, **how):
        super().__init__(fs, **how)
        self._begun_at = []  # of each one within: how many files were there

    def start(self):
        if self.fs._intrans:
            self._begun_at.append(len(self.files))
        else:
            super().start()

    def __exit__(self, kind, value, traceback):
        self.complete(commit=kind is None)

    def pipe(self, place, value, how):
        """Writes bytes that are to appear at the end."""
        with self._file(place, how) as file:
            file.write(value)

    def put(self, place, path, how):
        """Writes a file of this machine that is to appear at the end. Gives its bytes."""
        with open(path, "rb") as source, self._file(place, how) as file:
            while data := source.read(8 << 20):
                file.write(data)
            return file.tell()

    def _file(self, place, how):
        from ._files import HeldWriter, writer_of

        made = writer_of(self.fs, HeldWriter, "/".join(place), "wb", dict(how))
        self.files.append(made)
        return made

    def complete(self, commit=True):
        """Commits all, or discards all; of one within another its own."""
        if self._begun_at:
            kept = self._begun_at.pop()
            while not commit and len(self.files) > kept:
                _discard_quietly(self.files.pop())
            return
        fs, files = self.fs, list(self.files)
        self.files = deque()
        done = []
        try:
            if commit:
                for file in files:
                    file.check()
                before = self._there(fs, files)
                try:
                    for file in files:
                        file.commit()
                        done.append(file)
                except BaseException as why:
                    _take_back(fs, done, before, why)
                    raise
        finally:
            for file in files:
                _discard_quietly(file)
            self.fs = None
            fs._intrans = False
            fs._transaction = None

    @staticmethod
    def _there(fs, files):
        """Which of several exist already."""
        if len(files) < 2:
            return {}
        places = [fs._target(file.path) for file in files]
        found = fs._each("stat", [((place,), {"fields": []}) for place in places])
        return {file.path: not isinstance(known, NotFoundError)
                for file, known in zip(files, found)}


def _take_back(fs, done, before, why):
    made = [file for file in done if not before[file.path]]
    outcomes = fs._each("delete", [((fs._target(file.path),), {
        "if_generation_match": file.generation}) for file in made])
    left = [file.url for file in done if before[file.path]]
    left += [file.url for file, outcome in zip(made, outcomes) if isinstance(outcome, Error)]
    if left:
        raise Error("a transaction has failed at its end, and these of its objects are there and "
                    f"could not be taken back: {', '.join(left)}. It failed with: {why}") from why


def _discard_quietly(file):
    try:
        if not file._writer.closed:
            file.discard()
    except Exception:
        pass  # what made it be discarded says what went wrong; find_leftovers() finds the rest
