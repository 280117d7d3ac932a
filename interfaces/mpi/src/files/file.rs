//! Files: parallel programs' own view of what lies on disk, over the system's calls.
//!
//! What a process reads or writes is a stream of bytes, in the order of its datatype; the view says where in the file that stream lies.
//! Every call is done when it returns, the nonblocking ones too. The pointer that all share is in `pointers`.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::files::places::beyond;
use crate::files::shared_pointer::Pointer;
use crate::objects::datatypes::Datatype;
use crate::objects::errhandlers::{Handler, HandlerSlot};
use crate::objects::handles::Objects;
use crate::objects::info::Info;
use crate::objects::numbers::Kind;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Access modes, as MPICH numbers them.
pub(crate) mod mode {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const RDONLY: i32 = 2;
    pub(crate) const WRONLY: i32 = 4;
    pub(crate) const RDWR: i32 = 8;
    pub(crate) const DELETE_ON_CLOSE: i32 = 16;
    pub(crate) const EXCL: i32 = 64;
    pub(crate) const APPEND: i32 = 128;
    pub(crate) const SEQUENTIAL: i32 = 256;
}

/// An open file.
pub(crate) struct File {
    pub(crate) comm: Arc<Comm>,
    file: std::fs::File,
    pub(crate) path: PathBuf,
    pub(crate) amode: i32,
    pub(crate) info: Mutex<Arc<Info>>,
    pub(crate) is_atomic: AtomicBool,
    pub(crate) errhandler: HandlerSlot,
    view: Mutex<View>,
    /// The pointer of all its processes.
    pub(crate) pointer: Pointer,
    /// What a split collective call has begun: how many bytes.
    pub(crate) begun: Mutex<Option<u64>>,
}

pub(crate) static FILES: Objects<File> = Objects::new(Kind::File);

/// The handler of files that are opened from now on, and of errors without a file.
pub(crate) static DEFAULT_HANDLER: HandlerSlot = HandlerSlot::new(Handler::RETURN);

/// The error handler of a file's handle.
pub(crate) fn handler_of(handle: i32) -> Handler {
    FILES.get(handle).map_or_else(|| DEFAULT_HANDLER.get(), |file| file.errhandler.get())
}

/// How bytes lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Representation {
    Native,
    Internal,
    External,
    /// A program's own, that says how far apart elements lie and converts nothing.
    Own(&'static Registered),
}

/// A representation that the program has named.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    name: String,
    /// Its function that tells extents, and what that is given.
    pub(crate) extent: usize,
    pub(crate) extra: usize,
}

/// As long as the process, for views may have them.
static REGISTERED: Mutex<Vec<&'static Registered>> = Mutex::new(Vec::new());

/// Names a representation.
pub(crate) fn register(name: &str, extent: usize, extra: usize) -> Mpi {
    let known = Representation::read(name).is_ok();
    if known {
        let text = format!("the data representation \"{name}\" is known already");
        return Err(Error::new(class::DUP_DATAREP, text));
    }
    let made = Registered { name: name.to_owned(), extent, extra };
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).push(Box::leak(Box::new(made)));
    Ok(())
}

impl Representation {
    pub(crate) fn read(name: &str) -> Mpi<Representation> {
        match name.to_ascii_lowercase().as_str() {
            "native" => Ok(Representation::Native),
            "internal" => Ok(Representation::Internal),
            "external32" => Ok(Representation::External),
            _ => {
                let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
                let own = registered.iter().find(|own| own.name == name);
                own.map(|own| Representation::Own(own)).ok_or_else(|| {
                    let text = format!(
                        "there is no data representation \"{name}\"; there are native, internal and external32, and what \
                         MPI_Register_datarep has named"
                    );
                    Error::new(class::UNSUPPORTED_DATAREP, text)
                })
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External => "external32",
            Representation::Own(own) => &own.name,
        }
    }
}

/// What a process sees of a file.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) displacement: i64,
    pub(crate) etype: (i32, Arc<Datatype>),
    pub(crate) filetype: (i32, Arc<Datatype>),
    pub(crate) representation: Representation,
    /// Bytes of an etype, in the file.
    pub(crate) unit: i64,
    /// Where the data of one filetype lies: offset and length; and from one to the next.
    runs: Arc<[(i64, i64)]>,
    tile: i64,
    extent: i64,
    /// The process's own pointer, in etypes.
    pub(crate) position: i64,
}

