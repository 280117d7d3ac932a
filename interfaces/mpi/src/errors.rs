//! Errors: a class that programs test, and a text for people.
//!
//! The code that a call gives is its class with a number above it: as long as the last few errors of the process are remembered, the
//! code's text says what was wrong with which argument, and afterwards what its class means.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// What a call gives.
pub type Mpi<T = ()> = Result<T, Error>;

/// Why a call failed.
///
/// One word: what a call gives then fits into registers. A larger one goes through memory, in pieces, and is read as a whole, for which
/// the processor waits until everything that it has stored before is in its cache, a message on its way to another core too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Cause>);

/// What an error says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The class, or the code of a program's own.
    pub code: i32,
    /// What was wrong, for people.
    pub text: String,
    /// The communicator whose error it is, where the call does not name it.
    pub on: Option<i32>,
}

impl Deref for Error {
    type Target = Cause;

    fn deref(&self) -> &Cause {
        &self.0
    }
}

macro_rules! classes {
    ($($name:ident $number:literal $spoken:literal $text:literal)*) => {
        /// The classes, by MPI's names.
        #[allow(missing_docs, reason = "they are MPI's names")]
        pub mod class {
            $(pub const $name: i32 = $number;)*
        }

        const CLASSES: &[(i32, &str, &str)] = &[$(($number, $spoken, $text)),*];
    };
}

classes! {
    SUCCESS 0 "MPI_SUCCESS" "no error"
    BUFFER 1 "MPI_ERR_BUFFER" "the buffer cannot be used"
    COUNT 2 "MPI_ERR_COUNT" "the count is not valid"
    TYPE 3 "MPI_ERR_TYPE" "no such datatype, or it is not committed"
    TAG 4 "MPI_ERR_TAG" "a tag must lie between 0 and MPI_TAG_UB"
    COMM 5 "MPI_ERR_COMM" "no such communicator"
    RANK 6 "MPI_ERR_RANK" "the communicator has no such rank"
    ROOT 7 "MPI_ERR_ROOT" "the communicator has no such root"
    GROUP 8 "MPI_ERR_GROUP" "no such group"
    OP 9 "MPI_ERR_OP" "no such operation, or it is not for this datatype"
    TOPOLOGY 10 "MPI_ERR_TOPOLOGY" "the communicator has no such topology"
    DIMS 11 "MPI_ERR_DIMS" "the dimensions are not valid"
    ARG 12 "MPI_ERR_ARG" "an argument is not valid"
    UNKNOWN 13 "MPI_ERR_UNKNOWN" "an unknown error"
    TRUNCATE 14 "MPI_ERR_TRUNCATE" "the message is longer than the receive buffer"
    OTHER 15 "MPI_ERR_OTHER" "another error: its text says which"
    INTERN 16 "MPI_ERR_INTERN" "an error inside Parvum"
    IN_STATUS 17 "MPI_ERR_IN_STATUS" "the error is in the statuses"
    PENDING 18 "MPI_ERR_PENDING" "the request is still under way"
    REQUEST 19 "MPI_ERR_REQUEST" "no such request"
    ACCESS 20 "MPI_ERR_ACCESS" "permission denied"
    AMODE 21 "MPI_ERR_AMODE" "the file's access mode is not valid"
    BAD_FILE 22 "MPI_ERR_BAD_FILE" "the file's name is not valid"
    CONVERSION 23 "MPI_ERR_CONVERSION" "a conversion function of the program's failed"
    DUP_DATAREP 24 "MPI_ERR_DUP_DATAREP" "the data representation is known already"
    FILE_EXISTS 25 "MPI_ERR_FILE_EXISTS" "the file exists"
    FILE_IN_USE 26 "MPI_ERR_FILE_IN_USE" "the file is in use"
    FILE 27 "MPI_ERR_FILE" "no such file handle"
    INFO 28 "MPI_ERR_INFO" "no such info object"
    INFO_KEY 29 "MPI_ERR_INFO_KEY" "the info key is empty or too long"
    INFO_VALUE 30 "MPI_ERR_INFO_VALUE" "the info value is too long"
    INFO_NOKEY 31 "MPI_ERR_INFO_NOKEY" "the info object has no such key"
    IO 32 "MPI_ERR_IO" "input or output failed"
    NAME 33 "MPI_ERR_NAME" "no such name is published"
    NO_MEM 34 "MPI_ERR_NO_MEM" "there is not enough memory"
    NOT_SAME 35 "MPI_ERR_NOT_SAME" "an argument must be the same on all ranks"
    NO_SPACE 36 "MPI_ERR_NO_SPACE" "there is no space left for the file"
    NO_SUCH_FILE 37 "MPI_ERR_NO_SUCH_FILE" "there is no such file"
    PORT 38 "MPI_ERR_PORT" "no such port"
    QUOTA 39 "MPI_ERR_QUOTA" "the quota is used up"
    READ_ONLY 40 "MPI_ERR_READ_ONLY" "the file or file system is read-only"
    SERVICE 41 "MPI_ERR_SERVICE" "the name is not published by this program"
    SPAWN 42 "MPI_ERR_SPAWN" "processes could not be started"
    UNSUPPORTED_DATAREP 43 "MPI_ERR_UNSUPPORTED_DATAREP" "the data representation is not supported"
    UNSUPPORTED_OPERATION 44 "MPI_ERR_UNSUPPORTED_OPERATION" "the operation is not supported"
    WIN 45 "MPI_ERR_WIN" "no such window"
    BASE 46 "MPI_ERR_BASE" "the base address is not valid"
    LOCKTYPE 47 "MPI_ERR_LOCKTYPE" "the lock type is not valid"
    KEYVAL 48 "MPI_ERR_KEYVAL" "no such attribute key"
    RMA_CONFLICT 49 "MPI_ERR_RMA_CONFLICT" "accesses to a window conflict"
    RMA_SYNC 50 "MPI_ERR_RMA_SYNC" "the window is not in an epoch that permits this"
    SIZE 51 "MPI_ERR_SIZE" "the size is not valid"
    DISP 52 "MPI_ERR_DISP" "the displacement is not valid"
    ASSERT 53 "MPI_ERR_ASSERT" "the assertion is not valid"
    RMA_RANGE 55 "MPI_ERR_RMA_RANGE" "the target memory is not in the window"
    RMA_ATTACH 56 "MPI_ERR_RMA_ATTACH" "the memory cannot be attached"
    RMA_SHARED 57 "MPI_ERR_RMA_SHARED" "the memory cannot be shared"
    RMA_FLAVOR 58 "MPI_ERR_RMA_FLAVOR" "the window is of another flavor"
    SESSION 75 "MPI_ERR_SESSION" "no such session"
    PROC_ABORTED 76 "MPI_ERR_PROC_ABORTED" "a process has aborted"
    VALUE_TOO_LARGE 77 "MPI_ERR_VALUE_TOO_LARGE" "the value does not fit"
    ERRHANDLER 80 "MPI_ERR_ERRHANDLER" "no such error handler"
    ABI 81 "MPI_ERR_ABI" "this was set already for the binary interface"
    PROC_FAILED 101 "MPIX_ERR_PROC_FAILED" "a process has died"
    PROC_FAILED_PENDING 102 "MPIX_ERR_PROC_FAILED_PENDING" "a process that may be the sender has died; the request goes on"
    REVOKED 103 "MPIX_ERR_REVOKED" "the communicator was revoked"
}

