//! Calls as futures, and streams, in tokio.
#![cfg(all(feature = "tokio", feature = "bytes"))]

mod common;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use common::{BUCKET, Emulator, STALL, fill, pattern};
use dataflux::{Client, Code, Unfinished};
use futures_core::Stream;
use tokio::io::AsyncWriteExt;

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

/// Polls a future once, so that it begins.
async fn begun<F: Future + Unpin>(future: &mut F) {
    poll_fn(|context| {
        assert!(Pin::new(&mut *future).poll(context).is_pending());
        Poll::Ready(())
    })
    .await
}

#[tokio::test]
async fn calls_are_futures() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("x", pattern(1000)).await.unwrap();
    let bytes = bytes::Bytes::from(bucket.get("x").await.unwrap());
    assert_eq!(bytes, pattern(1000));
    assert_eq!(bytes.slice(990..), pattern(1000)[990..]);
    bucket.put("y", bytes).await.unwrap();
    assert_eq!(bucket.list("").await.unwrap().names().collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(bucket.get("no").await.unwrap_err().code(), Code::NotFound);
    assert_eq!(bucket.stat("a\nb").await.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(bucket.stat("a\0b").await.unwrap_err().code(), Code::InvalidArgument);
    let reader = bucket.open("x").await.unwrap();
    assert_eq!(reader.get_ranges([(1, 2), (0, 1)]).await.unwrap(), [vec![1, 2], vec![0]]);
    let set = bucket.checkpoint_set("set").unwrap();
    set.begin(Unfinished::Refuse).await.unwrap();
    let record = set.member("a").await.unwrap().commit().await.unwrap();
    set.commit([record]).await.unwrap();
    assert_eq!(set.open().await.unwrap().members().count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_a_queue() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    tokio::task::block_in_place(|| fill(&bucket, 50));
    let tasks: Vec<_> = (0..500)
        .map(|task| {
            let bucket = bucket.clone();
            tokio::spawn(async move {
                let number = task % 50;
                let data = bucket.get(format!("o/{number:03}")).await.unwrap();
                assert_eq!(*data, pattern(number));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn dropped_and_leaked_futures_hurt_nobody() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("x", "abc").await.unwrap();
    emulator.fault(STALL);
    for _ in 0..50 {
        let mut get = bucket.get("x").into_future();
        begun(&mut get).await;
        let mut put = bucket.put("y", pattern(1 << 20)).into_future();
        begun(&mut put).await;
        drop((get, put));
    }
    let mut get = bucket.get("x").into_future();
    begun(&mut get).await;
    std::mem::forget(get);
    let late = tokio::time::timeout(Duration::from_millis(5), bucket.get("x")).await;
    assert!(late.is_err());
    drop(bucket.get("x").into_future());
    emulator.no_faults();
    assert_eq!(*bucket.get("x").await.unwrap(), *b"abc");
}

#[tokio::test]
async fn batches_are_a_stream() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let names = tokio::task::spawn_blocking({
        let bucket = bucket.clone();
        move || fill(&bucket, 100)
    });
    let names = names.await.unwrap();
    let mut count = 0;
    let asked: Vec<_> = (0..2000).map(|place| names[place % 100].clone()).collect();
    let mut stream = bucket.get_many(asked).stream().unwrap();
    while let Some(batch) = next(&mut stream).await {
        for item in &batch.unwrap() {
            assert_eq!(item.index, count);
            assert_eq!(item.bytes().unwrap(), pattern(count as usize % 100));
            count += 1;
        }
    }
    assert_eq!(count, 2000);
    assert!(next(&mut stream).await.is_none());
    let mut rows = 0;
    let mut stream = bucket.list("o/").stream().unwrap();
    while let Some(batch) = next(&mut stream).await {
        rows += batch.unwrap().len();
    }
    assert_eq!(rows, 100);
}

#[tokio::test]
async fn dropped_and_leaked_streams_hurt_nobody() {
    let emulator = Emulator::new();
    let client =
        Client::builder().emulator(&emulator.endpoint).memory_cap(8 << 20).build().unwrap();
    let bucket = client.bucket(BUCKET);
    bucket.put("big", pattern(300_000)).await.unwrap();
    for round in 0..30 {
        let mut stream = bucket.get_many(["big"; 200]).stream().unwrap();
        for _ in 0..round % 4 {
            next(&mut stream).await.unwrap().unwrap();
        }
    }
    let mut leaked = bucket.get_many(["big"; 200]).stream().unwrap();
    next(&mut leaked).await.unwrap().unwrap();
    std::mem::forget(leaked);
    let mut stream = bucket.get_many(["big"; 5]).stream().unwrap();
    let mut items = 0;
    while let Some(batch) = next(&mut stream).await {
        items += batch.unwrap().len();
    }
    assert_eq!(items, 5);
    assert_eq!(bucket.get("big").await.unwrap().len(), 300_000);
}

#[tokio::test]
async fn a_writer_is_async_write() {
    let emulator = Emulator::new();
    let client =
        Client::builder().emulator(&emulator.endpoint).upload_memory(16 << 20).build().unwrap();
    let bucket = client.bucket(BUCKET);
    let mut writer = bucket.writer("w").await.unwrap().into_async();
    for piece in pattern(60_000_000).chunks(7_000_000) {
        writer.write_all(piece).await.unwrap(); // more than its memory: it waits for room
    }
    writer.flush().await.unwrap();
    writer.shutdown().await.unwrap();
    assert_eq!(writer.written().unwrap().object.size(), 60_000_000);
    assert!(writer.write(b"x").await.is_err());
    let mut writer = bucket.writer("v").await.unwrap().into_async();
    writer.write_all(b"abc").await.unwrap();
    assert_eq!(writer.commit().await.unwrap().object.size(), 3);
    let mut dropped = bucket.writer("none").await.unwrap().into_async();
    dropped.write_all(&pattern(1000)).await.unwrap();
    drop(dropped);
    bucket.writer("none").await.unwrap().into_async().abort().await.unwrap();
    assert_eq!(bucket.stat("none").await.unwrap_err().code(), Code::NotFound);
}

#[test]
fn runtimes_come_and_go() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    bucket.put("x", "abc").wait().unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for _ in 0..20 {
        runtime().block_on(async { assert_eq!(*bucket.get("x").await.unwrap(), *b"abc") });
    }
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                runtime().block_on(async {
                    for _ in 0..100 {
                        assert_eq!(*bucket.get("x").await.unwrap(), *b"abc");
                    }
                })
            });
        }
    });
    // What was begun in a runtime that has ended.
    emulator.fault(STALL);
    let mut get = bucket.get("x").into_future();
    runtime().block_on(begun(&mut get));
    assert_eq!(runtime().block_on(get).unwrap_err().code(), Code::Cancelled);
    emulator.no_faults();
    // Outside of any.
    let mut get = pin!(bucket.get("x").into_future());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match get.as_mut().poll(&mut context) {
        Poll::Ready(Err(why)) => assert_eq!(why.code(), Code::FailedPrecondition),
        _ => panic!("it has to say that there is no runtime"),
    }
}
