"""The loops of the original's demos: which names they use, in which order, with which arguments."""

import io
import json
import math
import random

import numpy as np
import pytest
import torch
from torch.utils import data

import dataflux_core
import google_client
from dataflux_pytorch import dataflux_checkpoint, dataflux_iterable_dataset, dataflux_mapstyle_dataset
from dataflux_pytorch import dataflux_iterable_dataset as df_iter

PROJECT = "project"
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:'pin_memory' argument"),
              pytest.mark.without_tokens]  # the demos have the clients of the environment


@pytest.fixture(autouse=True)
def environment(emulator, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)


def content_as_it_is(content_in_bytes):
    return content_in_bytes


@pytest.mark.parametrize("no_dataflux", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("module, kind", [
    (dataflux_mapstyle_dataset, "DataFluxMapStyleDataset"),
    (dataflux_iterable_dataset, "DataFluxIterableDataset")], ids=["map", "iterable"])
def test_list_and_download(bucket, client, emulator, module, kind, given, no_dataflux):
    """Two epochs by workers that live on, with retry objects made from the command line's times."""
    sizes = [random.Random(7).randrange(1, 3000) for _ in range(60)]
    for each, size in enumerate(sizes):
        client.put(bucket(f"train/{each:02}"), bytes(size))
    retry_config = google_client.Retry(1.0, 1.2, 45.0, 300.0)
    more = {"threads_per_process": 2} if module is dataflux_mapstyle_dataset else {}
    config = module.Config(max_composite_object_size=100000000, list_retry_config=retry_config,
                           download_retry_config=retry_config, **more)
    if no_dataflux:
        config.max_composite_object_size = 0
        config.num_processes = 1
    config.prefix = "train/"
    dataset = getattr(module, kind)(
        project_name=PROJECT, bucket_name=bucket.name, config=config, data_format_fn=content_as_it_is,
        storage_client=google_client.Client(emulator.endpoint, project=PROJECT) if given else None)
    assert len(dataset.objects) == 60
    data_loader = data.DataLoader(
        dataset=dataset, batch_size=10, num_workers=2, prefetch_factor=2, persistent_workers=True,
        pin_memory=True, **({"shuffle": True} if more else {}))
    for _ in range(2):
        total_objects = total_bytes = 0
        for batch in data_loader:
            total_objects += len(batch)
            for object_bytes in batch:
                total_bytes += len(object_bytes)
        assert (total_objects, total_bytes) == (60, sum(sizes))


class ImageSegmentation(data.Dataset):
    """Images and their labels, of two listings that are sorted so that they pair."""

    def __init__(self, project_name, bucket_name, config, images_prefix, labels_prefix):
        self.project_name, self.bucket_name, self.config = project_name, bucket_name, config
        self.dataflux_download_optimization_params = (
            dataflux_core.download.DataFluxDownloadOptimizationParams(
                max_composite_object_size=self.config.max_composite_object_size))
        self.storage_client = None
        self.images, self.labels = (
            dataflux_core.fast_list.ListingController(
                max_parallelism=self.config.num_processes, project=self.project_name,
                bucket=self.bucket_name, sort_results=self.config.sort_listing_results,
                prefix=prefix).run()
            for prefix in (images_prefix, labels_prefix))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return tuple(np.load(io.BytesIO(dataflux_core.download.download_single(
            storage_client=self.storage_client, bucket_name=self.bucket_name, object_name=of[idx][0])))
            for of in (self.images, self.labels))

    def __getitems__(self, indices):
        images_in_bytes, labels_in_bytes = (
            dataflux_core.download.dataflux_download(
                project_name=self.project_name, bucket_name=self.bucket_name,
                objects=[of[idx] for idx in indices], storage_client=self.storage_client,
                dataflux_download_optimization_params=self.dataflux_download_optimization_params)
            for of in (self.images, self.labels))
        return [(np.load(io.BytesIO(image), allow_pickle=True), np.load(io.BytesIO(label), allow_pickle=True))
                for image, label in zip(images_in_bytes, labels_in_bytes)]


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("workers", [0, 2])
def test_image_segmentation(bucket, client, workers):
    for each in range(20):
        client.put(bucket(f"images/{each:02}_x.npy"), npy(np.full((4, 4), each, np.float32)))
        client.put(bucket(f"labels/{each:02}_y.npy"), npy(np.full((4, 4), each, np.uint8)))
    dataset = ImageSegmentation(PROJECT, bucket.name,
                                dataflux_mapstyle_dataset.Config(sort_listing_results=True),
                                images_prefix="images/", labels_prefix="labels/")
    image, label = dataset[3]
    assert image[0, 0] == label[0, 0] == 3
    sampler = data.DistributedSampler(dataset, num_replicas=2, rank=1, seed=3, drop_last=True)
    seen = []
    for images, labels in data.DataLoader(dataset, batch_size=5, sampler=sampler, num_workers=workers,
                                          drop_last=True):
        assert images.dtype == torch.float32 and labels.dtype == torch.uint8
        assert torch.equal(images.to(torch.uint8), labels)
        seen += images[:, 0, 0].tolist()
    assert len(set(seen)) == 10


class Table:
    """What the demo uses of pyarrow.parquet.ParquetFile, on lines of JSON."""

    def __init__(self, content):
        assert type(content) is bytes
        self._rows = [json.loads(line) for line in content.splitlines()]

    def iter_batches(self, batch_size, columns):
        for begin in range(0, len(self._rows), batch_size):
            rows = self._rows[begin:begin + batch_size]
            yield Batch([{name: row[name] for name in columns} for row in rows])


class Batch:
    def __init__(self, rows):
        self.rows = rows

    def to_pylist(self):
        return self.rows


class TableDataset(df_iter.DataFluxIterableDataset):
    """A rank has a block of the files, and a worker a block of those; a sample is a row of a file."""

    def __init__(self, columns, batch_size, rank, world_size, *args, **kwargs):
        super().__init__(*args, data_format_fn=self.data_format_fn, **kwargs)
        self.columns, self.batch_size = columns, batch_size
        self.rank, self.world_size = rank, world_size

    def data_format_fn(self, raw_bytes):
        return Table(raw_bytes)

    def __iter__(self):
        worker_info = data.get_worker_info()
        files_per_node = math.ceil(len(self.objects) / self.world_size)
        start = self.rank * files_per_node
        end = start + files_per_node
        if worker_info is not None:
            per_worker = int(math.ceil(files_per_node / float(worker_info.num_workers)))
            start = worker_info.id * per_worker + start
            end = min(start + per_worker, end)
        for bytes_content in df_iter.dataflux_core.download.dataflux_download_lazy(
                project_name=self.project_name, bucket_name=self.bucket_name,
                objects=self.objects[start:end], storage_client=self.storage_client,
                dataflux_download_optimization_params=self.dataflux_download_optimization_params,
                retry_config=self.config.download_retry_config):
            table = self.data_format_fn(bytes_content)
            for batch in table.iter_batches(batch_size=self.batch_size, columns=self.columns):
                yield from batch.to_pylist()


@pytest.mark.parametrize("workers", [0, 2])
def test_tables_of_text_by_rank_and_worker(bucket, client, workers):
    rows = iter(range(8 * 25))
    for file in range(8):
        lines = [json.dumps({"text": str(next(rows)), "id": file}) for _ in range(25)]
        client.put(bucket(f"text/{file}"), "\n".join(lines).encode())
    seen = []
    for rank in range(2):
        dataset = TableDataset(
            columns=["text"], batch_size=10, rank=rank, world_size=2, project_name=PROJECT,
            bucket_name=bucket.name,
            config=df_iter.Config(num_processes=1, sort_listing_results=True, prefix="text/"))
        loader = data.DataLoader(dataset, batch_size=10, num_workers=workers)
        seen.append([int(text) for batch in loader for text in batch["text"]])
    assert sorted(seen[0]) == list(range(100)) and sorted(seen[1]) == list(range(100, 200))


def test_readme_of_checkpointing(bucket):
    ckpt = dataflux_checkpoint.DatafluxCheckpoint(project_name=PROJECT, bucket_name=bucket.name)
    model = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.BatchNorm1d(300))
    with ckpt.writer("checkpoints/epoch0.ckpt") as writer:
        torch.save(model.state_dict(), writer)
    with ckpt.reader("checkpoints/epoch0.ckpt") as reader:
        read_state_dict = torch.load(reader)
    for name, tensor in model.state_dict().items():
        assert torch.equal(read_state_dict[name], tensor)
    model.load_state_dict(read_state_dict)
