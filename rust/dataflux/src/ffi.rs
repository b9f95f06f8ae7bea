//! The boundary: statuses to results, texts, handles. Nothing else turns a pointer into a value.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use crate::error::{Code, Error, Result};
use crate::sys;

pub(crate) mod texts {
    pub(crate) type Text = *const core::ffi::c_char;
}

/// Calls a function that can fail.
pub(crate) fn call(
    function: impl FnOnce(*mut *mut sys::dataflux_error) -> sys::dataflux_status,
) -> Result<()> {
    let mut error = ptr::null_mut();
    match function(&mut error) {
        sys::DATAFLUX_OK => Ok(()),
        // SAFETY: after a failure the error is ours.
        status => Err(unsafe { Error::take(status, error) }),
    }
}

/// Calls a function that gives a value by an out parameter.
pub(crate) fn made<T: Default>(
    function: impl FnOnce(&mut T, *mut *mut sys::dataflux_error) -> sys::dataflux_status,
) -> Result<T> {
    let mut out = T::default();
    call(|error| function(&mut out, error))?;
    Ok(out)
}

/// A text of the library as one of our own. Bytes that are no UTF-8 become U+FFFD.
///
/// # Safety
/// `text` is NULL or ends with a NUL.
pub(crate) unsafe fn own_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's word.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Takes a text that the library gives and the caller frees; None for NULL.
///
/// # Safety
/// `text` is NULL or of the library, and nobody else frees it.
pub(crate) unsafe fn take_text(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's word.
    unsafe {
        let own = own_text(text);
        sys::dataflux_text_free(text);
        Some(own)
    }
}

/// A text that a function gives by an out parameter, and which is ours.
pub(crate) fn given_text(
    function: impl FnOnce(*mut *mut c_char, *mut *mut sys::dataflux_error) -> sys::dataflux_status,
) -> Result<String> {
    let mut out = ptr::null_mut();
    call(|error| function(&mut out, error))?;
    // SAFETY: the function has succeeded, so the text is ours.
    Ok(unsafe { take_text(out) }.unwrap_or_default())
}

/// Texts as the library takes them; they live as long as this.
#[derive(Default)]
pub(crate) struct Texts(Vec<CString>);

impl Texts {
    pub(crate) fn add(&mut self, text: &str) -> Result<*const c_char> {
        let text = CString::new(text)?;
        // What a CString points to stays where it is when the vector grows.
        let place = text.as_ptr();
        self.0.push(text);
        Ok(place)
    }

    /// NULL for None.
    pub(crate) fn add_if(&mut self, text: Option<&str>) -> Result<*const c_char> {
        text.map_or(Ok(ptr::null()), |text| self.add(text))
    }

    /// The system's bytes, which need not be UTF-8.
    pub(crate) fn add_path(&mut self, path: &Path) -> Result<*const c_char> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let place = path.as_ptr();
        self.0.push(path);
        Ok(place)
    }

    pub(crate) fn add_all<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<*const c_char>> {
        texts.into_iter().map(|text| self.add(text)).collect()
    }
}

/// Nanoseconds; what is longer than 292 years has no limit.
pub(crate) fn nanoseconds(limit: Option<Duration>) -> Result<i64> {
    match limit {
        None => Ok(0),
        Some(Duration::ZERO) => {
            Err(Error::new(Code::InvalidArgument, "a time limit of 0 lets nothing happen"))
        }
        Some(limit) => Ok(i64::try_from(limit.as_nanos()).unwrap_or(0)),
    }
}

pub(crate) fn empty_if_null<'a, T>(data: *const T, count: u64) -> &'a [T] {
    if data.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the library gives a pointer to so many values, which live as long as the handle that
    // the caller borrows them from.
    unsafe { std::slice::from_raw_parts(data, count as usize) }
}

/// Memory that a call fills; no size ends the process.
pub(crate) fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| {
        let bytes = count.saturating_mul(size_of::<T>());
        Error::new(Code::ResourceExhausted, format!("no memory for {bytes} bytes"))
    })?;
    memory.resize(count, value);
    Ok(memory)
}

/// handle!(Name, type of the library, function that frees it): owns a handle.
macro_rules! handle {
    ($name:ident, $raw:ident, $free:ident) => {
        pub(crate) struct $name(std::ptr::NonNull<$crate::sys::$raw>);

        // SAFETY: the header lets each function be called on any thread but where it says so, and
        // there the owner has it by `&mut`.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// Owns what a function gives by its out parameter.
            #[allow(dead_code)]
            pub(crate) fn make(
                function: impl FnOnce(
                    *mut *mut $crate::sys::$raw,
                    *mut *mut $crate::sys::dataflux_error,
                ) -> $crate::sys::dataflux_status,
            ) -> $crate::error::Result<Self> {
                let mut out = std::ptr::null_mut();
                $crate::ffi::call(|error| function(&mut out, error))?;
                Self::own(out).ok_or_else(|| {
                    $crate::error::Error::new(
                        $crate::error::Code::Internal,
                        concat!(stringify!($raw), ": no handle came"),
                    )
                })
            }

            /// None for NULL.
            #[allow(dead_code)]
            pub(crate) fn own(raw: *mut $crate::sys::$raw) -> Option<Self> {
                std::ptr::NonNull::new(raw).map(Self)
            }

            #[allow(dead_code)]
            pub(crate) fn raw(&self) -> *mut $crate::sys::$raw {
                self.0.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is ours, and this is the last call on it.
                unsafe { $crate::sys::$free(self.0.as_ptr()) }
            }
        }
    };
}
pub(crate) use handle;

handle!(OperationHandle, dataflux_operation, dataflux_operation_free);
handle!(QueueHandle, dataflux_queue, dataflux_queue_free);