impl View {
    pub(crate) fn new(
        displacement: i64,
        etype: (i32, Arc<Datatype>),
        filetype: (i32, Arc<Datatype>),
        representation: Representation,
    ) -> Mpi<View> {
        if displacement < 0 {
            return Err(Error::new(class::ARG, format!("the displacement is {displacement}")));
        }
        let (e, f) = (&etype.1.layout, &filetype.1.layout);
        if e.size() <= 0 || f.size() % e.size() != 0 {
            return Err(Error::new(class::TYPE, "a filetype holds whole etypes, and an etype has data"));
        }
        let unit = match representation {
            Representation::External => crate::objects::external::size(e, 1)?,
            _ => e.size(),
        };
        let (runs, tile, extent) = match representation {
            Representation::External if !f.is_dense() => {
                let text = "external32 views take filetypes without holes";
                return Err(Error::new(class::UNSUPPORTED_DATAREP, text));
            }
            Representation::External => {
                let length = crate::objects::external::size(f, 1)?;
                (vec![(0, length)], length, length)
            }
            _ => {
                let pieces = f.pieces(1, std::ptr::null(), usize::MAX).unwrap_or_default();
                let runs = pieces.into_iter().map(|(at, length)| (at.addr() as i64, length as i64)).collect();
                (runs, f.size(), f.extent())
            }
        };
        if runs.iter().any(|&(at, _): &(i64, i64)| at < 0) {
            return Err(Error::new(class::IO, "a filetype's displacements are not negative"));
        }
        Ok(View {
            displacement,
            etype,
            filetype,
            representation,
            unit,
            runs: runs.into(),
            tile,
            extent,
            position: 0,
        })
    }

    /// The data of a view rises, and one that is written has no byte twice: so the standard has it for the etype and the filetype.
    pub(crate) fn refuse_disorder(&self, is_written: bool) -> Mpi {
        if self.representation == Representation::External {
            return Ok(());
        }
        // The filetype consists of the etype's data.
        for pair in self.runs.windows(2) {
            let ((start, length), (next, _)) = (pair[0], pair[1]);
            if next < start {
                return Err(Error::new(class::IO, "the displacements of a filetype fall"));
            }
            if is_written && next < start + length {
                return Err(Error::new(
                    class::IO,
                    "the filetype of a file that is written has overlapping data",
                ));
            }
        }
        Ok(())
    }

    /// Where the bytes of the stream from the etype `at` on lie, `length` of them: offsets in the file and lengths.
    fn places(&self, at: i64, length: i64) -> Mpi<Vec<(u64, usize)>> {
        let mut places: Vec<(u64, usize)> = Vec::new();
        if self.tile == 0 {
            return Ok(places);
        }
        // So wide that nothing wraps: a file may be almost so long as 64 bits say.
        let [tile_length, extent, displacement] = [self.tile, self.extent, self.displacement].map(i128::from);
        let mut at = i128::from(at) * i128::from(self.unit);
        let end = at + i128::from(length);
        while at < end {
            let (tile, mut skip) = (at / tile_length, at % tile_length);
            for &(offset, run) in self.runs.iter() {
                let (offset, run) = (i128::from(offset), i128::from(run));
                if skip >= run {
                    skip -= run;
                    continue;
                }
                let take = (run - skip).min(end - at);
                let start = displacement + tile * extent + offset + skip;
                if i64::try_from(start + take).is_err() {
                    return Err(beyond());
                }
                let (start, taken) = (start as u64, take as usize);
                match places.last_mut() {
                    Some((last, so_far)) if *last + *so_far as u64 == start => *so_far += taken,
                    _ => places.push((start, taken)),
                }
                at += take;
                skip = 0;
                if at == end {
                    break;
                }
            }
        }
        Ok(places)
    }

    /// The byte of the file at a place of the view, in etypes.
    pub(crate) fn byte_of(&self, offset: i64) -> Mpi<i64> {
        match self.places(offset, 1)?.first() {
            Some(&(byte, _)) => Ok(byte as i64),
            None => Ok(self.displacement),
        }
    }

