//! What travels on a connection: pure functions, one format per file. Numbers
//! are little-endian. A peer may send anything: nothing here trusts a length.

pub mod frames;
pub mod header;
pub mod hello;

/// Bytes that are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Garbled {
    /// The bytes end too early.
    #[error("{0} ends too early")]
    Short(&'static str),
    /// Bytes follow that nobody asked for.
    #[error("{0} has bytes to spare")]
    Long(&'static str),
    /// A value that has no meaning.
    #[error("{0} cannot be read")]
    Value(&'static str),
    /// A length above its bound.
    #[error("{what} of {length} bytes is over the bound of {bound}")]
    Bound {
        /// What is too long.
        what: &'static str,
        /// How long it says it is.
        length: usize,
        /// How long it may be.
        bound: usize,
    },
}

/// Reads fields one after another.
struct Fields<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn new(what: &'static str, bytes: &'a [u8]) -> Fields<'a> {
        Fields { what, rest: bytes }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Garbled> {
        let (field, rest) = self.rest.split_at_checked(length).ok_or(Garbled::Short(self.what))?;
        self.rest = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Garbled::Short(self.what))?;
        self.rest = rest;
        Ok(*field)
    }

    /// A text of up to 255 bytes.
    fn text(&mut self) -> Result<String, Garbled> {
        let [length] = self.array()?;
        let text = std::str::from_utf8(self.take(length.into())?).map_err(|_| Garbled::Value(self.what))?;
        // It ends up in logs and on terminals.
        if text.chars().any(char::is_control) {
            return Err(Garbled::Value(self.what));
        }
        Ok(text.to_owned())
    }

    fn end(self) -> Result<(), Garbled> {
        if self.rest.is_empty() { Ok(()) } else { Err(Garbled::Long(self.what)) }
    }
}

/// Appends a text as [`Fields::text`] reads it, cut to what fits.
fn put_text(out: &mut Vec<u8>, text: &str) {
    let cut = text.get(..text.floor_char_boundary(255)).unwrap_or_default();
    out.push(cut.len() as u8);
    out.extend_from_slice(cut.as_bytes());
}