impl Error {
    /// An error of a class, with what was wrong.
    #[cold]
    pub fn new(class: i32, text: impl Into<String>) -> Error {
        Error(Box::new(Cause { code: class, text: text.into(), on: None }))
    }

    /// The same, of that communicator.
    pub fn of_comm(mut self, comm: i32) -> Error {
        self.0.on = Some(comm);
        self
    }

    /// The same with another class or code.
    pub fn with_code(mut self, code: i32) -> Error {
        self.0.code = code;
        self
    }

    /// The same with another text.
    pub fn with_text(mut self, text: String) -> Error {
        self.0.text = text;
        self
    }

    /// The class.
    pub fn class(&self) -> i32 {
        class_of(self.code).unwrap_or(class::UNKNOWN)
    }

    /// The code that the program gets; its text is remembered.
    pub fn into_code(self) -> i32 {
        if self.code & OWN != 0 || self.code > CLASS_BITS || self.text.is_empty() {
            return self.code;
        }
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        recent.number = recent.number % MOST_NUMBERS + 1;
        let number = recent.number;
        let place = number as usize % REMEMBERED;
        let Cause { code, text, .. } = *self.0;
        recent.texts[place] = (number, text);
        code | number << 8
    }
}

/// Where the number of a remembered text begins in a code.
const CLASS_BITS: i32 = 0xff;
/// Marks codes and classes of the program's own.
const OWN: i32 = 1 << 30;
const MOST_NUMBERS: i32 = (OWN >> 8) - 1;
const REMEMBERED: usize = 64;

struct Recent {
    number: i32,
    texts: [(i32, String); REMEMBERED],
}

static RECENT: Mutex<Recent> =
    Mutex::new(Recent { number: 0, texts: [const { (0, String::new()) }; REMEMBERED] });

