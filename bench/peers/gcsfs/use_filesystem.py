#!/usr/bin/env python3
"""For `bench/run.py fsspec`: what a filesystem of fsspec does for its users, by CLIENT, and what it cost.

    use_filesystem.py dataflux|gcsfs cat|find|get ENDPOINT SOURCE COUNT [TARGET]

cat: the bytes of all objects that stand on standard input, by one call. find: all names below SOURCE.
get: the folder SOURCE into TARGET. Imports, and but for `find` the first connection, are not counted: a job
pays for them once. COUNT is how many objects there are to be; bytes are those of `cat`.
"""

import json
import os
import sys
import time


def filesystem(client, endpoint):
    if client == "dataflux":
        from dataflux.fsspec import DatafluxFileSystem

        return DatafluxFileSystem(endpoint=endpoint, emulator=True)
    # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
    import gcsfs

    return gcsfs.GCSFileSystem(token="anon", endpoint_url=endpoint, project="bench")


def main():
    client, action, endpoint, source, count, *target = sys.argv[1:]
    files = filesystem(client, endpoint)
    names = sys.stdin.read().split()
    if action != "find":  # whose server only lists
        files.exists(source)
    wall, before = time.monotonic(), os.times()
    size = 0
    if action == "cat":
        found = files.cat(names)
        size = sum(map(len, found.values()))
    elif action == "find":
        found = files.find(source)
    else:
        more = {} if client == "dataflux" else {"batch_size": 128}
        files.get(f"{source}/", f"{target[0]}/", recursive=True, **more)
        found = [name for _, _, names in os.walk(target[0]) for name in names]
    after = os.times()
    wall = time.monotonic() - wall
    if len(found) != int(count):
        sys.exit(f"{client}: {len(found)} of {count} objects")
    print(json.dumps({"requests": len(found), "bytes": size, "wall_s": wall,
                      "cpu_s": after.user + after.system - before.user - before.system}))


if __name__ == "__main__":
    main()
