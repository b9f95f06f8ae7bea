"""A job whose processes meet by torch.distributed's store."""

import subprocess
import sys

RANK = """
import sys
import torch.distributed as dist
import dataflux
from service import options_of
endpoint, where, url, rank = sys.argv[1:]
dist.init_process_group("gloo", init_method=where, rank=int(rank), world_size=2)
client = dataflux.Client(**options_of(endpoint))
with dataflux.job(client=client, lease=2.0, reads=1000) as job:
    manifest = job.manifest(url)
    print(job.rank, job.world_size, len(manifest.rows()), job.living(), flush=True)
    dist.barrier()
dist.destroy_process_group()
"""


def test_ranks_share_by_the_store_of_their_group(emulator, bucket, tmp_path):
    for number in range(7):
        bucket.put(f"o/{number}")
    before = emulator.answered("objects.list")
    where = f"file://{tmp_path}/meet"
    ranks = [subprocess.Popen([sys.executable, "-c", RANK, emulator.endpoint, where, bucket("o/"), str(rank)],
                              stdout=subprocess.PIPE, text=True) for rank in range(2)]
    said = [each.communicate(timeout=300)[0] for each in ranks]
    assert said == ["0 2 7 2\n", "1 2 7 2\n"]
    assert [each.returncode for each in ranks] == [0, 0]
    assert emulator.answered("objects.list") - before == 1


TCP = """
import sys
import torch.distributed as dist
import dataflux
from service import options_of
endpoint, port, url, rank = sys.argv[1:]
store = dist.TCPStore("127.0.0.1", int(port), 2, is_master=rank == "0", wait_for_workers=False)
client = dataflux.Client(**options_of(endpoint))
with dataflux.job(store, client=client, rank=int(rank), world_size=2, lease=2.0) as job:
    print(store.port if rank == "0" else len(job.manifest(url).rows()), flush=True)
    if rank == "0":
        job.manifest(url)
        sys.stdin.read()
    else:
        store.set("done", "")
"""


def test_a_tcp_store_is_given_and_its_process_may_die(emulator, bucket):
    bucket.put("o/1")

    def begin(rank, port):
        return subprocess.Popen([sys.executable, "-c", TCP, emulator.endpoint, str(port), bucket("o/"), str(rank)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    first = begin(0, 0)
    port = int(first.stdout.readline())
    second = begin(1, port)
    assert second.communicate(timeout=300)[0] == "1\n"
    assert second.returncode == 0
    first.kill()
    first.wait()
