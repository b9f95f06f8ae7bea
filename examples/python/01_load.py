"""01: lists a prefix and reads every object below it, as a training loop does.

    01_load.py gs://BUCKET/PREFIX

An object that cannot be read does not end the others: on_error decides what happens to it.
"""

import sys

import dataflux

with dataflux.Client() as client:
    listing = client.list(sys.argv[1])
    for batch in client.get_many(listing, on_error="return"):
        for item in batch:
            name = listing[item.index].name
            if item.error is not None:
                print(f"{name}: {item.error.status}")
            else:
                print(f"{name}: {len(item.data)} bytes, {item.data[:8].tobytes()!r}")
