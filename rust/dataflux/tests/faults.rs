//! What must not happen: panics over the boundary, forks that work, clients that stay.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use common::{BUCKET, Emulator, fill, pattern};
use dataflux::{Client, ClientBuilder, Code, Token};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

fn asks_for_tokens(emulator: &Emulator) -> ClientBuilder {
    Client::builder()
        .emulator(&emulator.endpoint)
        .tokens_to_emulator()
        .token_limit(Duration::from_secs(30))
}

/// A token that the emulator accepts.
fn token(emulator: &Emulator) -> String {
    let reply = emulator.ask(
        "POST",
        "/token",
        "grant_type=refresh_token&client_id=emulator-client&client_secret=emulator-secret\
         &refresh_token=emulator-refresh-token",
    );
    let body = dataflux::Json::parse(&reply[reply.find('{').unwrap()..=reply.rfind('}').unwrap()])
        .unwrap();
    body.get("access_token").as_str().unwrap().to_owned()
}

#[test]
fn tokens_come_from_a_function() {
    let emulator = Emulator::with(&["--require-token"]);
    let (asked, text) = (Arc::new(AtomicU32::new(0)), token(&emulator));
    let count = asked.clone();
    let client = asks_for_tokens(&emulator)
        .tokens(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(Token::new(text.clone()))
        })
        .build()
        .unwrap();
    client.bucket(BUCKET).put("x", "abc").wait().unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let given = asks_for_tokens(&emulator).token(Token::new(token(&emulator))).build().unwrap();
    assert_eq!(*given.bucket(BUCKET).get("x").wait().unwrap(), *b"abc");
    assert!(!format!("{:?}", Token::new("hidden")).contains("hidden"));
}

#[test]
fn a_source_of_tokens_fails_or_panics() {
    let emulator = Emulator::with(&["--require-token"]);
    let client = asks_for_tokens(&emulator)
        .tokens(|| Err("the vault is shut\0".to_owned()))
        .build()
        .unwrap();
    let why = client.bucket(BUCKET).get("x").wait().unwrap_err();
    assert_eq!(why.code(), Code::Unauthenticated);
    assert!(why.message().contains("the vault is shut"), "{why}");
    let client = asks_for_tokens(&emulator)
        .tokens(|| -> Result<Token, String> { panic!("in the source") })
        .build()
        .unwrap();
    let why = client.bucket(BUCKET).get("x").wait().unwrap_err();
    assert!(why.message().contains("panicked"), "{why}");
    let client =
        asks_for_tokens(&emulator).tokens(|| Ok::<_, String>(Token::new("a\0b"))).build().unwrap();
    assert_eq!(client.bucket(BUCKET).get("x").wait().unwrap_err().code(), Code::Unauthenticated);
}

#[test]
fn events_are_told_and_a_panic_ends_that() {
    let emulator = Emulator::new();
    let (sender, told) = mpsc::channel();
    let client = Client::builder()
        .emulator(&emulator.endpoint)
        .on_event(move |event| {
            sender.send((event.kind().to_owned(), event.verb().to_owned())).unwrap();
            panic!("in the sink");
        })
        .build()
        .unwrap();
    emulator.fault(r#"{"verb": "objects.insert", "action": "refuse", "status": 503, "count": 2}"#);
    client.bucket(BUCKET).put("x", "abc").wait().unwrap();
    assert!(told.recv().is_ok());
    assert!(told.recv().is_err(), "the sink was let go of");
    client.bucket(BUCKET).get("x").wait().unwrap();
}

#[test]
fn the_thread_of_events_ends_with_its_client() {
    let emulator = Emulator::new();
    let held = Arc::new(());
    for _ in 0..20 {
        let guard = held.clone();
        drop(
            Client::builder()
                .emulator(&emulator.endpoint)
                .on_event(move |_| assert!(Arc::strong_count(&guard) > 0))
                .build()
                .unwrap(),
        );
    }
    while Arc::strong_count(&held) > 1 {
        std::thread::yield_now();
    }
}

#[test]
fn a_forked_child_makes_its_own_client() {
    let emulator = Emulator::new();
    let client = emulator.client();
    let bucket = client.bucket(BUCKET);
    fill(&bucket, 10);
    let listing = bucket.list("").wait().unwrap();
    let batches = bucket.get_listing(&listing).start().unwrap();
    let begun = bucket.get("o/003").begin().unwrap();
    // SAFETY: the child uses what the library allows there, and leaves by _exit.
    let child = unsafe { fork() };
    if child == 0 {
        let refused = bucket.get("o/003").wait().unwrap_err().code() == Code::FailedPrecondition;
        let began = begun.wait().is_err_and(|why| why.code() == Code::FailedPrecondition);
        drop(batches);
        drop(bucket);
        drop(client);
        let own = emulator.bucket().get("o/003").wait().is_ok_and(|data| *data == pattern(3));
        let rows = listing.len() == 10;
        let good = [refused, began, own, rows];
        let status = good.iter().fold(0, |bits, good| bits << 1 | i32::from(!good));
        // SAFETY: ends the child.
        unsafe { _exit(status) }
    }
    let mut status = -1;
    // SAFETY: waits for the child.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "bits of what failed: refused, began, own, rows");
    assert_eq!(*begun.wait().unwrap(), pattern(3));
    assert_eq!(batches.items().count(), 10);
}
