//! Control variables: options that a program reads from its environment in the first call that needs the machine. Until then a tool
//! may set them.

use super::{ToolResult, fault};

/// An option, by the name of its variable.
pub(crate) struct OptionOf {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) kind: Kind,
}

/// What its values are.
pub(crate) enum Kind {
    /// One of these words, `MPI_INT` in an enumeration of this name; the first is the default.
    Words(&'static str, &'static [&'static str]),
    /// So many bytes, `MPI_UNSIGNED_LONG_LONG`; what it is unless told otherwise.
    Bytes(u64),
}

/// A value of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Word(i32),
    Bytes(u64),
}

pub(crate) static OPTIONS: [OptionOf; 4] = [
    OptionOf {
        name: "PARVUM_ROUTE",
        what: "the way of every message that this process sends",
        kind: Kind::Words("route", &["auto", "shm", "tcp", "routed", "fabric"]),
    },
    OptionOf {
        name: "PARVUM_SINGLE_COPY",
        what: "whether long messages on one host go from memory to memory without a buffer between",
        kind: Kind::Words("switch", &["on", "off"]),
    },
    OptionOf {
        name: "PARVUM_CREDIT",
        what: "bytes that one receiver may have unconsumed from this process before sends wait",
        kind: Kind::Bytes(64 << 20),
    },
    OptionOf {
        name: "PARVUM_MEMORY",
        what: "bytes kept beyond the credit when processes that wait to send hold each other up; 0: a quarter of the host's memory",
        kind: Kind::Bytes(0),
    },
];

impl OptionOf {
    /// What the environment says, or else the default.
    pub(crate) fn value(&self, said: Option<&str>) -> ToolResult<Value> {
        let said = said.filter(|said| !said.is_empty());
        match (&self.kind, said) {
            (Kind::Words(..), None) => Ok(Value::Word(0)),
            (Kind::Words(_, words), Some(said)) => {
                let place = words.iter().position(|word| *word == said).ok_or(fault::NOT_ACCESSIBLE)?;
                Ok(Value::Word(place as i32))
            }
            (Kind::Bytes(default), None) => Ok(Value::Bytes(*default)),
            (Kind::Bytes(_), Some(said)) => said.parse().map(Value::Bytes).map_err(|_| fault::NOT_ACCESSIBLE),
        }
    }

    /// How a value is written in the environment.
    pub(crate) fn text(&self, value: Value) -> ToolResult<String> {
        match (&self.kind, value) {
            (Kind::Words(_, words), Value::Word(place)) => {
                let word = usize::try_from(place).ok().and_then(|place| words.get(place));
                Ok((*word.ok_or(fault::INVALID)?).to_owned())
            }
            (Kind::Bytes(_), Value::Bytes(bytes)) => Ok(bytes.to_string()),
            _ => Err(fault::INVALID),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_option_reads_back_as_written() {
        for option in &OPTIONS {
            let value = match &option.kind {
                Kind::Words(_, words) => Value::Word(words.len() as i32 - 1),
                Kind::Bytes(_) => Value::Bytes(1 << 40),
            };
            let text = option.text(value).expect("a value of its kind");
            assert_eq!(option.value(Some(&text)), Ok(value));
            assert_eq!(option.value(Some("no such")), Err(fault::NOT_ACCESSIBLE));
            assert_eq!(option.value(Some("")), option.value(None));
        }
        assert_eq!(OPTIONS[0].text(Value::Word(5)), Err(fault::INVALID));
        assert_eq!(OPTIONS[0].text(Value::Word(-1)), Err(fault::INVALID));
    }
}
