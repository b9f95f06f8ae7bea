//! The client: connections, credentials and limits of one service.

use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::bucket::Bucket;
use crate::cache::Cache;
use crate::error::{Code, Error, Result};
use crate::events::{self, Event, EventSink, TokenSource};
use crate::ffi::{self, QueueHandle, Texts, handle, nanoseconds};
use crate::object::since_1970;
use crate::sys;

handle!(ClientHandle, dataflux_client, dataflux_client_free);

pub(crate) struct Inner {
    // The client ends before its queues do.
    handle: ClientHandle,
    queues: Mutex<Vec<QueueHandle>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A stream of events ends by it, and with that its thread.
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_client_close(self.handle.raw()) }
    }
}

impl Inner {
    pub(crate) fn raw(&self) -> *mut sys::dataflux_client {
        self.handle.raw()
    }
}

/// A client of one service. It is `Send` and `Sync`; a clone is the same client. Use one for each
/// process and service.
///
/// Calls that read or write are those of a [`Bucket`]. Each is a builder: `.wait()` makes the call
/// on this thread, `.begin()` begins it and waits for nothing, and with the feature `tokio`
/// `.await` makes it in a task.
///
/// Whatever is made by a client keeps it alive. In the child of a fork it does not work: calls fail
/// with [`Code::FailedPrecondition`], and the child makes a client of its own.
///
/// ```
/// # fn main() -> dataflux::Result<()> {
/// let client = dataflux::Client::new()?; // Application Default Credentials
/// let data = client.bucket("training").get("config.json").wait()?;
/// println!("{} bytes", data.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    /// One of Google Cloud Storage with the usual credentials and limits.
    pub fn new() -> Result<Client> {
        Client::builder().build()
    }

    /// For what is to be other than usual.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// A bucket of it. Asks nobody.
    pub fn bucket(&self, name: impl Into<String>) -> Bucket {
        Bucket::new(self.clone(), name.into())
    }

    /// Ends all that is under way, with [`Code::Cancelled`], and all later calls fail. From any
    /// thread.
    pub fn close(&self) {
        // SAFETY: the handle is ours; this is for any thread.
        unsafe { sys::dataflux_client_close(self.raw()) }
    }

    /// Sets the access token of all later requests. Without an end it is valid for ever.
    pub fn set_token(&self, token: &Token) -> Result<()> {
        let expires = token.expires.map_or(Ok(0), since_1970)?;
        let mut texts = Texts::default();
        let text = texts.add(&token.text)?;
        // SAFETY: the text lives during the call.
        ffi::call(|error| unsafe {
            sys::dataflux_client_set_token(self.raw(), text, expires, error)
        })
    }

    /// Requests, bytes, times, connections and memory, as a JSON object (docs/metrics.md).
    pub fn metrics(&self) -> Result<String> {
        // SAFETY: the text that comes is ours.
        ffi::given_text(|out, error| unsafe {
            sys::dataflux_client_metrics(self.raw(), out, error)
        })
    }

    /// The same in Prometheus' text format.
    pub fn prometheus(&self) -> Result<String> {
        // SAFETY: the text that comes is ours.
        ffi::given_text(|out, error| unsafe {
            sys::dataflux_client_prometheus(self.raw(), out, error)
        })
    }

    pub(crate) fn raw(&self) -> *mut sys::dataflux_client {
        self.0.raw()
    }

    pub(crate) fn idle_queues(&self) -> &Mutex<Vec<QueueHandle>> {
        &self.0.queues
    }
}

/// An access token.
#[derive(Clone)]
pub struct Token {
    pub(crate) text: String,
    pub(crate) expires: Option<SystemTime>,
}

impl Token {
    /// One that never expires.
    pub fn new(text: impl Into<String>) -> Token {
        Token { text: text.into(), expires: None }
    }

    /// The time from which the service refuses it.
    pub fn expires(mut self, time: SystemTime) -> Token {
        self.expires = Some(time);
        self
    }
}

/// Never shows the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires", &self.expires).finish_non_exhaustive()
    }
}

/// Who the client is.
#[derive(Default)]
enum Credentials {
    #[default]
    Usual,
    Anonymous,
    File(String),
    Tokens(Option<TokenSource>, Option<Token>),
}

/// The keys of an account of S3, instead of those that AWS's tools would find.
#[derive(Clone)]
struct Keys {
    id: String,
    secret: String,
}

/// Where a request to S3 says which bucket it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// `BUCKET.HOST` on AWS, else `HOST/BUCKET`.
    Automatic,
    /// `BUCKET.HOST`
    VirtualHosted,
    /// `HOST/BUCKET`
    Path,
}

/// What an S3 compares of a multipart upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadChecksum {
    /// CRC32C of all bytes: AWS, and most others.
    FullObject,
    /// CRC32C of the parts': Cloudflare R2.
    Composite,
    /// Nothing.
    None,
}