    /// The place of the view behind the last byte of a file so long, in etypes.
    pub(crate) fn end(&self, size: i64) -> i64 {
        let rest = (size - self.displacement).max(0);
        if self.extent <= 0 {
            return 0;
        }
        let (tiles, over) = (rest / self.extent, rest % self.extent);
        let inside: i64 = self.runs.iter().map(|&(at, length)| (over - at).clamp(0, length)).sum();
        let stream = i128::from(tiles) * i128::from(self.tile) + i128::from(inside);
        i64::try_from((stream + i128::from(self.unit) - 1) / i128::from(self.unit)).unwrap_or(i64::MAX)
    }

    /// Moves the process's own pointer; where it was.
    pub(crate) fn advance(&mut self, steps: i64) -> Mpi<i64> {
        let before = self.position;
        self.position = before.checked_add(steps).ok_or_else(beyond)?;
        Ok(before)
    }
}

impl File {
    pub(crate) fn new(
        comm: Arc<Comm>,
        file: std::fs::File,
        path: PathBuf,
        amode: i32,
        (view, pointer): (View, Pointer),
    ) -> File {
        File {
            comm,
            file,
            path,
            amode,
            info: Mutex::default(),
            is_atomic: AtomicBool::new(false),
            errhandler: HandlerSlot::new(Handler::RETURN),
            view: Mutex::new(view),
            pointer,
            begun: Mutex::new(None),
        }
    }

    /// The view, as it is now. It is a copy: nobody holds the lock while something else is done.
    pub(crate) fn view(&self) -> View {
        self.locked_view().clone()
    }

    /// Changes the view.
    pub(crate) fn change_view<T>(&self, change: impl FnOnce(&mut View) -> T) -> T {
        change(&mut self.locked_view())
    }

    fn locked_view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn size(&self) -> Mpi<i64> {
        size_of(&self.file, &self.path)
    }

    pub(crate) fn set_size(&self, size: i64) -> Mpi {
        self.file.set_len(size as u64).map_err(|error| failed(&error, &self.path))
    }

    pub(crate) fn sync(&self) -> Mpi {
        self.file.sync_data().map_err(|error| failed(&error, &self.path))
    }

    /// Writes a stream at a place of the view, in etypes.
    pub(crate) fn write(&self, at: i64, bytes: &[u8]) -> Mpi {
        if self.amode & mode::RDONLY != 0 {
            return Err(Error::new(class::READ_ONLY, "the file was opened with MPI_MODE_RDONLY"));
        }
        let places = self.view().places(at, bytes.len() as i64)?;
        let _held = self.hold_if_atomic()?;
        let mut done = 0;
        for (offset, length) in places {
            let part = &bytes[done..done + length];
            self.file.write_all_at(part, offset).map_err(|error| failed(&error, &self.path))?;
            done += length;
        }
        Ok(())
    }

    /// Reads a stream from a place of the view, in etypes: as many bytes as there are.
    pub(crate) fn read(&self, at: i64, bytes: &mut [u8]) -> Mpi<usize> {
        if self.amode & mode::WRONLY != 0 {
            return Err(Error::new(class::ACCESS, "the file was opened with MPI_MODE_WRONLY"));
        }
        let places = self.view().places(at, bytes.len() as i64)?;
        let _held = self.hold_if_atomic()?;
        let mut done = 0;
        for (offset, length) in places {
            let mut got = 0;
            while got < length {
                let room = &mut bytes[done + got..done + length];
                match self.file.read_at(room, offset + got as u64) {
                    Ok(0) => return Ok(done + got),
                    Ok(more) => got += more,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed(&error, &self.path)),
                }
            }
            done += length;
        }
        Ok(done)
    }

    fn hold_if_atomic(&self) -> Mpi<Option<FileLock<'_>>> {
        match self.is_atomic.load(std::sync::atomic::Ordering::Relaxed) {
            true => FileLock::take(&self.file, self.amode & mode::RDONLY == 0, &self.path).map(Some),
            false => Ok(None),
        }
    }
}

