//! dataflux reads from and writes to Google Cloud Storage and S3, for programs that train.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = dataflux::Client::new()?;
//! let bucket = client.bucket("training");
//! let listing = bucket.list("images/").wait()?; // many parallel calls; proved complete
//! for batch in bucket.get_listing(&listing).start()? {
//!     for item in &batch? {
//!         let name = listing.row(item.index as usize).map(|row| row.name);
//!         println!("{name:?}: {} bytes", item.bytes()?.len());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Calls
//!
//! A call is a builder. `.wait()` makes it on this thread. `.begin()` begins it and gives an
//! [`Operation`], to be waited for or cancelled. With the feature `tokio` `.await` makes it in a
//! task: dropping the future cancels the call. Only `.wait()` borrows memory; the others own it, so
//! that a future or operation that is leaked hurts nobody.
//!
//! # Features
//!
//! Without features the crate depends on the C library alone, and needs Rust 1.85.
//!
//! | feature | what | Rust |
//! |---|---|---|
//! | `bytes` | [`Data`] becomes a `bytes::Bytes` without a copy | 1.85 |
//! | `tokio` | calls are futures, batches streams, a writer `AsyncWrite` | 1.85 |
//! | `arrow` | a listing as arrow-rs' record batches, without a copy | 1.88 |
//! | `object_store` | `object_store::ObjectStore` on a bucket | 1.85 |
//! | `bundled` | builds the C library of the tree | 1.85 |
//!
//! # Threads, forks, panics
//!
//! Handles are `Send` and `Sync`. In the child of a fork those of the parent fail with
//! [`Code::FailedPrecondition`], and dropping them does nothing. Functions that a program gives
//! (tokens, events) are called on a thread of this crate; a panic in one stays there.
#![warn(missing_docs)]

use dataflux_sys as sys;

mod admin;
#[cfg(feature = "tokio")]
mod aio;
#[cfg(feature = "arrow")]
mod arrow;
mod body;
mod bucket;
mod cache;
mod call;
mod changes;
mod client;
mod data;
mod error;
mod events;
mod ffi;
mod gets;
mod items;
mod job;
mod json;
mod listing;
mod manifest;
mod many;
mod mixer;
mod object;
mod reader;
mod requests;
mod rows;
mod sampler;
mod set_reader;
mod sets;
mod shard_writer;
mod shards;
#[cfg(feature = "object_store")]
mod store;
mod target;
mod transfers;
mod writer;

pub use admin::LeftoverPlan;
#[cfg(feature = "tokio")]
pub use aio::{AsyncWriter, BatchStream, CallFuture, ListStream};
pub use body::Body;
pub use bucket::Bucket;
pub use cache::{Cache, CacheLimits};
pub use call::{Call, Operation, Report};
pub use changes::{BucketInfo, Compose, Copy, Patch, Put, Remove, Rename};
pub use client::{Addressing, Client, ClientBuilder, Token, UploadChecksum, version};
pub use data::Data;
pub use error::{Code, Error, Result};
pub use events::Event;
pub use gets::{Get, ReadInto, Stat};
pub use items::{Batch, Item, Items, OwnedItem};
pub use job::Job;
pub use json::Json;
pub use listing::{Chunk, List, ListBatches, Listing, Row};
pub use manifest::{Changes, Manifest};
pub use many::{Batches, GetMany};
pub use mixer::{Draw, Exhausted, Mixer, Stage};
pub use object::{Attributes, Object};
pub use reader::{GetRanges, OpenReader, Reader};
pub use requests::Request;
pub use rows::{FilledBatch, RowBatches};
pub use sampler::{Equalize, Sampler, Shuffle};
pub use set_reader::{OpenSetMember, SetReader};
pub use sets::{
    CheckpointSet, CommitMember, CommitSet, Committed, MemberRecord, MemberWriter, OpenMember,
    Unfinished,
};
pub use shard_writer::{OpenShardWriter, ShardWriter};
pub use shards::{IndexShards, Sample, ShardIndex};
#[cfg(feature = "object_store")]
pub use store::Store;
pub use transfers::CopyPlan;
pub use writer::{Abort, Commit, OpenWriter, Writer, Written};

/// The samples of the guide are compiled with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct Guide;
