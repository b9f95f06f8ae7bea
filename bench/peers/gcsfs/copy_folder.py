#!/usr/bin/env python3
"""gcsfs as a peer of `bench/run.py cp`: copies a folder and prints what the copying alone cost.

    copy_folder.py get|put ENDPOINT SOURCE TARGET CONCURRENCY

Imports and the first connection are not counted: a job pays for them once.
"""

import json
import os
import sys
import time

# Else it asks by gRPC first what kind of bucket this is, which only the service answers.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
import gcsfs  # noqa: E402


def main():
    direction, endpoint, source, target, concurrency = sys.argv[1:]
    files = gcsfs.GCSFileSystem(token="anon", endpoint_url=endpoint)
    copy = files.get if direction == "get" else files.put
    files.exists(source if direction == "get" else target)
    wall, before = time.monotonic(), os.times()
    copy(source, target, recursive=True, batch_size=int(concurrency))
    after = os.times()
    print(json.dumps({"wall_s": time.monotonic() - wall,
                      "cpu_s": after.user + after.system - before.user - before.system}))


if __name__ == "__main__":
    main()
