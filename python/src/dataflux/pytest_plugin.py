"""Fixtures for pytest, which finds them where libdataflux is installed.

    def test_mine(dataflux_emulator, dataflux_client):
        dataflux_emulator.add_bucket("mine")
        dataflux_client.put("gs://mine/x", b"1")
"""

import pytest


@pytest.fixture
def dataflux_emulator():
    """An emulator of the test's own: a dataflux.Emulator with one bucket, `emulator`, without any
    object."""
    from ._emulator import Emulator

    with Emulator() as service:
        yield service


@pytest.fixture
def dataflux_async_client(dataflux_emulator):
    """An AsyncClient of the test's emulator, for whatever runs the test's event loop."""
    client = dataflux_emulator.async_client()
    yield client
    client.close()


@pytest.fixture
def dataflux_client(dataflux_emulator):
    """A client of the test's emulator."""
    with dataflux_emulator.client() as client:
        yield client
