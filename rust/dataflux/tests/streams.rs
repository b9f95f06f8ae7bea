//! Very many objects; writers, readers and sets.

mod common;

use std::io::{Read, Seek, SeekFrom, Write};

use common::{BUCKET, Emulator, STALL, fill, pattern};
use dataflux::{Client, Code, MemberRecord, Request, Unfinished};

#[test]
fn many_come_in_order() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let names = fill(&bucket, 100);
    // More than are pushed at a time, so that the feed is filled anew.
    let asked: Vec<_> = (0..2500).map(|place| names[place * 7 % 100].as_str()).collect();
    let mut next = 0;
    for batch in bucket.get_many(asked.iter().copied()).start().unwrap() {
        for item in &batch.unwrap() {
            assert_eq!(item.index, next);
            assert_eq!(item.bytes().unwrap(), pattern(next as usize * 7 % 100));
            assert!(item.is_verified());
            next += 1;
        }
    }
    assert_eq!(next, 2500);
}

#[test]
fn rows_of_a_listing_come() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    fill(&bucket, 20);
    let listing = bucket.list("").wait().unwrap();
    let sizes = |batches: dataflux::Batches<'_>| -> Vec<usize> {
        batches.items().map(|item| item.unwrap().data.unwrap().len()).collect()
    };
    let all = bucket.get_listing(&listing).start().unwrap();
    assert_eq!(sizes(all), (0..20).collect::<Vec<_>>());
    let some = bucket.get_rows(&listing, [3, 19, 0, 3]).start().unwrap();
    assert_eq!(sizes(some), [3, 19, 0, 3]);
    let mut ready = sizes(bucket.get_listing(&listing).as_ready().start().unwrap());
    ready.sort_unstable();
    assert_eq!(ready, (0..20).collect::<Vec<_>>());
    let bad: Vec<_> = bucket.get_rows(&listing, [3, 20]).start().unwrap().items().collect();
    let why =
        bad[1].as_ref().map_or_else(Clone::clone, |item| item.data.as_ref().unwrap_err().clone());
    assert_eq!(why.code(), Code::OutOfRange);
}

#[test]
fn failures_are_items_or_the_end() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("a", "abc").wait().unwrap();
    let asked = || [Request::new("a").range(1..), Request::new("no"), Request::new("a").range(7..)];
    let items: Vec<_> =
        bucket.get_many(asked()).start().unwrap().items().map(Result::unwrap).collect();
    assert_eq!(**items[0].data.as_ref().unwrap(), *b"bc");
    assert_eq!(items[1].data.as_ref().unwrap_err().code(), Code::NotFound);
    assert_eq!(items[2].data.as_ref().unwrap_err().code(), Code::OutOfRange);

    let came: Vec<_> =
        bucket.get_many(asked()).stop_at_failure().start().unwrap().items().collect();
    assert_eq!(**came[0].as_ref().unwrap().data.as_ref().unwrap(), *b"bc");
    assert_eq!(came[1].as_ref().unwrap_err().code(), Code::NotFound);
    assert_eq!(came.len(), 2);
    assert_eq!(bucket.get_many([""; 0]).start().unwrap().count(), 0);
}

#[test]
fn a_stream_is_dropped_at_any_moment() {
    let emulator = Emulator::new();
    let client =
        Client::builder().emulator(&emulator.endpoint).memory_cap(8 << 20).build().unwrap();
    let bucket = client.bucket(BUCKET);
    bucket.put("big", pattern(300_000)).wait().unwrap();
    for round in 0..60 {
        let mut batches = bucket.get_many(["big"; 200]).start().unwrap();
        let mut kept = Vec::new();
        for _ in 0..round % 7 {
            kept.extend(batches.next().unwrap().unwrap().into_items().take(1));
        }
        drop(batches);
        assert!(kept.iter().all(|item| **item.data.as_ref().unwrap() == pattern(300_000)));
    }
    // One that nobody reads from, nor drops.
    std::mem::forget(bucket.get_many(["big"; 3]).start().unwrap());
    emulator.fault(STALL);
    drop(bucket.get_many(["big"; 200]).start().unwrap());
    let stopped = bucket.get_many(["big"]).start().unwrap();
    stopped.cancel();
    assert_eq!(stopped.items().last().unwrap().unwrap_err().code(), Code::Cancelled);
    emulator.no_faults();
    assert_eq!(bucket.get("big").wait().unwrap().len(), 300_000);
}

#[test]
fn memory_goes_back_to_the_client() {
    let emulator = Emulator::new();
    let client = emulator.client();
    let bucket = client.bucket(BUCKET);
    bucket.put("big", pattern(300_000)).wait().unwrap();
    let borrowed = || {
        let metrics = dataflux::Json::parse(&client.metrics().unwrap()).unwrap();
        metrics.get("memory").get("borrowed").as_u64().unwrap()
    };
    let batch = bucket.get_many(["big"; 4]).start().unwrap().next().unwrap().unwrap();
    assert!(borrowed() > 0);
    let mut items = batch.into_items();
    let first = items.next();
    drop(items);
    drop(first);
    while borrowed() > 0 {
        std::thread::yield_now(); // the client's threads return the rest
    }
}