/// Options of a client. What is not set has the library's default.
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    raw: sys::dataflux_client_options,
    credentials: Credentials,
    texts: Options,
    keys: Option<Keys>,
    cache: Option<Cache>,
    sink: Option<EventSink>,
    durations: [Option<Duration>; 4],
}

#[derive(Default)]
struct Options {
    endpoint: Option<String>,
    user_project: Option<String>,
    quota_project: Option<String>,
    user_agent: Option<String>,
    ca_file: Option<String>,
    region: Option<String>,
    session_token: Option<String>,
    provider: Option<String>,
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: impl Into<String>) -> Self {
            self.texts.$name = Some(value.into());
            self
        })*
    };
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $kind:ty),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: $kind) -> Self {
            self.raw.$name = value;
            self
        })*
    };
}

macro_rules! durations {
    ($($(#[$doc:meta])* $name:ident $place:literal),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, limit: Duration) -> Self {
            self.durations[$place] = Some(limit);
            self
        })*
    };
}

impl ClientBuilder {
    /// Amazon S3, and what speaks like it, instead of Google Cloud Storage.
    pub fn s3(mut self) -> Self {
        self.raw.service = sys::DATAFLUX_SERVICE_S3;
        self
    }

    /// AIStore, by its own API.
    pub fn ais(mut self) -> Self {
        self.raw.service = sys::DATAFLUX_SERVICE_AIS;
        self
    }

    /// An emulator of Google Cloud Storage at this endpoint: plain HTTP, and no credentials.
    pub fn emulator(mut self, endpoint: impl Into<String>) -> Self {
        self.raw.emulator = 1;
        self.endpoint(endpoint)
    }

    /// Gives an emulator on this machine tokens, too, for tests of what is done with them.
    pub fn tokens_to_emulator(mut self) -> Self {
        self.raw.tokens_to_emulator = 1;
        self
    }

    /// No credentials: public buckets.
    pub fn anonymous(mut self) -> Self {
        self.credentials = Credentials::Anonymous;
        self
    }

    /// Credentials of a file: JSON of a service account, or of an authorized user.
    pub fn credentials_file(mut self, path: impl Into<String>) -> Self {
        self.credentials = Credentials::File(path.into());
        self
    }

    /// One token; [`Client::set_token`] sets others.
    pub fn token(mut self, token: Token) -> Self {
        self.credentials = Credentials::Tokens(None, Some(token));
        self
    }

    /// Tokens by a function, which is asked on a thread of the client's own: at the start, before a
    /// token expires, and when the service refuses one. What it fails with, or panics with, is the
    /// failure of the calls that need a token; its text must hold no secret.
    pub fn tokens<F, E>(mut self, source: F) -> Self
    where
        F: Fn() -> std::result::Result<Token, E> + Send + Sync + 'static,
        E: fmt::Display,
    {
        let source = move || source().map_err(|why| why.to_string());
        self.credentials = Credentials::Tokens(Some(Box::new(source)), None);
        self
    }

    /// A function that is told what happens: log lines, repeated attempts, progress. It is called
    /// on a thread of the client's own, one event at a time. When it panics, it is called no more.
    pub fn on_event(mut self, sink: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.sink = Some(Box::new(sink));
        self
    }

    /// Keys of S3, instead of those that AWS's tools would find.
    pub fn access_key(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.keys = Some(Keys { id: id.into(), secret: secret.into() });
        self
    }

    /// Where a request to S3 says which bucket it is about.
    pub fn addressing(mut self, how: Addressing) -> Self {
        self.raw.addressing = match how {
            Addressing::Automatic => sys::DATAFLUX_ADDRESSING_AUTOMATIC,
            Addressing::VirtualHosted => sys::DATAFLUX_ADDRESSING_VIRTUAL_HOSTED,
            Addressing::Path => sys::DATAFLUX_ADDRESSING_PATH,
        };
        self
    }

    /// What an S3 compares of a multipart upload.
    pub fn upload_checksum(mut self, what: UploadChecksum) -> Self {
        self.raw.upload_checksum = match what {
            UploadChecksum::FullObject => sys::DATAFLUX_UPLOAD_CHECKSUM_FULL_OBJECT,
            UploadChecksum::Composite => sys::DATAFLUX_UPLOAD_CHECKSUM_COMPOSITE,
            UploadChecksum::None => sys::DATAFLUX_UPLOAD_CHECKSUM_NONE,
        };
        self
    }

    /// This account pays at buckets of S3 whose requester pays.
    pub fn requester_pays(mut self) -> Self {
        self.raw.requester_pays = 1;
        self
    }

