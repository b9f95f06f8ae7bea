//! Failures, with all that is known of them.

use std::ffi::NulError;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::ffi::{own_text, texts};
use crate::sys;

/// The kind of a failure: the codes of google.rpc, as in every language of dataflux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The caller asked to stop.
    Cancelled,
    /// The service said what no other code covers.
    Unknown,
    /// Bad input, found before any request where possible.
    InvalidArgument,
    /// The time limit passed.
    DeadlineExceeded,
    /// No such bucket, object or generation.
    NotFound,
    /// A create-only write met an object.
    AlreadyExists,
    /// HTTP 403.
    PermissionDenied,
    /// HTTP 429, or memory, threads or descriptors of this machine.
    ResourceExhausted,
    /// A condition does not hold; or a handle of the parent in the child of a fork.
    FailedPrecondition,
    /// A conflict with a change by somebody else.
    Aborted,
    /// The range lies beyond the object's end.
    OutOfRange,
    /// Known, and not supported.
    Unimplemented,
    /// An invariant broke, here or there.
    Internal,
    /// The network, or the service, cannot serve now.
    Unavailable,
    /// Bytes do not match their checksum.
    DataLoss,
    /// No credentials, or refused ones.
    Unauthenticated,
}

/// By their numbers, from 1.
const CODES: [(Code, &str); 16] = [
    (Code::Cancelled, "cancelled"),
    (Code::Unknown, "unknown"),
    (Code::InvalidArgument, "invalid_argument"),
    (Code::DeadlineExceeded, "deadline_exceeded"),
    (Code::NotFound, "not_found"),
    (Code::AlreadyExists, "already_exists"),
    (Code::PermissionDenied, "permission_denied"),
    (Code::ResourceExhausted, "resource_exhausted"),
    (Code::FailedPrecondition, "failed_precondition"),
    (Code::Aborted, "aborted"),
    (Code::OutOfRange, "out_of_range"),
    (Code::Unimplemented, "unimplemented"),
    (Code::Internal, "internal"),
    (Code::Unavailable, "unavailable"),
    (Code::DataLoss, "data_loss"),
    (Code::Unauthenticated, "unauthenticated"),
];

impl Code {
    pub(crate) fn of(status: sys::dataflux_status) -> Code {
        let place = usize::try_from(status).ok().and_then(|number| number.checked_sub(1));
        place.and_then(|at| CODES.get(at)).map_or(Code::Unknown, |&(code, _)| code)
    }

    pub(crate) fn number(self) -> sys::dataflux_status {
        let place = CODES.iter().position(|&(code, _)| code == self);
        place.map_or(sys::DATAFLUX_UNKNOWN, |at| at as sys::dataflux_status + 1)
    }

