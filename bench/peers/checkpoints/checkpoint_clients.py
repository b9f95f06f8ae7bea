"""How each client of the benchmark `checkpoints` saves and loads a state, with its defaults.

Forms: `file`, by torch.save and torch.load or what stands for them; `lightning`, by a CheckpointIO;
`dcp`, by torch.distributed.checkpoint with the client's StorageWriter and StorageReader.

A client is imported by imports(), before ranks are forked, and made in each rank. They find the
emulator by STORAGE_EMULATOR_HOST where there is no argument for it."""

import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


class Client:
    """What is the same for all: one file by open(name, mode), a sharded state by writer() and
    reader()."""

    scheme = "gs"

    def __init__(self, endpoint, bucket):
        self.endpoint, self.bucket = endpoint, bucket

    @staticmethod
    def imports():
        """What is not to be paid for while the clock runs."""

    def url(self, name):
        return f"{self.scheme}://{self.bucket}/{name}"

    def save(self, form, state, name):
        if form == "file":
            self.save_file(state, name)
        elif form == "lightning":
            self.checkpoint_io().save_checkpoint(state, self.url(name))
        else:
            dcp.save(state, storage_writer=self.writer(self.url(name)),
                     no_dist=not dist.is_initialized())

    def load(self, form, into, name, planner):
        """The state; dcp loads `into` it."""
        if form == "file":
            return self.load_file(name)
        if form == "lightning":
            return self.checkpoint_io().load_checkpoint(self.url(name))
        dcp.load(into, storage_reader=self.reader(self.url(name)), planner=planner,
                 no_dist=not dist.is_initialized())
        return into

    def save_file(self, state, name):
        with self.open(name, "wb") as file:
            torch.save(state, file)

    def load_file(self, name):
        with self.open(name, "rb") as file:
            return torch.load(file, weights_only=True)


class Dataflux(Client):
    @staticmethod
    def imports():
        import dataflux.dcp
        import dataflux.lightning
        import dataflux.torch  # noqa: F401

    def save_file(self, state, name):
        import dataflux.torch

        dataflux.torch.save(state, self.url(name))

    def load_file(self, name):
        import dataflux.torch

        return dataflux.torch.load(self.url(name))

    def checkpoint_io(self):
        import dataflux.lightning

        return dataflux.lightning.CheckpointIO()

    def writer(self, url):
        import dataflux.dcp

        return dataflux.dcp.StorageWriter(url)

    def reader(self, url):
        import dataflux.dcp

        return dataflux.dcp.StorageReader(url)


class Gcsfs(Client):
    def __init__(self, endpoint, bucket):
        super().__init__(endpoint, bucket)
        import fsspec
        import gcsfs

        self._options = {"token": "anon", "endpoint_url": endpoint}
        files = gcsfs.GCSFileSystem(**self._options)
        self.open = lambda name, mode: files.open(f"{bucket}/{name}", mode)
        fsspec.config.conf["gs"] = self._options  # Lightning has no argument for it

    @staticmethod
    def imports():
        # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        import gcsfs  # noqa: F401
        import lightning.pytorch.plugins.io  # noqa: F401

    def checkpoint_io(self):
        from lightning.pytorch.plugins.io import TorchCheckpointIO

        return TorchCheckpointIO()

    def writer(self, url):
        return dcp.FsspecWriter(url, **self._options)

    def reader(self, url):
        return dcp.FsspecReader(url, **self._options)


