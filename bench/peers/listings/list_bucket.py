#!/usr/bin/env python3
"""Peers of `bench/run.py list_socket`: lists a bucket as their users do, and prints what it cost.

    list_bucket.py google-cloud-storage|gcsfs|obstore|obstore-arrow|dataflux ENDPOINT BUCKET

The last two make a table of pyarrow, and do so once before they are measured, as bench_languages
does; dataflux has 48 calls in flight.

Imports are not counted: a job pays for them once.
"""

import json
import os
import sys
import time


def by_google_cloud_storage(endpoint, bucket):
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage
    client = storage.Client(project="bench", credentials=AnonymousCredentials(),
                            client_options={"api_endpoint": endpoint})
    return lambda: sum(1 for _ in client.list_blobs(bucket))


def by_gcsfs(endpoint, bucket):
    # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
    import gcsfs
    files = gcsfs.GCSFileSystem(token="anon", endpoint_url=endpoint, project="bench")
    return lambda: len(files.find(bucket))


def store_of_obstore(endpoint, bucket):
    from obstore.store import GCSStore
    account = json.dumps({"gcs_base_url": endpoint, "disable_oauth": True, "client_email": "",
                          "private_key": "", "private_key_id": ""})
    return GCSStore(bucket, service_account_key=account, client_options={"allow_http": True})


def by_obstore(endpoint, bucket):
    import obstore
    store = store_of_obstore(endpoint, bucket)
    return lambda: sum(len(page) for page in obstore.list(store, chunk_size=1000))


def by_obstore_arrow(endpoint, bucket):
    import obstore
    import pyarrow
    store = store_of_obstore(endpoint, bucket)

    def table():
        pages = obstore.list(store, chunk_size=1000, return_arrow=True)
        return pyarrow.Table.from_batches(map(pyarrow.record_batch, pages))
    return lambda: table().num_rows


def by_dataflux(endpoint, bucket):
    import dataflux
    import pyarrow
    client = dataflux.Client(endpoint=endpoint, emulator=True)
    return lambda: pyarrow.table(client.list(f"gs://{bucket}", parallelism=48)).num_rows


CLIENTS = {"google-cloud-storage": by_google_cloud_storage, "gcsfs": by_gcsfs,
           "obstore": by_obstore, "obstore-arrow": by_obstore_arrow, "dataflux": by_dataflux}


def main():
    client, endpoint, bucket = sys.argv[1:]
    list_all = CLIENTS[client](endpoint, bucket)
    if client in ("obstore-arrow", "dataflux"):
        list_all()
    wall, before = time.monotonic(), os.times()
    items = list_all()
    after = os.times()
    print(json.dumps({"items": items, "wall_s": time.monotonic() - wall,
                      "cpu_s": after.user + after.system - before.user - before.system}))


if __name__ == "__main__":
    main()
