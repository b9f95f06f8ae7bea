"""Event loops for tests: the same test runs on each of them, with anyio's names for what they have
in common."""

import asyncio

import pytest

LIMIT = 30  # seconds after which a test that hangs fails


def on_asyncio(main):
    return asyncio.run(main())


def on_uvloop(main):
    uvloop = pytest.importorskip("uvloop")
    loop = uvloop.new_event_loop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def on_trio(main):
    return pytest.importorskip("trio").run(main)


def on_anyio_asyncio(main):
    return pytest.importorskip("anyio").run(main, backend="asyncio")


def on_anyio_trio(main):
    pytest.importorskip("trio")
    return pytest.importorskip("anyio").run(main, backend="trio")


RUNNERS = {"asyncio": on_asyncio, "uvloop": on_uvloop, "trio": on_trio,
           "anyio-asyncio": on_anyio_asyncio, "anyio-trio": on_anyio_trio}


def limited(run):
    """A runner that ends what hangs."""
    def call(main):
        async def timed():
            import anyio

            with anyio.fail_after(LIMIT):
                return await main()
        return run(timed)
    return call


async def until(true):
    """Until true() is, however long that takes: the test's limit ends it."""
    import anyio

    while not true():
        await anyio.sleep(0.005)


async def at_once(*functions):
    """What each gives, all of them under way at the same time."""
    import anyio

    results = [None] * len(functions)

    async def one(i, function):
        results[i] = await function()

    async with anyio.create_task_group() as group:
        for i, function in enumerate(functions):
            group.start_soon(one, i, function)
    return results


@pytest.fixture(params=RUNNERS)
def run(request):
    """run(main): main(), an async function, on each kind of event loop."""
    pytest.importorskip("anyio")
    return limited(RUNNERS[request.param])