    /// Such as "not_found".
    pub fn name(self) -> &'static str {
        CODES.iter().find(|&&(code, _)| code == self).map_or("unknown", |&(_, name)| name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a call failed: what happened, of which object, after how many attempts, and what to do.
///
/// No text of it holds a secret.
pub struct Error(Box<Facts>);

#[derive(Clone, Debug)]
struct Facts {
    code: Code,
    message: String,
    text: String,
    verb: String,
    scheme: String,
    bucket: String,
    object: String,
    reason: String,
    request_id: String,
    generation: i64,
    http_status: u16,
    attempts: u32,
    retryable: bool,
    outcome_unknown: bool,
    retry_after: Duration,
}

/// The result of calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// One that this side of the boundary finds.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Facts {
            text: format!("{code}: {message}"),
            code,
            message,
            verb: String::new(),
            scheme: String::new(),
            bucket: String::new(),
            object: String::new(),
            reason: String::new(),
            request_id: String::new(),
            generation: 0,
            http_status: 0,
            attempts: 0,
            retryable: false,
            outcome_unknown: false,
            retry_after: Duration::ZERO,
        }))
    }

    /// Takes over what a function has left of its failure, which may be nothing.
    ///
    /// # Safety
    /// `error` is NULL or an error of the library that nobody else frees.
    pub(crate) unsafe fn take(
        status: sys::dataflux_status,
        error: *mut sys::dataflux_error,
    ) -> Error {
        if error.is_null() {
            let code = Code::of(status);
            return Error::new(code, "the library had no memory for the details of this failure");
        }
        // SAFETY: the error lives until it is freed below; its texts are copied before.
        unsafe {
            let text = |of: unsafe extern "C" fn(*const sys::dataflux_error) -> texts::Text| {
                own_text(of(error))
            };
            let made = Facts {
                code: Code::of(sys::dataflux_error_status(error)),
                message: text(sys::dataflux_error_message),
                text: text(sys::dataflux_error_text),
                verb: text(sys::dataflux_error_verb),
                scheme: text(sys::dataflux_error_scheme),
                bucket: text(sys::dataflux_error_bucket),
                object: text(sys::dataflux_error_object),
                reason: text(sys::dataflux_error_reason),
                request_id: text(sys::dataflux_error_request_id),
                generation: sys::dataflux_error_generation(error),
                http_status: sys::dataflux_error_http_status(error).try_into().unwrap_or(0),
                attempts: sys::dataflux_error_attempts(error).try_into().unwrap_or(0),
                retryable: sys::dataflux_error_retryable(error) != 0,
                outcome_unknown: sys::dataflux_error_outcome_unknown(error) != 0,
                retry_after: Duration::from_nanos(
                    sys::dataflux_error_retry_after_ns(error).try_into().unwrap_or(0),
                ),
            };
            sys::dataflux_error_free(error);
            Error(Box::new(made))
        }
    }

    /// The kind of failure.
    pub fn code(&self) -> Code {
        self.0.code
    }
    /// What happened and what to do, for a person.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// The request, such as "objects.get"; "" where there was none.
    pub fn verb(&self) -> &str {
        &self.0.verb
    }
    /// What the bucket's URLs begin with: "gs" or "s3".
    pub fn scheme(&self) -> &str {
        &self.0.scheme
    }
    /// The bucket; "" where none is known.
    pub fn bucket(&self) -> &str {
        &self.0.bucket
    }
    /// The object; "" where none is known.
    pub fn object(&self) -> &str {
        &self.0.object
    }
    /// The service's word for it, such as "rateLimitExceeded".
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
    /// The service's number of the request, for a support case.
    pub fn request_id(&self) -> &str {
        &self.0.request_id
    }
    /// The generation that was asked for.
    pub fn generation(&self) -> Option<i64> {
        Some(self.0.generation).filter(|&generation| generation != 0)
    }
    /// The status of the last reply; None where none came.
    pub fn http_status(&self) -> Option<u16> {
        Some(self.0.http_status).filter(|&status| status != 0)
    }
    /// How many requests were tried.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }
    /// Whether the same call may succeed later without any change.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }
    /// Whether the service may have carried out an attempt, or may still do so, despite the
    /// failure.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.outcome_unknown
    }
    /// How long the service asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        Some(self.0.retry_after).filter(|wait| !wait.is_zero())
    }
}

impl Clone for Error {
    fn clone(&self) -> Self {
        Error(self.0.clone())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One line for a log: all that is known.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

impl From<NulError> for Error {
    fn from(why: NulError) -> Self {
        let at = why.nul_position();
        Error::new(Code::InvalidArgument, format!("a text has a NUL, at byte {at}: no name may"))
    }
}

/// The error itself is inside: `error.get_ref()` and `downcast_ref::<dataflux::Error>()`.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.code() {
            Code::NotFound => io::ErrorKind::NotFound,
            Code::AlreadyExists => io::ErrorKind::AlreadyExists,
            Code::PermissionDenied | Code::Unauthenticated => io::ErrorKind::PermissionDenied,
            Code::InvalidArgument => io::ErrorKind::InvalidInput,
            Code::DeadlineExceeded => io::ErrorKind::TimedOut,
            Code::DataLoss => io::ErrorKind::InvalidData,
            Code::OutOfRange => io::ErrorKind::UnexpectedEof,
            Code::Unimplemented => io::ErrorKind::Unsupported,
            Code::ResourceExhausted => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