    /// What answers reads of a known generation from a disk of this machine.
    pub fn cache(mut self, cache: &Cache) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    texts!(
        /// `https://host[:port][/base]`; of S3 and AIStore `http://`, too.
        endpoint,
        /// Who pays at buckets whose requester pays.
        user_project,
        /// Whose quota is used.
        quota_project,
        /// Put before the library's own, such as "trainer/2.1".
        user_agent,
        /// A file of certificates that are trusted (PEM), instead of the system's.
        ca_file,
        /// Of S3; else what AWS's tools would find.
        region,
        /// Goes with the keys of [`ClientBuilder::access_key`].
        session_token,
        /// Of AIStore, whose buckets are meant, such as "aws".
        provider
    );
    numbers!(
        /// Threads for connections; by default one for four processors.
        io_threads: u32,
        /// Default: 256.
        max_connections_per_host: u32,
        /// Of a request.
        max_attempts: u32,
        /// Reads in flight; by default found by measuring.
        max_concurrency: u32,
        /// Memory of all reads ahead; default: 256 MiB.
        memory_cap: u64,
        /// Memory of all uploads; default: 256 MiB.
        upload_memory: u64,
        /// The longest single read; default: 8 MiB.
        slice: u64
    );
    durations!(
        /// Default: 10 s.
        connect_timeout 0,
        /// The longest time without a byte, after which a request is sent again; default: 30 s.
        stall_timeout 1,
        /// From a request to its reply's first byte; default: 60 s.
        first_byte_timeout 2,
        /// How long calls wait for a token; default: 60 s.
        token_limit 3
    );

    /// Starts the client's threads; sends nothing.
    ///
    /// Fails with what is wrong about credentials or an option, and with [`Code::Unimplemented`]
    /// where the loaded libdataflux is of a version that this crate does not know.
    pub fn build(mut self) -> Result<Client> {
        check_version()?;
        let mut texts = Texts::default();
        self.fill_texts(&mut texts)?;
        let mut raw = self.raw;
        raw.connect_timeout_ns = nanoseconds(self.durations[0])?;
        raw.stall_timeout_ns = nanoseconds(self.durations[1])?;
        raw.first_byte_timeout_ns = nanoseconds(self.durations[2])?;
        raw.token_limit_ns = nanoseconds(self.durations[3])?;
        raw.cache = self.cache.as_ref().map_or(ptr::null(), |cache| cache.raw().cast_const());
        let (mut source, mut first) = (None, None);
        match self.credentials {
            Credentials::Usual => (),
            Credentials::Anonymous => raw.credentials = sys::DATAFLUX_CREDENTIALS_ANONYMOUS,
            Credentials::File(path) => {
                raw.credentials = sys::DATAFLUX_CREDENTIALS_FILE;
                raw.credentials_file = texts.add(&path)?;
            }
            Credentials::Tokens(asked, token) => {
                raw.credentials = sys::DATAFLUX_CREDENTIALS_TOKEN;
                (source, first) = (asked, token);
            }
        }
        if source.is_some() || self.sink.is_some() {
            raw.event_capacity = events::CAPACITY;
        }
        // SAFETY: the options and what they point to live during the call.
        let handle = ClientHandle::make(|out, error| unsafe {
            sys::dataflux_client_create(&raw, out, error)
        })?;
        let client = Client(Arc::new(Inner { handle, queues: Mutex::default() }));
        if let Some(token) = first {
            client.set_token(&token)?;
        }
        if raw.event_capacity != 0 {
            events::listen(&client, source, self.sink)?;
        }
        Ok(client)
    }

    fn fill_texts(&mut self, texts: &mut Texts) -> Result<()> {
        let (raw, given) = (&mut self.raw, &self.texts);
        raw.endpoint = texts.add_if(given.endpoint.as_deref())?;
        raw.user_project = texts.add_if(given.user_project.as_deref())?;
        raw.quota_project = texts.add_if(given.quota_project.as_deref())?;
        raw.user_agent = texts.add_if(given.user_agent.as_deref())?;
        raw.ca_file = texts.add_if(given.ca_file.as_deref())?;
        raw.region = texts.add_if(given.region.as_deref())?;
        raw.provider = texts.add_if(given.provider.as_deref())?;
        raw.session_token = texts.add_if(given.session_token.as_deref())?;
        if let Some(keys) = &self.keys {
            raw.access_key_id = texts.add(&keys.id)?;
            raw.secret_access_key = texts.add(&keys.secret)?;
        }
        Ok(())
    }
}

/// Refuses a library whose interface this crate does not know.
pub(crate) fn check_version() -> Result<()> {
    // SAFETY: for any thread, at any time.
    let loaded = unsafe { sys::dataflux_abi_version() };
    if loaded >= sys::DATAFLUX_ABI_VERSION && loaded / 1000 == sys::DATAFLUX_ABI_VERSION / 1000 {
        return Ok(());
    }
    Err(Error::new(
        Code::Unimplemented,
        format!(
            "the loaded libdataflux ({}) has the interface {loaded}, and this program needs {} or a \
             later one of the same thousand: install a libdataflux that fits the crate dataflux {}",
            version(),
            sys::DATAFLUX_ABI_VERSION,
            env!("CARGO_PKG_VERSION"),
        ),
    ))
}

/// The version of the loaded library, such as "0.1.0".
pub fn version() -> String {
    // SAFETY: the text lives for ever.
    unsafe { ffi::own_text(sys::dataflux_version()) }
}