/// A lock of the system's on a whole file, held by this descriptor.
struct FileLock<'f>(&'f std::fs::File);

fn lock(kind: i32) -> libc::flock {
    // SAFETY: a struct of numbers, for which zeroes are values.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock
}

impl FileLock<'_> {
    fn take<'f>(file: &'f std::fs::File, to_write: bool, path: &Path) -> Mpi<FileLock<'f>> {
        let wanted = lock(if to_write { libc::F_WRLCK } else { libc::F_RDLCK });
        loop {
            // SAFETY: the descriptor is open, and the struct lives during the call.
            if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &wanted) } == 0 {
                return Ok(FileLock(file));
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(failed(&error, path));
            }
        }
    }
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        let free = lock(libc::F_UNLCK);
        // SAFETY: as in `take`. Nothing can be done when it fails; the lock ends with the descriptor.
        unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_OFD_SETLKW, &free) };
    }
}

/// Bytes of a file.
pub(crate) fn size_of(file: &std::fs::File, path: &Path) -> Mpi<i64> {
    file.metadata().map(|facts| facts.len() as i64).map_err(|error| failed(&error, path))
}

/// What the system's error means.
#[cold]
pub(crate) fn failed(error: &std::io::Error, path: &Path) -> Error {
    let class = match error.kind() {
        ErrorKind::NotFound => class::NO_SUCH_FILE,
        ErrorKind::AlreadyExists => class::FILE_EXISTS,
        ErrorKind::PermissionDenied => class::ACCESS,
        ErrorKind::IsADirectory | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => class::BAD_FILE,
        ErrorKind::StorageFull => class::NO_SPACE,
        ErrorKind::QuotaExceeded => class::QUOTA,
        ErrorKind::ReadOnlyFilesystem => class::READ_ONLY,
        _ => class::IO,
    };
    Error::new(class, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_datatypes::{Basic, Type};

    fn of(layout: Type) -> (i32, Arc<Datatype>) {
        (0, Arc::new(Datatype::new(layout, true)))
    }

    #[test]
    fn view_maps_offsets_to_byte_positions() {
        let int = Type::basic(Basic::Int);
        let pair = Type::resized(0, 16, &Type::vector(2, 1, 2, &int).expect("a type")).expect("a type");
        let view = View::new(100, of(int), of(pair), Representation::Native).expect("a view");
        assert_eq!(view.places(0, 8), Ok(vec![(100, 4), (108, 4)]));
        assert_eq!(view.places(1, 6), Ok(vec![(108, 4), (116, 2)]));
        assert_eq!((view.byte_of(0), view.byte_of(1), view.byte_of(2)), (Ok(100), Ok(108), Ok(116)));
        assert_eq!((view.end(0), view.end(104), view.end(112), view.end(132)), (0, 1, 2, 4));
    }

    #[test]
    fn view_position_beyond_64_bits_is_refused() {
        let line = of(Type::contiguous(16, &Type::basic(Basic::Char)).expect("a type"));
        let mut view = View::new(8, line.clone(), line, Representation::Native).expect("a view");
        assert_eq!(view.places(i64::MAX / 32, 16).map(|places| places.len()), Ok(1));
        for far in [1 << 60, (1 << 60) + 2, 1 << 59, i64::MAX / 16, i64::MAX] {
            assert_eq!(view.places(far, 16).expect_err("too far").code, class::ARG, "{far}");
        }
        assert_eq!(view.byte_of(1 << 59).expect_err("too far").code, class::ARG);
        view.position = 1;
        assert!(view.advance(i64::MAX).is_err() && view.position == 1);
    }

    #[test]
    fn view_with_invalid_types_is_refused() {
        let (int, double) = (Type::basic(Basic::Int), Type::basic(Basic::Double));
        let view =
            |at, e: &Type, f: &Type| View::new(at, of(e.clone()), of(f.clone()), Representation::Native);
        assert_eq!(view(-1, &int, &int).err().map(|error| error.code), Some(class::ARG));
        assert_eq!(view(0, &double, &int).err().map(|error| error.code), Some(class::TYPE));
        assert!(Representation::read("fancy").is_err() && Representation::read("External32").is_ok());
    }
}
