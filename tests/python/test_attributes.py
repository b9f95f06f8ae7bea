"""What is written beside an object's bytes, as a struct of the library's."""

import ctypes
import gc
from datetime import datetime, timedelta, timezone

import pytest

import dataflux
from dataflux._attributes import ATTRIBUTES, CONDITIONS, SOURCE_CONDITIONS, attributes


def metadata_of(made):
    kind = ctypes.c_char_p * made.metadata_count
    return list(zip(kind.from_address(made.metadata_names), kind.from_address(made.metadata_values)))


def test_nothing_given_is_no_struct():
    assert attributes() is None


def test_texts_are_utf8():
    made = attributes(content_type="text/plain; ä", cache_control="")
    assert made.content_type == "text/plain; ä".encode()
    assert made.cache_control == b""
    assert made.content_language is None
    assert made.struct_size == ctypes.sizeof(made)


def test_metadata_lives_as_long_as_the_struct():
    made = attributes(metadata={f"name-{i}": f"value-{i}" * 50 for i in range(100)})
    gc.collect()
    fill = [bytes(range(256)) * 4 for _ in range(1000)]  # would be put where freed memory was
    assert metadata_of(made) == [(f"name-{i}".encode(), (f"value-{i}" * 50).encode())
                                 for i in range(100)]
    del fill


def test_empty_metadata_is_none_of_it():
    assert attributes(metadata={}).metadata_count == 0


def test_a_value_of_none_removes_where_that_may_be():
    assert metadata_of(attributes(metadata={"a": None, "b": "2"}, removable=True)) == [
        (b"a", None), (b"b", b"2")]
    with pytest.raises(TypeError, match=r"metadata\['a'\]: a str is needed, and not a NoneType"):
        attributes(metadata={"a": None})


@pytest.mark.parametrize("given, nanoseconds", [
    (1, 1_000_000_000), (1.5, 1_500_000_000), (-1, -1_000_000_000),
    (datetime(2033, 5, 18, 3, 33, 20, 123457, tzinfo=timezone.utc), 2_000_000_000_123_457_000),
    (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=1))), 3_600_000_000_000)])
def test_custom_time_is_exact(given, nanoseconds):
    assert attributes(custom_time=given).custom_time_ns == nanoseconds


@pytest.mark.parametrize("given, kind, text", [
    ({"content_type": b"text/plain"}, TypeError, "content_type: a str is needed, and not a bytes"),
    ({"storage_class": 1}, TypeError, "storage_class: "),
    ({"content_type": "a\0b"}, ValueError, "content_type: it has a NUL"),
    ({"kms_key_name": "\ud800"}, ValueError, "kms_key_name: it is not UTF-8"),
    ({"metadata": ["a"]}, TypeError, "metadata: a dict"),
    ({"metadata": {1: "a"}}, TypeError, "metadata: a name: a str"),
    ({"metadata": {"a": 1}}, TypeError, r"metadata\['a'\]: a str is needed, and not a int"),
    ({"metadata": {"a": "x\0"}}, ValueError, r"metadata\['a'\]: it has a NUL"),
    ({"metadata": {"a\0": "x"}}, ValueError, "metadata: a name: it has a NUL"),
    ({"custom_time": "2020"}, TypeError, "custom_time: a datetime"),
    ({"custom_time": True}, TypeError, "custom_time: a datetime"),
    ({"custom_time": datetime(2020, 1, 1)}, ValueError, "custom_time: .* has no time zone"),
    ({"custom_time": float("nan")}, ValueError, "custom_time: "),
    ({"custom_time": 1e300}, ValueError, "custom_time: .* out of range"),
    ({"custom_time": datetime(9999, 1, 1, tzinfo=timezone.utc)}, ValueError,
     "custom_time: .* out of range"),
    ({"custom_time": 0}, ValueError, "custom_time: .* no time at all")])
def test_bad_input_names_the_argument(given, kind, text):
    with pytest.raises(kind, match="^" + text):
        attributes(**given)


MATCH = ("if_generation_match",)
BOTH_MATCH = ("if_generation_match", "if_metageneration_match")
CHANGED = tuple(name for name in ATTRIBUTES if name not in ("storage_class", "kms_key_name"))
TAKE = {  # what each verb takes, and how it is called
    "stat": (CONDITIONS, ["x"]),
    "delete": (CONDITIONS, ["x"]),
    "put": (ATTRIBUTES + CONDITIONS, ["x", b""]),
    "patch": (CHANGED + CONDITIONS, ["x"]),
    "copy": (ATTRIBUTES + CONDITIONS + SOURCE_CONDITIONS, ["x", "y"]),
    "move": (CONDITIONS + SOURCE_CONDITIONS, ["x", "y"]),
    "compose": (ATTRIBUTES + BOTH_MATCH, [["x"], "y"]),
    "writer": (ATTRIBUTES + MATCH, ["x"]),
    "upload": (ATTRIBUTES + MATCH, [__file__, "x"]),
}
ALL = (*ATTRIBUTES, *CONDITIONS, *SOURCE_CONDITIONS, "colour")


def called(client, bucket, verb, **how):
    def place(one):
        return [bucket(each) for each in one] if isinstance(one, list) else (
            bucket(one) if isinstance(one, str) and len(one) == 1 else one)

    return getattr(client, verb)(*map(place, TAKE[verb][1]), **how)


@pytest.mark.parametrize("verb", TAKE)
def test_what_a_verb_does_not_take_is_a_type_error_that_names_it(client, bucket, emulator, verb):
    before = emulator.answered()
    for name in ALL:
        # A tuple is a value of none of them.
        text = f"^{name}: " if name in TAKE[verb][0] else \
            rf"^(\w+\.)?{verb}\(\) got an unexpected keyword argument '{name}'$"
        with pytest.raises(TypeError, match=text):
            called(client, bucket, verb, **{name: (1,)})
    assert emulator.answered() == before


@pytest.mark.parametrize("verb", TAKE)
def test_the_same_is_so_for_tasks(bucket, emulator, verb):
    import asyncio

    async def main():
        async with dataflux.AsyncClient(**emulator.options) as client:
            before = emulator.answered()
            with pytest.raises(TypeError, match=rf"{verb}\(\) got an unexpected keyword argument 'colour'"):
                await called(client, bucket, verb, colour=1)
            assert emulator.answered() == before

    asyncio.run(main())


@pytest.mark.parametrize("verb", TAKE)
def test_help_names_what_a_verb_takes(verb):
    from dataflux._file import FileVerbs
    from dataflux._verbs_objects import ObjectVerbs

    told = getattr(dataflux.Client, verb).__doc__
    whole = told + ObjectVerbs.put.__doc__ + ObjectVerbs.__doc__ + FileVerbs.writer.__doc__
    for name in TAKE[verb][0]:
        assert name.removeprefix("source_") in whole
    assert "if_" in told
