//! Events of a client, on a thread of its own: what asks for tokens, and what tells a program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread;

use crate::call::next_records;
use crate::client::{Client, Inner, Token};
use crate::data::Data;
use crate::error::{Code, Error, Result};
use crate::ffi::{self, QueueHandle, Texts, handle};
use crate::json::Json;
use crate::sys;

pub(crate) type TokenSource = Box<dyn Fn() -> std::result::Result<Token, String> + Send + Sync>;
pub(crate) type EventSink = Box<dyn Fn(&Event) + Send + Sync>;

/// Events that the client keeps until they are taken.
pub(crate) const CAPACITY: u64 = 1024;

handle!(EventsHandle, dataflux_events, dataflux_events_free);

/// What has happened: a log line, a repeated attempt, or progress of a call.
#[derive(Clone, Debug)]
pub struct Event(Json);

impl Event {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).as_str().unwrap_or("")
    }
    /// "log", "retry" or "progress"; later versions may have others.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }
    /// "info", "warning" or "error".
    pub fn level(&self) -> &str {
        self.text("level")
    }
    /// A log line, or why an attempt failed.
    pub fn message(&self) -> &str {
        self.text("text")
    }
    /// Such as "objects.get"; of progress "download" and so on.
    pub fn verb(&self) -> &str {
        self.text("verb")
    }
    /// The bucket that it is about.
    pub fn bucket(&self) -> &str {
        self.text("bucket")
    }
    /// The object, or the prefix.
    pub fn object(&self) -> &str {
        self.text("object")
    }
    /// All of it, as dataflux.h describes its members.
    pub fn json(&self) -> &Json {
        &self.0
    }
}

/// Begins to listen; ends with the client, which the thread does not keep alive.
pub(crate) fn listen(
    client: &Client,
    tokens: Option<TokenSource>,
    sink: Option<EventSink>,
) -> Result<()> {
    // SAFETY: creates one.
    let queue = QueueHandle::make(|out, error| unsafe { sys::dataflux_queue_create(out, error) })?;
    // SAFETY: client and queue are alive.
    let events = EventsHandle::make(|out, error| unsafe {
        sys::dataflux_client_events(client.raw(), queue.raw(), 0, out, error)
    })?;
    let mut listener =
        Listener { client: Arc::downgrade(&client.0), tokens, sink, _events: events, queue };
    let spawned =
        thread::Builder::new().name("dataflux-events".into()).spawn(move || listener.run());
    spawned.map(|_| ()).map_err(|why| {
        Error::new(Code::ResourceExhausted, format!("no thread for the client's events: {why}"))
    })
}

struct Listener {
    client: Weak<Inner>,
    tokens: Option<TokenSource>,
    sink: Option<EventSink>,
    _events: EventsHandle, // before its queue
    queue: QueueHandle,
}

impl Listener {
    fn run(&mut self) {
        let mut record = [sys::dataflux_record::default()];
        while let Ok(count) = next_records(self.queue.raw(), &mut record, -1) {
            let lines = Data::of(&record[0]);
            if count == 1 && record[0].flags & sys::DATAFLUX_RECORD_END != 0 {
                return;
            }
            for line in String::from_utf8_lossy(&lines).lines() {
                if let Ok(event) = Json::parse(line) {
                    self.tell(Event(event));
                }
            }
        }
    }

    fn tell(&mut self, event: Event) {
        if event.kind() == "token_needed" {
            self.give_token();
        } else if let Some(sink) = &self.sink {
            if catch_unwind(AssertUnwindSafe(|| sink(&event))).is_err() {
                self.sink = None;
            }
        }
    }

    fn give_token(&self) {
        let Some(source) = &self.tokens else { return };
        let came = catch_unwind(AssertUnwindSafe(source));
        let Some(client) = self.client.upgrade().map(Client) else { return };
        let told = match came {
            Ok(Ok(token)) => client.set_token(&token),
            Ok(Err(why)) => fail_token(&client, &why),
            Err(_) => fail_token(&client, "the program's source of tokens has panicked"),
        };
        // A token that has a NUL, say; a closed client asks for no other.
        if let Err(why) = told {
            let _ = fail_token(&client, why.message());
        }
    }
}

fn fail_token(client: &Client, why: &str) -> Result<()> {
    let mut texts = Texts::default();
    let why = texts.add(&why.replace('\0', "\u{FFFD}"))?;
    let status = Code::Unauthenticated.number();
    // SAFETY: the text lives during the call.
    ffi::call(|error| unsafe { sys::dataflux_client_fail_token(client.raw(), status, why, error) })
}
