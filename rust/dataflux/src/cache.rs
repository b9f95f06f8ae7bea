//! A cache on a disk of this machine.

use std::path::Path;
use std::sync::Arc;

use crate::client::check_version;
use crate::error::Result;
use crate::ffi::{self, Texts, handle};
use crate::json::Json;
use crate::sys;

handle!(CacheHandle, dataflux_cache, dataflux_cache_free);

/// Keeps on a disk what clients read, for the next epoch and the next job. A folder serves all
/// processes of a user at once. What is read from it is compared with its checksum each time.
/// A clone is the same cache, and clients that were made with it keep it.
#[derive(Clone)]
pub struct Cache(Arc<CacheHandle>);

/// Limits of a cache; 0 is the default of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheLimits {
    /// Bytes on the disk; as many as `min_free` lets.
    pub bytes: u64,
    /// Bytes of the file system that stay free; a twentieth of it.
    pub min_free: u64,
}

impl Cache {
    /// Opens a folder, and makes what is missing of it.
    pub fn open(folder: impl AsRef<Path>, limits: CacheLimits) -> Result<Cache> {
        check_version()?;
        let mut texts = Texts::default();
        let folder = texts.add_path(folder.as_ref())?;
        let options = sys::dataflux_cache_options {
            bytes: limits.bytes,
            min_free: limits.min_free,
            ..Default::default()
        };
        // SAFETY: folder and options live during the call.
        let handle = CacheHandle::make(|out, error| unsafe {
            sys::dataflux_cache_open(folder, &options, out, error)
        })?;
        Ok(Cache(Arc::new(handle)))
    }

    /// What it did in this process: "hits", "misses", "kept", "evicted", and so on (docs/cache.md).
    pub fn counters(&self) -> Result<Json> {
        // SAFETY: the text that comes is ours.
        let text = ffi::given_text(|out, error| unsafe {
            sys::dataflux_cache_counters(self.raw(), out, error)
        })?;
        Json::parse(&text)
    }

    /// Waits until what was read before is written.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the handle is ours.
        ffi::call(|error| unsafe { sys::dataflux_cache_flush(self.raw(), error) })
    }

    pub(crate) fn raw(&self) -> *mut sys::dataflux_cache {
        self.0.raw()
    }
}
