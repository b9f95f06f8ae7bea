//! Listings for arrow-rs, by Arrow's C data interface.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::ArrowError;

use crate::error::{Code, Error, Result};
use crate::ffi;
use crate::listing::Listing;
use crate::sys;

impl Listing {
    /// All rows as record batches, without a copy, with the columns name, size, generation and
    /// crc32c. They may outlive the listing.
    pub fn record_batches(&self) -> Result<RecordBatchStreamReader> {
        let mut stream = FFI_ArrowArrayStream::empty();
        // SAFETY: the listing is ours. The stream that is filled has nothing to release, and both
        // sides have Arrow's layout of it.
        ffi::call(|error| unsafe {
            let out: *mut sys::ArrowArrayStream = (&raw mut stream).cast();
            sys::dataflux_listing_arrow(self.raw(), out, error)
        })?;
        RecordBatchStreamReader::try_new(stream).map_err(Error::from)
    }
}

impl From<ArrowError> for Error {
    fn from(why: ArrowError) -> Self {
        Error::new(Code::Internal, format!("arrow-rs refuses the listing: {why}"))
    }
}
