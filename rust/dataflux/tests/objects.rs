//! Calls for single objects, listings, and errors.

mod common;

use std::time::Duration;

use common::{BUCKET, Emulator, STALL, fill, pattern};
use dataflux::{Attributes, Body, Client, Code, Json};

#[test]
fn an_object_is_written_and_read() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let attributes = Attributes::new().content_type("text/x").metadata("label", "cat");
    let made = bucket.put("a/b", pattern(1000)).attributes(attributes).wait().unwrap();
    assert_eq!((made.name(), made.bucket(), made.size()), ("a/b", BUCKET, 1000));
    assert_eq!(made.content_type(), Some("text/x"));
    assert_eq!(made.metadata().collect::<Vec<_>>(), [("label", "cat")]);

    assert_eq!(*bucket.get("a/b").wait().unwrap(), pattern(1000));
    assert_eq!(*bucket.get("a/b").range(990..).wait().unwrap(), pattern(1000)[990..]);
    assert_eq!(*bucket.get("a/b").range(..=9).wait().unwrap(), pattern(10));
    let mut memory = [0; 5];
    let generation = bucket.read_into("a/b", &mut memory).offset(2).wait().unwrap();
    assert_eq!((memory.as_slice(), generation), (&pattern(7)[2..], made.generation()));

    let known = bucket.stat("a/b").if_generation_match(generation).wait().unwrap();
    assert_eq!((known.generation(), known.crc32c()), (generation, made.crc32c()));
    assert!(known.updated().is_some() && known.metageneration() == Some(1));
    let patched = bucket.patch("a/b", Attributes::new().content_type("text/y")).wait().unwrap();
    assert_eq!(patched.content_type(), Some("text/y"));

    bucket.copy("a/b", &bucket, "c").wait().unwrap();
    bucket.rename("c", "d").wait().unwrap();
    assert_eq!(bucket.compose("e", ["a/b", "d"]).wait().unwrap().size(), 2000);
    bucket.remove("d").wait().unwrap();
    assert_eq!(bucket.stat("d").wait().unwrap_err().code(), Code::NotFound);
    assert_eq!(bucket.info().wait().unwrap().get("name").as_str(), Some(BUCKET));
}

#[test]
fn all_kinds_of_bodies_are_written() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let size = |body: Body<'_>| bucket.put("x", body).wait().unwrap().size();
    assert_eq!(size((&pattern(3)).into()), 3);
    assert_eq!(size(pattern(4).into()), 4);
    assert_eq!(size("text".into()), 4);
    assert_eq!(size(String::from("words").into()), 5);
    assert_eq!(size(b"".into()), 0);
    assert_eq!(size(Body::owned(std::sync::Arc::<[u8]>::from(pattern(6)))), 6);
    let data = bucket.get("x").wait().unwrap();
    assert_eq!(size(data.into()), 6);
}

#[test]
fn an_error_has_all_facts() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let why = bucket.get("no").wait().unwrap_err();
    assert_eq!((why.code(), why.http_status(), why.attempts()), (Code::NotFound, Some(404), 1));
    assert_eq!((why.scheme(), why.bucket(), why.object()), ("gs", BUCKET, "no"));
    assert!(why.verb().starts_with("objects.") && !why.message().is_empty());
    assert!(!why.is_retryable() && !why.is_outcome_unknown() && why.retry_after().is_none());
    assert!(why.to_string().contains("not_found"), "{why}");
    let io = std::io::Error::from(why.clone());
    assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
    let inside = io.get_ref().and_then(|inner| inner.downcast_ref::<dataflux::Error>());
    assert_eq!(inside.map(dataflux::Error::code), Some(Code::NotFound));

    let why = bucket.put("c", "").if_generation_match(1).wait().unwrap_err();
    assert_eq!((why.code(), why.http_status()), (Code::FailedPrecondition, Some(412)));
    emulator.fault(r#"{"verb": "objects.insert", "action": "refuse", "status": 503, "count": 0}"#);
    let why = bucket.put("c", "").timeout(Duration::from_millis(300)).wait().unwrap_err();
    assert!(why.is_outcome_unknown(), "{why:?}");
}

#[test]
fn bad_input_is_refused() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    for name in ["", "a\0b", "a\nb", ".."] {
        assert_eq!(bucket.stat(name).wait().unwrap_err().code(), Code::InvalidArgument, "{name:?}");
    }
    assert_eq!(
        bucket.stat("x").timeout(Duration::ZERO).wait().unwrap_err().code(),
        Code::InvalidArgument
    );
    let built = Client::builder().endpoint("no url").build().unwrap_err();
    assert_eq!(built.code(), Code::InvalidArgument);
    let built = Client::builder().emulator("http://127.0.0.1:1\0").build().unwrap_err();
    assert_eq!(built.code(), Code::InvalidArgument);
    let reader = bucket.put("x", "abc").wait().and_then(|_| bucket.open("x").wait()).unwrap();
    let why = reader.get_ranges([(0, usize::MAX / 2)]).wait().unwrap_err();
    assert_eq!(why.code(), Code::ResourceExhausted);
}