#[test]
fn a_writer_commits_or_leaves_nothing() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let mut writer = bucket.writer("w").size_hint(20_000_000).part_size(8 << 20).wait().unwrap();
    for piece in pattern(20_000_000).chunks(7_000_000) {
        writer.write_all(piece).unwrap();
    }
    writer.flush().unwrap();
    let written = writer.commit().wait().unwrap();
    assert_eq!(written.object.size(), 20_000_000);
    assert!(written.report.get("path").as_str().is_some());
    assert_eq!(*bucket.get("w").wait().unwrap(), pattern(20_000_000));

    let mut writer = bucket.writer("none").wait().unwrap();
    writer.write_all(&pattern(2_000_000)).unwrap();
    drop(writer);
    bucket.writer("none").wait().unwrap().abort().wait().unwrap();
    assert_eq!(bucket.list("").keep_markers().wait().unwrap().names().collect::<Vec<_>>(), ["w"]);

    let late = bucket.writer("w").wait().unwrap();
    bucket.put("w", "other").wait().unwrap();
    assert_eq!(late.commit().wait().unwrap_err().code(), Code::FailedPrecondition);
    let taken = bucket.writer("w").if_generation_match(0).wait().and_then(|w| w.commit().wait());
    assert_eq!(taken.unwrap_err().code(), Code::AlreadyExists);
}

#[test]
fn a_reader_is_like_a_file() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("x", pattern(2_500_000)).wait().unwrap();
    let mut reader = bucket.open("x").wait().unwrap();
    assert_eq!(reader.size(), 2_500_000);
    assert!(!reader.is_verified() && reader.generation() > 0);
    let (mut first, mut last) = ([0; 7], [0; 3]);
    reader.read_ranges([(2_499_997, &mut last[..]), (1, &mut first[..])]).unwrap();
    assert_eq!(
        (first.as_slice(), last.as_slice()),
        (&pattern(8)[1..], &pattern(2_500_000)[2_499_997..])
    );
    assert_eq!(reader.read_at(2_499_999, &mut first).unwrap_err().code(), Code::OutOfRange);

    assert_eq!(reader.seek(SeekFrom::End(-2)).unwrap(), 2_499_998);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, pattern(2_500_000)[2_499_998..]);
    assert!(reader.seek(SeekFrom::Current(-3_000_000)).is_err());
    reader.rewind().unwrap();
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert_eq!(all, pattern(2_500_000));
    assert!(reader.is_verified());
    assert_eq!(reader.read(&mut first).unwrap(), 0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let reader = reader.clone();
            scope.spawn(move || {
                let mut some = vec![0; 1000];
                reader.read_at(thread * 500_000, &mut some).unwrap();
                assert_eq!(some, pattern(2_500_000)[thread as usize * 500_000..][..1000]);
            });
        }
    });
}

#[test]
fn a_set_appears_whole() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let set = bucket.checkpoint_set("run/1").unwrap();
    assert_eq!(set.open().wait().err().unwrap().code(), Code::FailedPrecondition);
    set.begin(Unfinished::Refuse).wait().unwrap();
    let save = |set: &dataflux::CheckpointSet, size: usize| -> Vec<MemberRecord> {
        let member = |name: &str| {
            let mut writer = set.member(name).wait().unwrap();
            writer.write_all(&pattern(size)).unwrap();
            let record = writer.commit().wait().unwrap();
            MemberRecord::new(record.as_str()) // as another process sends it
        };
        vec![member("rank-0"), member("rank-1")]
    };
    let committed = set.commit(save(&set, 1000)).last("done", "meta").wait().unwrap();
    assert_eq!(committed.bytes, 2000);

    let opened = bucket.latest_set("run").wait().unwrap();
    assert_eq!(opened.members().collect::<Vec<_>>(), [("rank-0", 1000), ("rank-1", 1000)]);
    let mut bytes = Vec::new();
    opened.member("rank-1").wait().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, pattern(1000));
    assert_eq!(opened.member("no").wait().unwrap_err().code(), Code::NotFound);

    let text = set.begin_over().wait().unwrap();
    let over = set.over(&text).unwrap();
    over.commit(save(&over, 500)).last("done", "meta2").wait().unwrap();
    assert_eq!(set.open_last("done").wait().unwrap().bytes(), 1000);
    assert_eq!(bucket.list_sets("run").wait().unwrap().json.get("complete").items().len(), 1);
    bucket.keep_last_sets("run", 1, None).wait().unwrap();
    assert_eq!(bucket.remove_sets("run").wait().unwrap().json.get("sets").items().len(), 1);
    assert!(bucket.list("run").wait().unwrap().is_empty());
}
