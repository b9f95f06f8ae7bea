"""Saves one object of SIZE bytes by another client: save_object.py CLIENT ENDPOINT SIZE FOLDER.

Prints a JSON line with the wall and CPU seconds of the saving, those of its processes included. The
transfer manager wants a file: it is made in FOLDER before the clock runs.
"""

import json
import os
import resource
import sys
import tempfile
import time

PART = 32 << 20


def cpu():
    own, children = (resource.getrusage(who) for who in
                     (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def by_transfer_manager(endpoint, size, folder, worker_type):
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage
    from google.cloud.storage import transfer_manager

    os.environ["STORAGE_EMULATOR_HOST"] = endpoint
    blob = storage.Client("project", AnonymousCredentials()).bucket("bench").blob("saved")
    kind = {"threads": transfer_manager.THREAD, "processes": transfer_manager.PROCESS}[worker_type]
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(size // PART):
            file.write(os.urandom(PART))
        file.flush()
        begun = time.monotonic(), cpu()
        transfer_manager.upload_chunks_concurrently(file.name, blob, chunk_size=PART, max_workers=8,
                                                    worker_type=kind)
        return begun


def by_gcsfs(endpoint, size):
    import gcsfs

    files = gcsfs.GCSFileSystem(endpoint_url=endpoint, token="anon", skip_instance_cache=True)
    piece = os.urandom(PART)
    begun = time.monotonic(), cpu()
    with files.open("bench/saved", "wb", block_size=PART) as target:
        for _ in range(size // PART):
            target.write(piece)
    return begun


def main():
    client, endpoint, size, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
    if client == "gcsfs":
        wall, spent = by_gcsfs(endpoint, size)
    else:
        wall, spent = by_transfer_manager(endpoint, size, folder, client.split()[-1])
    print(json.dumps({"wall_s": time.monotonic() - wall, "cpu_s": cpu() - spent}))


if __name__ == "__main__":
    main()