#[test]
fn an_operation_is_cancelled_waited_for_or_dropped() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("x", "abc").wait().unwrap();
    let get = bucket.get("x").begin().unwrap();
    assert!(get.ended_within(Duration::from_secs(60)).unwrap());
    assert_eq!(*get.wait().unwrap(), *b"abc");

    emulator.fault(STALL);
    let get = bucket.get("x").begin().unwrap();
    assert!(!get.ended_within(Duration::from_millis(1)).unwrap());
    get.cancel();
    assert_eq!(get.wait().unwrap_err().code(), Code::Cancelled);
    for _ in 0..50 {
        drop(bucket.get("x").begin().unwrap());
        drop(bucket.put("y", pattern(100_000)).begin().unwrap());
    }
    std::mem::forget(bucket.get("x").begin().unwrap());
    emulator.no_faults();
    assert_eq!(*bucket.get("x").wait().unwrap(), *b"abc");
}

#[test]
fn many_threads_use_one_client() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let names = fill(&bucket, 40);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (number, name) in names.iter().enumerate() {
                    assert_eq!(*bucket.get(name).wait().unwrap(), pattern(number));
                }
            });
        }
    });
}

#[test]
fn bytes_outlive_their_client() {
    let emulator = Emulator::new();
    let data = {
        let bucket = emulator.bucket();
        bucket.put("x", pattern(100_000)).wait().unwrap();
        bucket.get("x").wait().unwrap()
    };
    drop(emulator);
    assert_eq!(*data, pattern(100_000));
}

#[test]
fn a_closed_client_refuses() {
    let emulator = Emulator::new();
    let client = emulator.client();
    let bucket = client.bucket(BUCKET);
    bucket.put("x", "abc").wait().unwrap();
    emulator.fault(STALL);
    let get = bucket.get("x").begin().unwrap();
    client.close();
    assert_eq!(get.wait().unwrap_err().code(), Code::Cancelled);
    assert_eq!(bucket.get("x").wait().unwrap_err().code(), Code::FailedPrecondition);
}

#[test]
fn a_listing_has_columns() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let names = fill(&bucket, 30);
    let listing = bucket.list("o/").wait().unwrap();
    assert_eq!(listing.len(), 30);
    assert_eq!(listing.names().collect::<Vec<_>>(), names);
    let chunk = listing.chunks().next().unwrap();
    assert_eq!((chunk.sizes[3], chunk.name(3), chunk.rows().start), (3, "o/003", 0));
    let row = listing.row(29).unwrap();
    let known = bucket.stat("o/029").wait().unwrap();
    assert_eq!((row.size, row.generation, row.crc32c), (29, known.generation(), known.crc32c()));
    assert!(listing.row(30).is_none());
    assert_eq!(listing.summary().unwrap().get("objects").as_u64(), Some(30));

    assert_eq!(bucket.list("").suffix("7").min_size(8).wait().unwrap().len(), 2);
    let folded = bucket.list("").delimiter("/").wait().unwrap();
    assert_eq!(folded.prefixes().unwrap(), ["o/"]);
    let mut rows = 0;
    let mut batches = bucket.list("o/").by_name().batches().unwrap();
    for batch in &mut batches {
        rows += batch.unwrap().len();
    }
    assert_eq!((rows, batches.summary().unwrap().get("objects").as_u64()), (30, Some(30)));
    drop(bucket.list("").batches().unwrap());
    let missing = emulator.client().bucket("missing");
    assert_eq!(missing.list("").wait().unwrap_err().code(), Code::NotFound);
    let mut batches = missing.list("").batches().unwrap();
    assert_eq!(batches.next().unwrap().unwrap_err().code(), Code::NotFound);
    assert!(batches.next().is_none());
}

#[test]
fn metrics_are_json_and_prometheus() {
    let emulator = Emulator::new();
    let client = emulator.client();
    client.bucket(BUCKET).put("x", "abc").wait().unwrap();
    let metrics = Json::parse(&client.metrics().unwrap()).unwrap();
    assert!(metrics.get("totals").members().iter().any(|(_, count)| count.as_u64() > Some(0)));
    assert!(client.prometheus().unwrap().contains("dataflux_"));
}