class Original(Client):
    """gcs-torch-dataflux. Its DCP writer cannot save with this torch, which closes a stream that is
    closed again afterwards: the second time does nothing here."""

    def __init__(self, endpoint, bucket):
        super().__init__(endpoint, bucket)
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        self._to = {"project_name": "project",
                    "storage_client": storage.Client("project", AnonymousCredentials())}

    @staticmethod
    def imports():
        import dataflux_pytorch.lightning.gcs_filesystem  # noqa: F401
        from dataflux_pytorch.dataflux_checkpoint import DatafluxCheckpointBuffer

        close = DatafluxCheckpointBuffer.close

        def close_once(self):
            if not self.closed:
                close(self)

        DatafluxCheckpointBuffer.close = close_once

    def open(self, name, mode):
        from dataflux_pytorch.dataflux_checkpoint import DatafluxCheckpoint

        files = DatafluxCheckpoint(bucket_name=self.bucket, **self._to)
        return files.writer(name) if mode == "wb" else files.reader(name)

    def checkpoint_io(self):
        from dataflux_pytorch.lightning import DatafluxLightningCheckpoint

        return DatafluxLightningCheckpoint(**self._to)

    def writer(self, url):
        from dataflux_pytorch.lightning.gcs_filesystem import GCSDistributedWriter

        return GCSDistributedWriter(url, **self._to)

    def reader(self, url):
        from dataflux_pytorch.lightning.gcs_filesystem import GCSDistributedReader

        return GCSDistributedReader(url, **self._to)


class S3(Client):
    """s3torchconnector, which reads the emulator's XML interface as if it were S3. It saves nothing
    here: its uploads are not what that interface takes."""

    scheme = "s3"
    REGION = "us-east-1"

    @staticmethod
    def imports():
        import s3torchconnector.dcp
        import s3torchconnector.lightning  # noqa: F401

    @staticmethod
    def _config():
        from s3torchconnector import S3ClientConfig

        return S3ClientConfig(unsigned=True, force_path_style=True)

    def open(self, name, mode):
        from s3torchconnector import S3Checkpoint

        return S3Checkpoint(self.REGION, self.endpoint, self._config()).reader(self.url(name))

    def checkpoint_io(self):
        from s3torchconnector.lightning import S3LightningCheckpoint

        return S3LightningCheckpoint(self.REGION, self._config(), self.endpoint)

    def reader(self, url):
        from s3torchconnector._s3client import S3Client
        from s3torchconnector.dcp import S3StorageReader
        from s3torchconnector.dcp.s3_file_system import S3FileSystem
        from s3torchconnector.s3reader import S3ReaderConstructor

        how = S3ReaderConstructor.dcp_optimized()  # its default, which is to be the file system's, too
        reader = S3StorageReader(self.REGION, url, reader_constructor=how)
        # It has no argument for an endpoint.
        reader.fs = S3FileSystem(self.REGION, S3Client(self.REGION, endpoint=self.endpoint,
                                                       s3client_config=self._config()),
                                 reader_constructor=how)
        return reader


class DatafluxS3(Dataflux):
    """On a server of S3, which the environment names."""

    scheme = "s3"


class S3Whole(S3):
    """s3torchconnector on a server of S3, with the keys that the environment has: it saves, too."""

    @staticmethod
    def _config():
        from s3torchconnector import S3ClientConfig

        return S3ClientConfig(force_path_style=True)

    def open(self, name, mode):
        from s3torchconnector import S3Checkpoint

        files = S3Checkpoint(self.REGION, self.endpoint, self._config())
        return files.writer(self.url(name)) if mode == "wb" else files.reader(self.url(name))

    def writer(self, url):
        from s3torchconnector._s3client import S3Client
        from s3torchconnector.dcp import S3StorageWriter
        from s3torchconnector.dcp.s3_file_system import S3FileSystem

        writer = S3StorageWriter(self.REGION, url, overwrite=True)
        writer.fs = S3FileSystem(self.REGION, S3Client(self.REGION, endpoint=self.endpoint,
                                                       s3client_config=self._config()))
        return writer


CLIENTS = {"dataflux": Dataflux, "dataflux-s3": DatafluxS3, "gcsfs": Gcsfs, "gcs-torch-dataflux": Original,
           "s3torchconnector": S3, "s3torchconnector-s3": S3Whole}
