"""fsspec's own tests of filesystems."""

import pytest
from fsspec.tests.abstract import (AbstractCopyTests, AbstractFixtures, AbstractGetTests,
                                   AbstractOpenTests, AbstractPipeTests, AbstractPutTests)

from dataflux.fsspec import DatafluxFileSystem


class DatafluxFixtures(AbstractFixtures):
    @pytest.fixture
    def fs(self, emulator):
        return DatafluxFileSystem(**emulator.options)

    @pytest.fixture
    def fs_path(self, bucket):
        return bucket.name

    @pytest.fixture
    def fs_join(self):
        return lambda *parts: "/".join(parts)

    @pytest.fixture
    def supports_empty_directories(self):
        return False


class TestCopy(DatafluxFixtures, AbstractCopyTests):
    pass


class TestGet(DatafluxFixtures, AbstractGetTests):
    pass


class TestPut(DatafluxFixtures, AbstractPutTests):
    pass


class TestOpen(DatafluxFixtures, AbstractOpenTests):
    pass


class TestPipe(DatafluxFixtures, AbstractPipeTests):
    pass
