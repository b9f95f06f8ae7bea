#!/usr/bin/env python3
"""Feeds a loop as peers/dataloader/feed.py does, whose arguments it has, from the server of S3 that the environment
names. CLIENT:

    s3-iterable, s3-map                             dataflux.torch's datasets
    s3torchconnector, s3torchconnector-iterable     its datasets
    boto3                                           an object after the other
    s3fs, obstore                                   a batch at once, by 64 requests in flight at most
"""

import asyncio
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dataloader"))
import feed  # noqa: E402
from feed import BUCKET, IN_FLIGHT, Getting, as_tensor  # noqa: E402


def ours(run, kind):
    from dataflux.torch import IterableDataset, MapDataset, tensor

    if kind == "map":
        return MapDataset(url=f"s3://{BUCKET}/", decode=tensor)
    return IterableDataset(url=f"s3://{BUCKET}/", decode=tensor, batch_size=run["batch"], seed=1)


def s3torchconnector(run, kind):
    from s3torchconnector import S3ClientConfig, S3IterableDataset, S3MapDataset

    def decode(reader):
        return as_tensor(bytearray(reader.read()))

    more = {"endpoint": run["endpoint"], "transform": decode, "s3client_config": S3ClientConfig(force_path_style=True)}
    if kind == "map":
        return S3MapDataset.from_prefix(f"s3://{BUCKET}/", region=run["region"], **more)
    return S3IterableDataset.from_prefix(f"s3://{BUCKET}/", region=run["region"], enable_sharding=True, **more)


class Boto3(Getting):
    """A client in each worker, as a thread's is."""

    def __init__(self, run):
        self.size, self.endpoint, self.client = run["objects"], run["endpoint"], None

    def __getitem__(self, number):
        if self.client is None:
            import boto3

            self.client = boto3.client("s3", endpoint_url=self.endpoint)
        return as_tensor(bytearray(self.client.get_object(Bucket=BUCKET, Key=str(number))["Body"].read()))


class S3fs(Getting):
    def __init__(self, run):
        self.size, self.endpoint, self.files = run["objects"], run["endpoint"], None

    def __getitems__(self, numbers):
        if self.files is None:
            import s3fs

            self.files = s3fs.S3FileSystem(endpoint_url=self.endpoint, skip_instance_cache=True)
        found = self.files.cat([f"{BUCKET}/{number}" for number in numbers], batch_size=IN_FLIGHT)
        return [as_tensor(bytearray(found[f"{BUCKET}/{number}"])) for number in numbers]


class Obstore(Getting):
    def __init__(self, run):
        self.size, self.endpoint, self.region, self.store = run["objects"], run["endpoint"], run["region"], None

    def __getitems__(self, numbers):
        import obstore

        if self.store is None:
            self.store = obstore.store.S3Store(BUCKET, endpoint=self.endpoint, region=self.region,
                                               client_options={"allow_http": True})

        async def one(number):
            found = await obstore.get_async(self.store, str(number))
            return as_tensor(await found.bytes_async())

        async def all_of_them():
            return await asyncio.gather(*map(one, numbers))

        return asyncio.run(all_of_them())


feed.DATASETS.update({
    "s3-iterable": lambda run: ours(run, "iterable"), "s3-map": lambda run: ours(run, "map"),
    "s3torchconnector": lambda run: s3torchconnector(run, "map"),
    "s3torchconnector-iterable": lambda run: s3torchconnector(run, "iterable"),
    "boto3": Boto3, "s3fs": S3fs, "obstore": Obstore})

if __name__ == "__main__":
    feed.main()
