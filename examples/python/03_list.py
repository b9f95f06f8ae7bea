"""03: lists the objects below a prefix by parallel calls.

    03_list.py gs://BUCKET/PREFIX
"""

import sys

import dataflux

listing = dataflux.list(sys.argv[1])
for row in listing:
    print(f"{row.size:12}  {row.name}")
print(f"{len(listing)} objects, {listing.total_bytes} bytes")
