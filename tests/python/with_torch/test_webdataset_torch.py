"""dataflux.webdataset in DataLoaders: workers, WebLoader, tensors; and by an index, from anywhere in an epoch."""

import io
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy
import pytest
import torch
from torch.utils.data import DataLoader
from torch.utils.data import IterableDataset as TorchIterable
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
import dataflux.webdataset as wds

pytestmark = [pytest.mark.filterwarnings("ignore:shardshuffle"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create")]
SHARDS, SAMPLES = 6, 20
COUNT = SHARDS * SAMPLES


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def urls(client, bucket):
    for shard in range(SHARDS):
        out = io.BytesIO()
        with wds.TarWriter(out) as sink:
            for number in range(shard * SAMPLES, (shard + 1) * SAMPLES):
                sink.write({"__key__": f"{number:05}", "cls": number, "npy": numpy.full((2, 2), number)})
        client.put(bucket(f"t/{shard}.tar"), out.getvalue())
    return bucket("t/{0..5}.tar")


@pytest.fixture
def index(urls, client, bucket, tmp_path):
    path = str(tmp_path / "train.dfx")
    client.index_shards(bucket("t/"), path)
    return path


def numbers(batches):
    return [batch[0].tolist() for batch in batches]


# Any DataLoader.

def test_torch_takes_it_for_an_iterable_dataset():
    for made in (wds.DataPipeline([1]), wds.SimpleShardList("a"), wds.RandomMix([]), wds.MockDataset(1, 2)):
        assert isinstance(made, TorchIterable) and made.__class__ is type(made)
    assert issubclass(wds.WebDataset, TorchIterable)


def test_whichever_is_imported_first(tmp_path):
    with wds.TarWriter(f"{tmp_path}/a.tar") as sink:
        for number in range(4):
            sink.write({"__key__": str(number), "cls": number})
    program = ("import sys, dataflux.webdataset as wds\n"
               f"dataset = wds.WebDataset('{tmp_path}/a.tar', shardshuffle=False).decode().to_tuple('cls')\n"
               "assert 'torch' not in sys.modules\n"
               "from torch.utils.data import DataLoader\n"
               "print([batch[0].tolist() for batch in DataLoader(dataset, batch_size=2)])\n")
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=120)
    assert done.stdout == "[[0, 1], [2, 3]]\n", done.stderr


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_share_the_shards(urls, options, start):
    dataset = wds.WebDataset(urls, client=options, shardshuffle=4).shuffle(30).decode().to_tuple("cls", "npy")
    for workers in (0, 3) if start == "fork" else (2,):
        loader = DataLoader(dataset, batch_size=8, num_workers=workers,
                            multiprocessing_context=start if workers else None)
        batches = [batch for batch in loader]
        assert sorted(sum(numbers(batches), [])) == list(range(COUNT))
        for labels, arrays in batches:
            assert (arrays == labels[:, None, None]).all()


def test_more_workers_than_shards(urls, options, bucket):
    dataset = wds.WebDataset(bucket("t/0.tar"), client=options)
    with pytest.raises(ValueError, match="empty_check=False"):
        list(DataLoader(dataset, batch_size=None, num_workers=2))
    dataset = wds.WebDataset(bucket("t/0.tar"), client=options, empty_check=False).to_tuple("cls")
    assert len(list(DataLoader(dataset, batch_size=None, num_workers=2))) == SAMPLES


def test_an_epoch_of_each_worker(urls, options):
    dataset = wds.WebDataset(urls, client=options, shardshuffle=False).to_tuple("cls").with_epoch(5)
    assert len(list(DataLoader(dataset, batch_size=None, num_workers=2))) == 10
    assert len(DataLoader(dataset.with_length(10, silent=True), batch_size=5)) == 2


def test_a_web_loader(urls, options):
    dataset = wds.WebDataset(urls, client=options, shardshuffle=6).shuffle(20).decode().to_tuple("cls", "npy").batched(8)
    loader = wds.WebLoader(dataset, batch_size=None, num_workers=2).unbatched().shuffle(50).batched(16)
    batches = list(loader)
    assert sorted(sum(numbers(batches), [])) == list(range(COUNT)) and len(batches[0][0]) == 16
    assert len(list(wds.WebLoader(dataset, batch_size=None).with_epoch(20))) == 20
    mixed = wds.RandomMix([dataset, dataset], longest=True)
    assert len(list(DataLoader(mixed, batch_size=None))) == 2 * COUNT // 8


def test_a_pipeline_of_stages(urls, options):
    pipeline = wds.DataPipeline(wds.SimpleShardList(urls), wds.split_by_worker, wds.tarfile_to_samples(client=options),
                                wds.decode(), wds.to_tuple("cls"), wds.batched(10))
    assert sorted(sum(numbers(DataLoader(pipeline, batch_size=None, num_workers=2)), [])) == list(range(COUNT))


def test_nodes(urls, options, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    found = []
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        dataset = wds.WebDataset(urls, client=options, nodesplitter=wds.split_by_node).decode()
        found += [sample["cls"] for sample in DataLoader(dataset, batch_size=None, num_workers=2)]
    assert sorted(found) == list(range(COUNT))


def test_an_error_of_a_worker(urls, options, bucket):
    dataset = wds.WebDataset(bucket("t/{0,9}.tar"), client=options)
    with pytest.raises(dataflux.NotFoundError, match="t/9.tar"):
        list(DataLoader(dataset, batch_size=None, num_workers=1))
    dataset = wds.WebDataset(urls, client=options).decode(wds.handle_extension("cls", lambda data: 1 // 0))
    with pytest.raises(wds.DecodingError, match="the field cls of the sample 00000 was not decoded"):
        list(DataLoader(dataset, batch_size=None, num_workers=1))


class _Image:
    """What Pillow, which the environment has not, would give."""

    def __init__(self, pixels):
        self.pixels = pixels

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def convert(self, mode):
        return self.pixels[:, :, 0] if mode == "L" else self.pixels


def test_tensors(monkeypatch):
    pixels = numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
    monkeypatch.setitem(sys.modules, "PIL", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "PIL.Image", SimpleNamespace(open=lambda stream: _Image(pixels)))
    [made] = wds.DataPipeline(({"png": b""},), wds.decode("torchrgb8"))
    assert torch.equal(made["png"], torch.from_numpy(pixels.transpose(2, 0, 1).copy()))
    [made] = wds.DataPipeline(({"png": b""},), wds.decode("torchl"))
    assert made["png"].shape == (2, 4) and made["png"].dtype == torch.float32 and float(made["png"].max()) == \
        numpy.float32(21 / 255)
    [(batch,)] = wds.DataPipeline(((torch.zeros(3),), (torch.ones(3),)), wds.batched(2))
    assert batch.tolist() == [[0.0] * 3, [1.0] * 3]


def test_pth():
    data = wds.torch_dumps({"a": torch.ones(2)})
    with pytest.raises(wds.DecodingError, match="pickles=True"):
        list(wds.DataPipeline(({"pth": data},), wds.decode()))
    [made] = wds.DataPipeline(({"pth": data},), wds.decode(pickles=True))
    assert torch.equal(made["pth"]["a"], torch.ones(2))


# By an index.

def loaded(dataset, workers=0, **more):
    return numbers(DataLoader(dataset, batch_size=None, num_workers=workers, **more))


def test_an_index_shuffles_all(index, options, urls):
    plain = wds.WebDataset(index=index, client=options).decode().to_tuple("cls")
    assert [label for label, in plain] == list(range(COUNT)) and len(plain) == COUNT
    shuffled = wds.WebDataset(urls, index=dataflux.ShardIndex.open(index), client=options, seed=7).shuffle(10).decode() \
        .to_tuple("cls")
    order = list(dataflux.Sampler(COUNT, seed=7))
    assert [label for label, in shuffled] == order
    assert [label for label, in wds.WebDataset(index=index, client=options, seed=7, shardshuffle=5).decode()
            .to_tuple("cls")] == order
    shuffled.set_epoch(3)
    assert shuffled.epoch == 3
    assert [label for label, in shuffled] == list(dataflux.Sampler(COUNT, seed=7, epoch=3))
    for kind in "window", "blocks":
        how = {"shuffle": kind, "block": 5, "window": 3}
        blocks = wds.WebDataset(index=index, client=options, seed=7, **how).shuffle(10).decode().to_tuple("cls")
        assert [label for label, in blocks] == list(dataflux.Sampler(COUNT, seed=7, **how))
    with pytest.raises(ValueError, match="block"):
        wds.WebDataset(index=index, client=options, block=5, shardshuffle=True)


def test_samples_of_an_index_are_those_of_shards(index, urls, options):
    def of(dataset):
        return {sample["__key__"]: sample for sample in dataset}

    assert of(wds.WebDataset(index=index, client=options).shuffle(5)) == of(wds.WebDataset(urls, client=options))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_batches_are_the_same_for_any_number_of_workers(index, options, start):
    dataset = wds.WebDataset(index=index, client=options, seed=1).shuffle(10).decode().to_tuple("cls", "npy").batched(8)
    expected = loaded(dataset)
    assert len(dataset) == len(expected) == COUNT // 8
    for workers in (1, 3) if start == "fork" else (2,):
        assert loaded(dataset, workers, multiprocessing_context=start) == expected
    whole = wds.WebDataset(index=index, client=options, seed=1).shuffle(10).decode().to_tuple("cls")
    assert numbers(wds.WebLoader(whole, batch_size=8, num_workers=3)) == expected


def test_ranks_share_evenly(index, options, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "7")
    found = []
    for rank in range(7):
        monkeypatch.setenv("RANK", str(rank))
        found.append([label for label, in wds.WebDataset(index=index, client=options).shuffle(1).decode().to_tuple("cls")])
    assert {len(each) for each in found} == {COUNT // 7}
    assert len(set(sum(found, []))) == COUNT // 7 * 7


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_job_goes_on(index, options, workers):
    def made():
        return wds.WebDataset(index=index, client=options, seed=2).shuffle(10).decode() \
            .map_dict(cls=int).to_tuple("cls", "npy").batched(8)

    def loader_of(dataset):
        return StatefulDataLoader(dataset, batch_size=None, num_workers=workers)

    dataset = made()
    dataset.set_epoch(4)
    whole = numbers(loader_of(dataset))
    for stop in (1, 5, 11):
        dataset = made()
        dataset.set_epoch(4)
        loader, begun = loader_of(dataset), []
        for batch in loader:
            begun.append(batch[0].tolist())
            if len(begun) == stop:
                state = pickle.loads(pickle.dumps(loader.state_dict()))
                break
        again = loader_of(made())
        again.load_state_dict(state)
        assert begun + numbers(again) == whole
        # Another number of workers goes on by the dataset.
        other = made()
        other.load_state_dict(state)
        assert begun + loaded(other, 2) == whole


def test_other_ranks_go_on(index, options, monkeypatch):
    def made(rank, ranks):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", str(ranks))
        return wds.WebDataset(index=index, client=options, seed=2).shuffle(10).decode().to_tuple("cls").batched(5)

    seen, states = [], []
    for rank in range(2):
        dataset = made(rank, 2)
        passing = iter(dataset)
        seen += [label for _ in range(4) for label in next(passing)[0].tolist()]
        states.append(dataset.state_dict())
    for rank in range(4):
        dataset = made(rank, 4)
        dataset.load_state_dict(states)
        seen += sum(numbers(dataset), [])
    assert sorted(seen) == list(range(COUNT))


def test_a_state_of_what_holds_samples_back_is_refused(index, options):
    dataset = wds.WebDataset(index=index, client=options)
    for held in (dataset.batched(4).shuffle(10), dataset.compose(lambda src: src), dataset.batched(4).unbatched(),
                 dataset.slice(5)):
        with pytest.raises(ValueError, match="nobody knows which samples were given"):
            held.state_dict()
    assert dataset.select(bool).state_dict()["consumed"] == 0
    for refused in (dataset.with_epoch, dataset.repeat):
        with pytest.raises(ValueError, match="set_epoch"):
            refused(5)
    with pytest.raises(TypeError):
        len(dataset.select(bool))
    assert not hasattr(wds.WebDataset("a.tar", shardshuffle=False), "state_dict")


def test_failures_by_the_handler(index, options, client, bucket):
    client.put(bucket("t/1.tar"), b"written anew")
    with pytest.raises(dataflux.NotFoundError, match="t/1.tar"):
        list(wds.WebDataset(index=index, client=options))
    seen = []
    found = list(wds.WebDataset(index=index, client=options, handler=lambda why: not seen.append(why)))
    assert len(found) == COUNT - SAMPLES and len(seen) == SAMPLES
    assert len(list(wds.WebDataset(index=index, client=options, handler=wds.ignore_and_stop))) == SAMPLES


def test_an_index_of_other_shards_is_refused(index, options, bucket):
    with pytest.raises(ValueError, match="urls: 1 of them the index has not"):
        wds.WebDataset(bucket("t/{0..6}.tar"), index=index, client=options)
    with pytest.raises(ValueError, match="beside them"):
        wds.WebDataset(bucket("t/{0..4}.tar"), index=index, client=options)
    with pytest.raises(ValueError, match="index_shards"):
        wds.WebDataset(index=bucket("t/"), client=options)
    with pytest.raises(TypeError, match="select_files"):
        wds.WebDataset(index=index, client=options, select_files=bool)
    with pytest.raises(TypeError, match="Dataset"):
        wds.Dataset("a.tar", index=index)


def test_pickles_of_an_indexed_dataset(index, options):
    dataset = wds.WebDataset(index=index, client=options, seed=3).shuffle(5).decode().to_tuple("cls")
    copy = pickle.loads(pickle.dumps(dataset))
    assert list(copy) == list(dataset)
