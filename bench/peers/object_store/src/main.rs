//! The Rust crate object_store as a peer, with the line protocol of bench/macro/measure.hpp. One
//! thread. A range is taken in both of object_store's ways: `range8m` by `get_range`, which hands
//! out fresh memory, and `range8m-stream` copied from its stream into a buffer that is kept.

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{Certificate, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Instant;

const SMALL: &str = "small/n01440764/n01440764_10026.JPEG";
const MEDIUM: &str = "medium/n01440764/n01440764_10026.JPEG";
const LARGE: &str = "large/checkpoint/step-00001000/model.bin";
const UPLOAD: &str = "upload/checkpoint/step-00001000/model.bin";
const SMALL_SIZE: u64 = 16 << 10;
const MEDIUM_SIZE: u64 = 100 << 10;
const BLOCK_SIZE: u64 = 8 << 20;
const LARGE_SIZE: u64 = 1 << 30;
const PART_SIZE: usize = 32 << 20;
const PAGES: u64 = 100;

type Failure = Box<dyn std::error::Error>;

#[derive(Default)]
struct Tally {
    requests: Cell<u64>,
    bytes: Cell<u64>,
    items: Cell<u64>,
}

impl Tally {
    fn add(&self, requests: u64, bytes: u64, items: u64) {
        self.requests.set(self.requests.get() + requests);
        self.bytes.set(self.bytes.get() + bytes);
        self.items.set(self.items.get() + items);
    }
}

struct Client {
    store: GoogleCloudStorage,
    case: String,
    concurrency: usize,
    part: Bytes,
    buffers: RefCell<Vec<Vec<u8>>>,
}

impl Client {
    fn new(arguments: &HashMap<String, String>) -> Result<Self, Failure> {
        let mut options = ClientOptions::new()
            .with_allow_http(true)
            .with_no_system_certificates(true);
        if let Some(file) = arguments.get("ca") {
            options = options.with_root_certificate(Certificate::from_pem(&std::fs::read(file)?)?);
        }
        let store = GoogleCloudStorageBuilder::new()
            .with_bucket_name("bench")
            .with_base_url(&arguments["endpoint"])
            // Any token will do, and with one at hand none is asked of the metadata server.
            .with_bearer_token("unused")
            .with_client_options(options)
            .build()?;
        let concurrency = arguments["concurrency"].parse()?;
        Ok(Self {
            store,
            case: arguments["case"].clone(),
            concurrency,
            part: Bytes::from(vec![1; PART_SIZE]),
            buffers: RefCell::new(vec![vec![1; BLOCK_SIZE as usize]; concurrency]),
        })
    }

    async fn run(&self, count: u64) -> Result<Tally, Failure> {
        let tally = Tally::default();
        // A listing walks all pages, so its unit of work is a whole listing.
        let units = if self.case == "listpage" { count.div_ceil(PAGES) } else { count };
        stream::iter((0..units).map(|index| self.one(index, &tally)))
            .buffer_unordered(self.concurrency)
            .try_collect::<()>()
            .await?;
        Ok(tally)
    }

    async fn one(&self, index: u64, tally: &Tally) -> Result<(), Failure> {
        match self.case.as_str() {
            "get16k" => {
                let body = self.store.get(&Path::from(SMALL)).await?.bytes().await?;
                if body.len() as u64 != SMALL_SIZE {
                    return Err("a short object".into());
                }
                tally.add(1, SMALL_SIZE, 0);
            }
            "get100k" => {
                let body = self.store.get(&Path::from(MEDIUM)).await?.bytes().await?;
                if body.len() as u64 != MEDIUM_SIZE {
                    return Err("a short object".into());
                }
                tally.add(1, MEDIUM_SIZE, 0);
            }
            "range8m" => {
                let first = range_start(index);
                let range = first..first + BLOCK_SIZE;
                let body = self.store.get_range(&Path::from(LARGE), range).await?;
                if body.len() as u64 != BLOCK_SIZE {
                    return Err("a short range".into());
                }
                tally.add(1, BLOCK_SIZE, 0);
            }
            "range8m-stream" => {
                let first = range_start(index);
                let range = Some(GetRange::Bounded(first..first + BLOCK_SIZE));
                let options = GetOptions { range, ..Default::default() };
                let mut body =
                    self.store.get_opts(&Path::from(LARGE), options).await?.into_stream();
                let mut buffer = self.buffers.borrow_mut().pop().expect("a buffer per lane");
                let mut have = 0;
                while let Some(chunk) = body.next().await {
                    let chunk = chunk?;
                    buffer[have..have + chunk.len()].copy_from_slice(&chunk);
                    have += chunk.len();
                }
                self.buffers.borrow_mut().push(buffer);
                if have as u64 != BLOCK_SIZE {
                    return Err("a short range".into());
                }
                tally.add(1, BLOCK_SIZE, 0);
            }
            "listpage" => {
                let mut names = self.store.list(None);
                let mut items = 0;
                while let Some(object) = names.next().await {
                    object?;
                    items += 1;
                }
                tally.add(PAGES, 0, items);
            }
            "put32m" => {
                let (key, id) = (Path::from(UPLOAD), "VXBsb2FkIElE".to_string());
                let part = (index % 10000) as usize;
                self.store.put_part(&key, &id, part, self.part.clone().into()).await?;
                tally.add(1, PART_SIZE as u64, 0);
            }
            other => return Err(format!("unknown case {other}").into()),
        }
        Ok(())
    }
}

fn range_start(index: u64) -> u64 {
    index % (LARGE_SIZE / BLOCK_SIZE) * BLOCK_SIZE
}

/// CPU seconds of all threads, and the largest resident size in bytes.
fn usage() -> (f64, i64) {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + 1e-6 * t.tv_usec as f64;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments: HashMap<String, String> = words
        .chunks_exact(2)
        .map(|pair| (pair[0].trim_start_matches("--").to_string(), pair[1].clone()))
        .collect();
    let client = Client::new(&arguments)?;
    client.run(4 * client.concurrency as u64).await?;
    let (cpu, _) = usage();
    let start = Instant::now();
    let done = client.run(arguments["count"].parse()?).await?;
    let (wall, (cpu_end, rss)) = (start.elapsed().as_secs_f64(), usage());
    println!(
        "{{\"requests\": {}, \"bytes\": {}, \"items\": {}, \"wall_s\": {:.6}, \"cpu_s\": {:.6}, \
         \"allocations\": -1, \"max_rss\": {}}}",
        done.requests.get(),
        done.bytes.get(),
        done.items.get(),
        wall,
        cpu_end - cpu,
        rss
    );
    Ok(())
}
