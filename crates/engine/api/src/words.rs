//! The words of an interface for tools: what `parvum ps`, `why` and `trace` call the waits of its programs.

use crate::CoreApi;
use parvum_wire::calls;
use std::sync::atomic::{AtomicU32, Ordering};

/// The words of one interface. [`words!`](crate::words) makes it.
pub struct Words {
    text: &'static str,
    /// The number of its first word; 0: not published.
    first: AtomicU32,
}

impl Words {
    /// Words as `parvum_wire::calls` describes them.
    pub const fn new(text: &'static str) -> Words {
        Words { text, first: AtomicU32::new(0) }
    }

    /// The text.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Tells the engine. To be called before the interface joins the machine; more often does no harm.
    pub fn publish(&self, api: &CoreApi) {
        // Relaxed: for a person's eyes.
        self.first.store(api.describe(self.text).map_or(0, |before| before + 1), Ordering::Relaxed);
    }

    /// A kind of wait in the call whose line is `place`, from 0 on, among the lines with numbers.
    #[inline]
    pub fn within(&self, kind: u32, place: u32) -> u32 {
        match self.first.load(Ordering::Relaxed) {
            0 => kind,
            first => calls::within(kind, first + place),
        }
    }
}

/// The words of an interface: its line, then a function for each call that waits, with the kind of the wait and the line of the call.
/// Further lines may follow. Each function gives the number for [`Notes::call`](crate::Notes::call).
#[macro_export]
macro_rules! words {
    ($interface:literal; $($(#[$doc:meta])* $name:ident = $kind:ident, $line:literal;)* $(=> $other:literal;)?) => {
        static WORDS: $crate::Words =
            $crate::Words::new(concat!($interface, "\n", $($line, "\n",)* $($other)?));

        #[allow(non_camel_case_types)]
        enum Place { $($name),* }

        $($(#[$doc])*
        #[inline]
        pub(crate) fn $name() -> u32 {
            WORDS.within($crate::call::$kind, Place::$name as u32)
        })*

        /// Tells the engine these words.
        pub(crate) fn publish(api: $crate::CoreApi) {
            WORDS.publish(&api);
        }
    };
}
