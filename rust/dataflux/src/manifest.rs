//! Saved listings, and what has changed since.

use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use crate::bucket::Bucket;
use crate::call::{Call, Start};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{self, Texts, empty_if_null, handle};
use crate::json::Json;
use crate::listing::{Listing, ListingHandle};
use crate::sys;

handle!(ManifestHandle, dataflux_manifest, dataflux_manifest_free);
handle!(ChangesHandle, dataflux_changes, dataflux_changes_free);

/// Where a manifest is.
#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    Object(Bucket, String),
}

impl Place {
    fn with<R>(
        &self,
        function: impl FnOnce(&sys::dataflux_manifest_options) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let mut options = sys::dataflux_manifest_options::default();
        match self {
            Place::File(path) => options.path = texts.add_path(path)?,
            Place::Object(bucket, name) => {
                options.bucket = texts.add(&bucket.name)?;
                options.object = texts.add(name)?;
            }
        }
        function(&options)
    }
}

impl Client {
    /// Opens a manifest, a file, which must not change while it is in use.
    pub fn open_manifest(&self, path: impl AsRef<Path>) -> Call<Manifest> {
        open(self, Place::File(path.as_ref().to_owned()))
    }

    /// Saves a listing as a file, which appears whole or not at all.
    pub fn save_manifest(&self, listing: &Listing, path: impl AsRef<Path>) -> Call<()> {
        save(self, listing, Place::File(path.as_ref().to_owned()))
    }
}

impl Bucket {
    /// Opens a manifest, an object, by reading it into memory.
    pub fn open_manifest(&self, object: impl Into<String>) -> Call<Manifest> {
        open(&self.client, Place::Object(self.clone(), object.into()))
    }

    /// Saves a listing as an object.
    pub fn save_manifest(&self, listing: &Listing, object: impl Into<String>) -> Call<()> {
        save(&self.client, listing, Place::Object(self.clone(), object.into()))
    }
}

fn open(client: &Client, place: Place) -> Call<Manifest> {
    let (own, of) = (client.clone(), client.clone());
    let begin = move |start: &mut Start| {
        place.with(|options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_manifest_open(own.raw(), options, queue, tag, out, error)
            })
        })
    };
    Call::new(client, begin, move |ended| {
        // SAFETY: the operation is ours and has ended well.
        let handle = ManifestHandle::make(|out, error| unsafe {
            sys::dataflux_operation_take_manifest(ended.op.raw(), out, error)
        })?;
        Ok(Manifest { handle: Arc::new(handle), client: of.clone() })
    })
}

fn save(client: &Client, listing: &Listing, place: Place) -> Call<()> {
    let (own, listing) = (client.clone(), listing.clone());
    let begin = move |start: &mut Start| {
        place.with(|options| {
            // SAFETY: options and listing live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let listing = listing.raw();
                sys::dataflux_manifest_save(own.raw(), options, listing, queue, tag, out, error)
            })
        })
    };
    Call::new(client, begin, |_| Ok(()))
}

/// A saved listing. Opening reads no rows; they are checked when they are first used. A clone is
/// the same one.
#[derive(Clone)]
pub struct Manifest {
    handle: Arc<ManifestHandle>,
    client: Client,
}

impl Manifest {
    /// How many rows it has.
    pub fn len(&self) -> usize {
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_manifest_size(self.handle.raw()) as usize }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was listed, how, and when.
    pub fn description(&self) -> Result<Json> {
        let mut text = ptr::null();
        // SAFETY: the handle is ours, and the text lives as long as it.
        unsafe {
            ffi::call(|error| sys::dataflux_manifest_json(self.handle.raw(), &mut text, error))?;
            Json::parse(&ffi::own_text(text))
        }
    }

    /// All rows, without a copy.
    pub fn rows(&self) -> Call<Listing> {
        self.some_rows(0, u64::MAX)
    }

    /// At most so many rows from one on.
    pub fn some_rows(&self, first: u64, count: u64) -> Call<Listing> {
        let own = self.clone();
        let begin = move |start: &mut Start| {
            // SAFETY: client and manifest are alive.
            start.with(|queue, tag, out, error| unsafe {
                let (client, manifest) = (own.client.raw(), own.handle.raw());
                sys::dataflux_manifest_rows(client, manifest, first, count, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, |ended| Listing::taken(&ended))
    }

    /// Lists again what it lists, and compares.
    pub fn refresh(&self) -> Call<Changes> {
        let own = self.clone();
        let begin = move |start: &mut Start| {
            // SAFETY: client and manifest are alive.
            start.with(|queue, tag, out, error| unsafe {
                let (client, manifest) = (own.client.raw(), own.handle.raw());
                sys::dataflux_manifest_refresh(
                    client,
                    manifest,
                    ptr::null(),
                    queue,
                    tag,
                    out,
                    error,
                )
            })
        };
        Call::new(&self.client, begin, |ended| {
            // SAFETY: the operation is ours and has ended well.
            let handle = ChangesHandle::make(|out, error| unsafe {
                sys::dataflux_operation_take_changes(ended.op.raw(), out, error)
            })?;
            Ok(Changes(handle))
        })
    }
}

impl Listing {
    /// Compares this listing with a later one of the same place, by names and generations.
    pub fn compare(&self, later: &Listing) -> Result<Changes> {
        // SAFETY: both handles are ours.
        let handle = ChangesHandle::make(|out, error| unsafe {
            sys::dataflux_listing_compare(self.raw(), later.raw(), out, error)
        })?;
        Ok(Changes(handle))
    }
}

/// The differences of two listings.
pub struct Changes(ChangesHandle);

impl Changes {
    fn raw_rows(&self) -> sys::dataflux_changed_rows {
        let mut rows = sys::dataflux_changed_rows::default();
        // SAFETY: the handle is ours, and `rows` has the size that is said, so nothing can fail.
        let _ = ffi::call(|error| unsafe {
            let size = size_of::<sys::dataflux_changed_rows>();
            sys::dataflux_changes_rows(self.0.raw(), &mut rows, size, error)
        });
        rows
    }

    /// Rows of the later listing that the earlier one does not have.
    pub fn added(&self) -> &[u64] {
        let rows = self.raw_rows();
        empty_if_null(rows.added, rows.added_count)
    }

    /// Rows of the earlier listing that the later one does not have.
    pub fn removed(&self) -> &[u64] {
        let rows = self.raw_rows();
        empty_if_null(rows.removed, rows.removed_count)
    }

    /// Overwritten objects: their rows before and after.
    pub fn changed(&self) -> impl Iterator<Item = (u64, u64)> {
        let rows = self.raw_rows();
        let pairs: &[u64] = empty_if_null(rows.changed, rows.changed_count * 2);
        pairs.chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// How many rows are the same.
    pub fn unchanged(&self) -> u64 {
        self.raw_rows().unchanged_count
    }

    /// The later listing.
    pub fn listing(&self) -> Result<Listing> {
        // SAFETY: the handle is ours.
        let handle = ListingHandle::make(|out, error| unsafe {
            sys::dataflux_changes_listing(self.0.raw(), out, error)
        })?;
        Ok(Listing::of(handle))
    }
}
