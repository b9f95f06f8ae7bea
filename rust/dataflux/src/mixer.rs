//! Several sources of samples as one, by weights.

use std::sync::Arc;

use crate::client::check_version;
use crate::error::{Code, Error, Result};
use crate::ffi::{self, handle};
use crate::sys;

handle!(MixerHandle, dataflux_mixer, dataflux_mixer_free);

/// What happens when a source has no more samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exhausted {
    /// The mix ends before the first draw that has no sample.
    #[default]
    Stop,
    /// The source begins again, in an epoch of its own; the mix has no end.
    Restart,
    /// The others go on without it, until none is left.
    Drop,
}

/// Which source each draw is from: a pure function, of which any draw is found at once. After n
/// draws a source of p among P parts has given n * p / P samples, rounded down or up. A clone is
/// the same one.
///
/// ```
/// # fn main() -> dataflux::Result<()> {
/// use dataflux::{Exhausted, Mixer};
/// let mixer = Mixer::new(&[(1000, 3), (500, 1)], Exhausted::Restart)?; // samples, and parts
/// let draws = mixer.draws(0, 1, 4)?;
/// assert_eq!(draws.iter().filter(|draw| draw.source == 0).count(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Mixer {
    handle: Arc<MixerHandle>,
    sources: usize,
}

/// One draw of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The source, by its place.
    pub source: u32,
    /// Which of its samples, from 0 and through all of its epochs.
    pub number: u64,
}

/// Weights from a draw on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The draw at which they begin.
    pub from: u64,
    /// Whole parts of their sum, one of each source; 0: it rests.
    pub parts: Vec<u32>,
}

impl Mixer {
    /// Sources, each with its samples of an epoch and its parts of the mix.
    pub fn new(sources: &[(u64, u32)], exhausted: Exhausted) -> Result<Mixer> {
        let sizes: Vec<u64> = sources.iter().map(|&(size, _)| size).collect();
        let parts = sources.iter().map(|&(_, parts)| parts).collect();
        Mixer::with_stages(&sizes, &[Stage { from: 0, parts }], None, exhausted)
    }

    /// The same with weights that change at draws; `counts` is what each source had given before
    /// the first of them.
    pub fn with_stages(
        sizes: &[u64],
        stages: &[Stage],
        counts: Option<&[u64]>,
        exhausted: Exhausted,
    ) -> Result<Mixer> {
        check_version()?;
        let fits = stages.iter().all(|stage| stage.parts.len() == sizes.len())
            && counts.is_none_or(|counts| counts.len() == sizes.len());
        if !fits || stages.is_empty() {
            let why = "a mix needs a stage, and each has one number for each source";
            return Err(Error::new(Code::InvalidArgument, why));
        }
        let froms: Vec<u64> = stages.iter().map(|stage| stage.from).collect();
        let parts: Vec<u32> = stages.iter().flat_map(|stage| stage.parts.iter().copied()).collect();
        let options = sys::dataflux_mixer_options {
            sizes: sizes.as_ptr(),
            froms: froms.as_ptr(),
            parts: parts.as_ptr(),
            counts: counts.map_or(std::ptr::null(), <[u64]>::as_ptr),
            sources: sizes.len() as u64,
            stages: u32::try_from(stages.len()).unwrap_or(u32::MAX),
            ended: match exhausted {
                Exhausted::Stop => sys::DATAFLUX_ENDED_STOP,
                Exhausted::Restart => sys::DATAFLUX_ENDED_RESTART,
                Exhausted::Drop => sys::DATAFLUX_ENDED_DROP,
            },
            ..Default::default()
        };
        // SAFETY: the columns live during the call, and have the sizes that are said.
        let handle = MixerHandle::make(|out, error| unsafe {
            sys::dataflux_mixer_create(&options, out, error)
        })?;
        Ok(Mixer { handle: Arc::new(handle), sources: sizes.len() })
    }

    /// The draw that ends the mix; None: it has no end.
    pub fn end(&self) -> Result<Option<u64>> {
        // SAFETY: the handle is ours.
        let end = ffi::made(|end: &mut u64, error| unsafe {
            sys::dataflux_mixer_end(self.handle.raw(), end, error)
        })?;
        Ok(Some(end).filter(|&end| end != u64::MAX))
    }

    /// The draws first, first + step and so on: at most so many, up to the end.
    pub fn draws(&self, first: u64, step: u64, count: usize) -> Result<Vec<Draw>> {
        let (mut sources, mut numbers) = (ffi::filled(count, 0)?, ffi::filled(count, 0)?);
        // SAFETY: both columns have so many places.
        let taken = ffi::made(|taken: &mut usize, error| unsafe {
            let (sources, numbers) = (sources.as_mut_ptr(), numbers.as_mut_ptr());
            let mixer = self.handle.raw();
            sys::dataflux_mixer_draws(mixer, first, step, sources, numbers, count, taken, error)
        })?;
        let pairs = sources.into_iter().zip(numbers).take(taken);
        Ok(pairs.map(|(source, number)| Draw { source, number }).collect())
    }

    /// What each source has given once the draws before this one are over.
    pub fn counts(&self, draw: u64) -> Result<Vec<u64>> {
        let mut counts = ffi::filled(self.sources, 0)?;
        // SAFETY: there is room for all sources.
        ffi::call(|error| unsafe {
            sys::dataflux_mixer_counts(self.handle.raw(), draw, counts.as_mut_ptr(), error)
        })?;
        Ok(counts)
    }
}
