//! The order of training, as a pure function.

use std::ops::Range;

use crate::client::check_version;
use crate::error::Result;
use crate::ffi;
use crate::sys;

/// How rows are mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// Any row may come anywhere.
    #[default]
    Full,
    /// Blocks of rows, and within some blocks their rows.
    Window,
    /// Not at all.
    None,
    /// Blocks of rows, each in an order of its own, take turns.
    Blocks,
}

/// What becomes of rows that do not go around the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Equalize {
    /// The last ones are left out.
    #[default]
    Drop,
    /// The first ones come again at the end.
    Pad,
}

/// The order in which a rank reads the rows of an epoch: the same on every machine and in every
/// version. Nothing is stored, and any position is computed at once.
///
/// ```
/// # fn main() -> dataflux::Result<()> {
/// let sampler = dataflux::Sampler::new(1_000_000).seed(7).ranks(3, 8);
/// assert_eq!(sampler.len()?, 125_000);
/// let first = sampler.epoch(1).rows(0..64)?; // for Bucket::get_rows
/// assert_eq!(first.len(), 64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    raw: sys::dataflux_sampler_options,
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: u64) -> Self {
            self.raw.$name = value;
            self
        })*
    };
}

impl Sampler {
    /// All of so many rows, shuffled.
    pub fn new(count: u64) -> Sampler {
        Sampler { raw: sys::dataflux_sampler_options { count, ..Default::default() } }
    }

    numbers!(
        /// Another one, another order.
        seed,
        /// Each epoch has an order of its own.
        epoch,
        /// Rows of a block; default: 1,024.
        block,
        /// Blocks that are mixed, or take turns, the same; default: 64.
        window
    );

    /// How rows are mixed.
    pub fn shuffle(mut self, how: Shuffle) -> Self {
        self.raw.shuffle = match how {
            Shuffle::Full => sys::DATAFLUX_SHUFFLE_FULL,
            Shuffle::Window => sys::DATAFLUX_SHUFFLE_WINDOW,
            Shuffle::None => sys::DATAFLUX_SHUFFLE_NONE,
            Shuffle::Blocks => sys::DATAFLUX_SHUFFLE_BLOCKS,
        };
        self
    }

    /// What becomes of rows that do not go around.
    pub fn equalize(mut self, how: Equalize) -> Self {
        self.raw.equalize = match how {
            Equalize::Drop => sys::DATAFLUX_EQUALIZE_DROP,
            Equalize::Pad => sys::DATAFLUX_EQUALIZE_PAD,
        };
        self
    }

    /// This rank of a job of so many.
    pub fn ranks(mut self, rank: u32, of: u32) -> Self {
        (self.raw.rank, self.raw.world_size) = (rank, of);
        self
    }

    /// How many positions each rank has.
    pub fn len(&self) -> Result<u64> {
        check_version()?;
        // SAFETY: the options live during the call.
        ffi::made(|size, error| unsafe { sys::dataflux_sampler_size(&self.raw, size, error) })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The rows at positions of this rank. [`Code::OutOfRange`](crate::Code::OutOfRange) beyond
    /// them.
    pub fn rows(&self, positions: Range<u64>) -> Result<Vec<u64>> {
        check_version()?;
        let count = positions.end.saturating_sub(positions.start) as usize;
        let mut rows = ffi::filled(count, 0)?;
        // SAFETY: `rows` has so many places.
        ffi::call(|error| unsafe {
            let into = rows.as_mut_ptr();
            sys::dataflux_sampler_rows(&self.raw, positions.start, into, count, error)
        })?;
        Ok(rows)
    }

    /// All rows of this rank from a position on, computed as they are taken.
    pub fn iter_from(&self, position: u64) -> Result<impl Iterator<Item = u64> + Send + use<>> {
        const AT_ONCE: u64 = 1024;
        let (sampler, end) = (*self, self.len()?);
        let begins = (position..end).step_by(AT_ONCE as usize);
        let some = move |at| sampler.rows(at..end.min(at + AT_ONCE)).expect("they are this rank's");
        Ok(begins.flat_map(some))
    }

    /// The first position behind the window of a position. Rows that are read by their numbers up
    /// to there come by whole blocks.
    pub fn window_end(&self, position: u64) -> Result<u64> {
        check_version()?;
        // SAFETY: the options live during the call.
        ffi::made(|end, error| unsafe {
            sys::dataflux_sampler_window_end(&self.raw, position, end, error)
        })
    }
}
