#!/usr/bin/env python3
"""Plays calls of the table of behaviour (table.txt, which says what they are) by the Python package.

    driver.py ENDPOINT TOKEN       calls from standard input, answers to standard output
"""

import sys
import threading
import time
from urllib.parse import quote, unquote_to_bytes

import dataflux
from pattern import crc32c, pattern


def text(word):
    return "" if word == '""' else unquote_to_bytes(word).decode(errors="surrogateescape")


def known(data):
    return f"{len(data)} {crc32c(data):08x}"


def of_object(made):
    return f"{made.size} {made.crc32c:08x}"


def sizes_of(word):
    return [int(size) for size in word.split(",")] if word != '""' else []


def length_of(word):
    return None if word == "end" else int(word)


def requests_of(driver, word):
    for request in word.split(","):
        name, *of = request.split(":")
        url = driver.url(name)
        yield (url, int(of[0]), length_of(of[1])) if of else url


def of_item(item):
    return known(item.data) if item.error is None else f"- {item.error.status}"


def write_all(writer, sizes):
    at = 0
    for size in sizes:
        writer.write(pattern(size, at))
        at += size


class Driver:
    """A method for each verb. `how` are the call's options, by the names that the package has."""

    def __init__(self, endpoint, token):
        self.options = {"endpoint": endpoint, "emulator": True, "tokens_to_emulator": True,
                        "credentials": token}
        self.client = dataflux.Client(**self.options)
        self.bucket = ""

    def url(self, word):
        return f"gs://{self.bucket}/{text(word)}"

    def urls(self, word):
        return [self.url(name) for name in word.split(",")]

    def put(self, name, size, **how):
        return of_object(self.client.put(self.url(name), pattern(int(size)), **how))

    def get(self, name, offset, length, **how):
        return known(self.client.get(self.url(name), offset=int(offset), length=length_of(length),
                                     **how))

    def into(self, name, offset, size, **how):
        memory = bytearray(int(size))
        self.client.read_into(self.url(name), memory, offset=int(offset), **how)
        return known(memory)

    def ranges(self, name, ranges, **how):
        pairs = [tuple(map(int, pair.split(":"))) for pair in ranges.split(",")]
        return " ".join(map(known, self.client.get_ranges(self.url(name), pairs, **how)))

    def many(self, requests, stop=False, **how):
        items = self.client.get_many(requests_of(self, requests),
                                     on_error="raise" if stop else "return", **how).items()
        return " ".join(map(of_item, items))

    def stat(self, name, **how):
        return of_object(self.client.stat(self.url(name), **how))

    def remove(self, name, **how):
        self.client.delete(self.url(name), **how)

    def copy(self, source, target, **how):
        return of_object(self.client.copy(self.url(source), self.url(target), **how))

    def move(self, source, target, **how):
        return of_object(self.client.move(self.url(source), self.url(target), **how))

    def compose(self, target, sources, **how):
        return of_object(self.client.compose(self.urls(sources), self.url(target), **how))

    def list(self, prefix, **how):
        return " ".join(quote(name) for name in self.client.list(self.url(prefix), **how).names)

    def write(self, name, sizes, **how):
        with self.client.writer(self.url(name), **how) as writer:
            write_all(writer, sizes_of(sizes))
        return of_object(writer.object)

    def abandon(self, name, sizes, **how):
        writer = self.client.writer(self.url(name), **how)
        write_all(writer, sizes_of(sizes))
        writer.abort()

    def overtaken(self, name, sizes, **how):
        with self.client.writer(self.url(name), **how) as writer:
            self.client.put(self.url(name), b"\0")
            write_all(writer, sizes_of(sizes))
        return of_object(writer.object)

    def commit_set(self, prefix, members):
        owner = self.client.checkpoint_set(self.url(prefix))
        owner.begin()
        records = []
        for member in members.split(","):
            name, size = member.split(":")
            with owner.open_member(text(name)) as writer:
                writer.write(pattern(int(size)))
            records.append(writer.record)
        return str(owner.commit(records).bytes)

    def open_set(self, prefix):
        return str(self.client.checkpoint_set(self.url(prefix)).open().bytes)

    def cancel(self, name):
        """A call that blocks is cancelled by closing its client (or by Ctrl-C)."""
        url, came = self.url(name), []
        client = dataflux.Client(**self.options)

        def read():
            try:
                came.append(known(client.get(url)))
            except dataflux.Error as error:
                came.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        while not came and client.metrics()["connections"]["open"] == 0:
            time.sleep(0.001)
        client.close()
        reader.join()
        if isinstance(came[0], dataflux.Error):
            raise came[0]
        return came[0]


def options(words):
    names = {"if": "if_generation_match", "gen": "generation"}
    how = {}
    for word in words:
        name, _, value = word.partition("=")
        if name == "ms":
            how["timeout"] = int(value) / 1000
        elif name == "stop":
            how["stop"] = True
        else:
            how[names[name]] = int(value)
    return how


def is_option(word):
    return "=" in word or word == "stop"


def call_of(driver, line):
    """(method or None, its words, its options)"""
    bucket, verb, *words = line.split()
    driver.bucket = text(bucket)
    return (getattr(driver, verb, None), [word for word in words if not is_option(word)],
            options(word for word in words if is_option(word)))


def good(given):
    return f"ok {given}" if given else "ok"


def bad(error):
    if isinstance(error, dataflux.Error):
        maybe = " maybe" if error.outcome_unknown else ""
        return f"error {error.status} {error.http_status}{maybe} # {error}"
    return f"error invalid_argument 0 # {error}"  # what is refused before the library is asked


def answer(driver, line):
    play, words, how = call_of(driver, line)
    if play is None:
        return "none"
    try:
        return good(play(*words, **how))
    except (dataflux.Error, ValueError) as error:
        return bad(error)


def main():
    driver = Driver(*sys.argv[1:])
    for line in sys.stdin:
        print(answer(driver, line), flush=True)


if __name__ == "__main__":
    main()
