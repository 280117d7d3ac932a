//! How two elements are combined in a reduction.

use std::sync::Arc;

/// What is done with two elements: the second is combined into the first.
#[derive(Clone)]
pub(crate) enum Combine {
    /// Of the table of operators.
    Plain(fn(&mut [u8], &[u8])),
    Made(Arc<Combining>),
}

type Combining = dyn Fn(&mut [u8], &[u8]) + Send + Sync;

impl Combine {
    /// Combines nothing.
    pub(crate) const NOTHING: Combine = Combine::Plain(|_, _| {});

    pub(crate) fn made(combine: impl Fn(&mut [u8], &[u8]) + Send + Sync + 'static) -> Combine {
        Combine::Made(Arc::new(combine))
    }

    /// The first becomes what the two are together.
    #[inline]
    pub(crate) fn apply(&self, first: &mut [u8], second: &[u8]) {
        match self {
            Combine::Plain(combine) => combine(first, second),
            Combine::Made(combine) => combine(first, second),
        }
    }
}