/// What the program has added: for each code its class and its text.
static OWN_CODES: Mutex<BTreeMap<i32, (i32, Vec<u8>)>> = Mutex::new(BTreeMap::new());

/// The class of a code; `None`: it is none.
pub fn class_of(code: i32) -> Option<i32> {
    if code & OWN != 0 {
        return own(code).map(|(class, _)| class);
    }
    let class = code & CLASS_BITS;
    (code >= 0 && CLASSES.iter().any(|&(number, ..)| number == class)).then_some(class)
}

fn own(code: i32) -> Option<(i32, Vec<u8>)> {
    OWN_CODES.lock().unwrap_or_else(PoisonError::into_inner).get(&code).cloned()
}

/// The name of a class, for people.
pub fn name_of(class: i32) -> &'static str {
    CLASSES.iter().find(|&&(number, ..)| number == class).map_or("an error", |&(_, name, _)| name)
}

/// The text of a code, which may be the program's own; `None`: it is none.
pub fn text_of(code: i32) -> Option<Vec<u8>> {
    if code & OWN != 0 {
        return own(code).map(|(_, text)| text);
    }
    let class = class_of(code)?;
    let (_, name, text) = CLASSES.iter().find(|&&(number, ..)| number == class)?;
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let number = code >> 8;
    let (kept, detail) = &recent.texts[number as usize % REMEMBERED];
    let said = if number != 0 && *kept == number { detail } else { *text };
    Some(format!("{name}: {said}").into_bytes())
}

/// Adds a class, or with a class a code of it, of the program's own.
pub fn add(class: Option<i32>) -> Mpi<i32> {
    if let Some(class) = class
        && class_of(class) != Some(class)
    {
        return Err(Error::new(class::ARG, format!("{class} is no error class")));
    }
    let mut codes = OWN_CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let code = codes.keys().next_back().map_or(OWN, |last| last + 1);
    codes.insert(code, (class.unwrap_or(code), Vec::new()));
    Ok(code)
}

/// Gives a code of the program's own its text.
pub fn set_text(code: i32, text: Vec<u8>) -> Mpi {
    match OWN_CODES.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&code) {
        Some(entry) => entry.1 = text,
        None => return Err(not_own(code)),
    }
    Ok(())
}

/// Takes back what [`add`] gave: when it has no text any more, and a class when it has no codes.
pub fn remove(code: i32) -> Mpi {
    let mut codes = OWN_CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, text) = codes.get(&code).ok_or_else(|| not_own(code))?;
    if !text.is_empty() {
        return Err(Error::new(class::ARG, format!("{code} has a text: remove that first")));
    }
    if codes.iter().any(|(&other, &(class, _))| class == code && other != code) {
        return Err(Error::new(class::ARG, format!("the class {code} has codes: remove them first")));
    }
    codes.remove(&code);
    Ok(())
}

fn not_own(code: i32) -> Error {
    Error::new(class::ARG, format!("{code} is no error code that this program has added"))
}

/// The largest code in use: the attribute `MPI_LASTUSEDCODE`.
pub fn last_used() -> i32 {
    let codes = OWN_CODES.lock().unwrap_or_else(PoisonError::into_inner);
    codes.keys().next_back().copied().unwrap_or(OWN - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_code_has_class_and_message() {
        let code = Error::new(class::TAG, "the tag is -7").into_code();
        assert_eq!(class_of(code), Some(class::TAG));
        assert_eq!(text_of(code).as_deref(), Some(&b"MPI_ERR_TAG: the tag is -7"[..]));
        for _ in 0..REMEMBERED {
            Error::new(class::RANK, "another").into_code();
        }
        assert_eq!(text_of(code), text_of(class::TAG));
        assert_eq!((class_of(200), class_of(-3), text_of(54)), (None, None, None));
    }

    #[test]
    fn program_adds_error_class_code_and_string() {
        let class = add(None).expect("a class");
        let code = add(Some(class)).expect("a code");
        assert_eq!((class_of(code), text_of(code).as_deref()), (Some(class), Some(&b""[..])));
        set_text(code, b"full\xff".into()).expect("its own");
        assert_eq!(text_of(code).as_deref(), Some(&b"full\xff"[..]));
        assert_eq!(add(Some(77777)).expect_err("no class").code, class::ARG);
        assert!(last_used() >= code);
        assert_eq!(remove(code).expect_err("has a text").code, class::ARG);
        set_text(code, Vec::new()).expect("its own");
        assert_eq!(remove(class).expect_err("has a code").code, class::ARG);
        remove(code).expect("its own");
        remove(class).expect("its own");
        assert_eq!(set_text(class::TAG, b"mine".into()).expect_err("MPI's").code, class::ARG);
    }
}
