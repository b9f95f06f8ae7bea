#!/usr/bin/env python3
"""gcsfs as a peer of `bench/run.py trace`: replays a trace of reads, "OFFSET LENGTH" a line on
standard input, on a file that gcsfs opens with its defaults, and prints what it cost.

    replay_trace.py ENDPOINT BUCKET/OBJECT

Imports are not counted.
"""

import json
import os
import sys
import time

# Else it asks by gRPC first what kind of bucket this is, which only the service answers.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
import gcsfs  # noqa: E402


def main():
    endpoint, path = sys.argv[1:]
    reads = [tuple(map(int, line.split())) for line in sys.stdin]
    files = gcsfs.GCSFileSystem(token="anon", endpoint_url=endpoint)
    wall, before = time.monotonic(), os.times()
    with files.open(path, "rb") as file:
        for offset, length in reads:
            file.seek(offset)
            if len(file.read(length)) != length:
                raise SystemExit("a read was short")
    after = os.times()
    print(json.dumps({"wall_s": time.monotonic() - wall,
                      "cpu_s": after.user + after.system - before.user - before.system}))


if __name__ == "__main__":
    main()
