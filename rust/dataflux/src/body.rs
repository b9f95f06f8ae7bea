//! Bytes that are written.

use crate::data::Data;

/// Bytes to be written: borrowed ones, or anything that owns some.
pub enum Body<'a> {
    #[doc(hidden)]
    Borrowed(&'a [u8]),
    #[doc(hidden)]
    Owned(Box<dyn AsRef<[u8]> + Send + Sync>),
}

impl Body<'static> {
    /// Whatever owns bytes.
    pub fn owned(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Body<'static> {
        Body::Owned(Box::new(bytes))
    }
}

impl Body<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Body::Borrowed(bytes) => bytes,
            Body::Owned(bytes) => (**bytes).as_ref(),
        }
    }
}

impl<'a> From<&'a [u8]> for Body<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a, const N: usize> From<&'a [u8; N]> for Body<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a> From<&'a Vec<u8>> for Body<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a> From<&'a str> for Body<'a> {
    fn from(text: &'a str) -> Self {
        Body::Borrowed(text.as_bytes())
    }
}
impl From<Vec<u8>> for Body<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Body::Owned(Box::new(bytes))
    }
}
impl From<String> for Body<'_> {
    fn from(text: String) -> Self {
        Body::Owned(Box::new(text))
    }
}
impl From<Data> for Body<'_> {
    fn from(data: Data) -> Self {
        Body::Owned(Box::new(data))
    }
}
#[cfg(feature = "bytes")]
impl From<bytes::Bytes> for Body<'_> {
    fn from(bytes: bytes::Bytes) -> Self {
        Body::Owned(Box::new(bytes))
    }
}
