//! Files: opening them, views, pointers, data representations.

use super::{get, give_text, put, text};
use crate::calling::calling;
use crate::collective::{Call, run};
use crate::comm::comm;
use crate::datatypes::{any_datatype, datatype, is_predefined, keep};
use crate::errhandlers::{Handler, HandlerSlot};
use crate::errors::{Error, Mpi, class};
use crate::files::{FILES, File, Registered, Representation, View, failed, mode};
use crate::info::{Info, hints};
use crate::making::{duplicate, say_to_all};
use crate::numbers::{Kind, MAX_OBJECT_NAME};
use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// The handler of files that are opened from now on, and of errors without a file.
static DEFAULT_HANDLER: HandlerSlot = HandlerSlot::new(Handler::RETURN);

pub(super) fn file(handle: i32) -> Mpi<Arc<File>> {
    FILES.get(handle).ok_or_else(|| Error::new(class::FILE, "the handle names no open file"))
}

/// The error handler of a file's handle.
pub(crate) fn handler_of_file(handle: i32) -> Handler {
    FILES.get(handle).map_or_else(|| DEFAULT_HANDLER.get(), |file| file.errhandler.get())
}

fn checked_mode(amode: i32) -> Mpi {
    let wrong = |text: &str| Err(Error::new(class::AMODE, text));
    let access = [mode::RDONLY, mode::WRONLY, mode::RDWR].iter().filter(|&&bit| amode & bit != 0).count();
    match () {
        () if access != 1 => wrong("exactly one of MPI_MODE_RDONLY, WRONLY and RDWR must be there"),
        () if amode & mode::RDONLY != 0 && amode & (mode::CREATE | mode::EXCL) != 0 => {
            wrong("MPI_MODE_RDONLY goes with neither CREATE nor EXCL")
        }
        () if amode & mode::RDWR != 0 && amode & mode::SEQUENTIAL != 0 => {
            wrong("MPI_MODE_RDWR does not go with SEQUENTIAL")
        }
        () => Ok(()),
    }
}

fn open(path: &Path, amode: i32, creates: bool) -> Mpi<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(amode & mode::WRONLY == 0).write(amode & mode::RDONLY == 0);
    if creates && amode & mode::CREATE != 0 {
        match amode & mode::EXCL {
            0 => options.create(true).truncate(false),
            _ => options.create_new(true),
        };
    }
    options.open(path).map_err(|error| failed(&error, path))
}

pub unsafe fn file_open(handle: i32, name: *const c_char, amode: i32, info: i32, place: *mut usize) -> Mpi {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise. A name may say which file system it is of.
    let name = unsafe { text(name)? };
    let path = PathBuf::from(
        name.split_once(':')
            .filter(|(kind, _)| *kind == "ufs" || *kind == "nfs")
            .map_or(&*name, |(_, rest)| rest),
    );
    let own = hints(info).and_then(|hints| checked_mode(amode).map(|()| hints));
    let modes = say_to_all(&comm, &amode.to_ne_bytes())?;
    let own = match modes.iter().all(|mode| *mode == amode.to_ne_bytes()) {
        true => own,
        false => Err(Error::new(class::NOT_SAME, "the ranks open the file with different access modes")),
    };
    // The first creates it; the others open it when it is there.
    let mut opened = match (&own, comm.rank()) {
        (Ok(_), 0) => Some(open(&path, amode, true)),
        _ => None,
    };
    let first = opened
        .as_ref()
        .and_then(|opened| opened.as_ref().err().map(Error::class))
        .or(own.as_ref().err().map(Error::class));
    let codes = say_to_all(&comm, &first.unwrap_or(0).to_ne_bytes())?;
    let whose = |codes: &[Vec<u8>]| {
        codes
            .iter()
            .map(|code| i32::from_ne_bytes([code[0], code[1], code[2], code[3]]))
            .find(|&code| code != 0)
    };
    if whose(&codes).is_none() && comm.rank() != 0 {
        opened = Some(open(&path, amode, false));
    }
    let second = opened.as_ref().and_then(|opened| opened.as_ref().err().map(Error::class));
    let more = say_to_all(&comm, &second.unwrap_or(0).to_ne_bytes())?;
    let hints = own?;
    if let Some(code) = whose(&codes).or(whose(&more)) {
        return Err(match opened {
            Some(Err(error)) => error,
            _ => Error::new(code, format!("{}: another rank could not open it", path.display())),
        });
    }
    let Some(Ok(opened)) = opened else { return Err(Error::new(class::INTERN, "nothing was opened")) };
    let bytes = (crate::datatypes::handle_of(parvum_datatypes::Basic::Byte), any_datatype(0x4c00_010d)?);
    let view = View::new(0, bytes.clone(), bytes, Representation::Native)?;
    let made = File::new(Arc::new(duplicate(&comm, false)?), opened, path, amode, view);
    made.errhandler.set(DEFAULT_HANDLER.get());
    if let Some(hints) = hints {
        *made.info.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(hints.copy());
    }
    if amode & mode::APPEND != 0 {
        let end = made.size()?;
        made.view().position = end;
        made.with_shared(|_| end)?;
    }
    let none = || Error::new(class::OTHER, "there are too many open files");
    let handle = FILES.insert(Arc::new(made)).ok_or_else(none)?;
    // SAFETY: likewise.
    unsafe { put(place, handle as u32 as usize) }
}

pub unsafe fn file_close(place: *mut usize) -> Mpi {
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? } as i32;
    let closing = file(handle)?;
    FILES.remove(handle);
    // Nobody removes anything before all are ready.
    run(&closing.comm, Call::Barrier)?;
    if closing.comm.rank() == 0 {
        closing.drop_shared();
        if closing.amode & mode::DELETE_ON_CLOSE != 0 {
            std::fs::remove_file(&closing.path).map_err(|error| failed(&error, &closing.path))?;
        }
    }
    // SAFETY: likewise.
    unsafe { put(place, 0) }
}

pub unsafe fn file_delete(name: *const c_char, _info: i32) -> Mpi {
    // SAFETY: the caller's promise.
    let path = PathBuf::from(unsafe { text(name)? });
    std::fs::remove_file(&path).map_err(|error| failed(&error, &path))
}

pub unsafe fn file_get_amode(handle: i32, amode: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(amode, file(handle)?.amode) }
}

pub unsafe fn file_get_group(handle: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { super::comms::put_group_of(&file(handle)?.comm, place) }
}

pub unsafe fn file_get_info(handle: i32, place: *mut c_int) -> Mpi {
    let copy = file(handle)?.info.lock().unwrap_or_else(PoisonError::into_inner).copy();
    // SAFETY: the caller's promise.
    unsafe { put(place, crate::info::keep(copy)?) }
}

fn set_hints(file: &File, hints: Option<Arc<Info>>) {
    if let Some(hints) = hints {
        *file.info.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(hints.copy());
    }
}

pub unsafe fn file_set_info(handle: i32, info: i32) -> Mpi {
    set_hints(&*file(handle)?, Some(crate::info::info(info)?));
    Ok(())
}

pub unsafe fn file_get_size(handle: i32, size: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(size, file(handle)?.size()?) }
}

fn checked_size(size: i64) -> Mpi<i64> {
    if size < 0 { Err(Error::new(class::ARG, format!("the size is {size}"))) } else { Ok(size) }
}

pub unsafe fn file_set_size(handle: i32, size: i64) -> Mpi {
    let file = file(handle)?;
    if file.comm.rank() == 0 {
        file.set_size(checked_size(size)?)?;
    }
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_preallocate(handle: i32, size: i64) -> Mpi {
    let file = file(handle)?;
    if file.comm.rank() == 0 && file.size()? < checked_size(size)? {
        file.set_size(size)?;
    }
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_sync(handle: i32) -> Mpi {
    let file = file(handle)?;
    file.sync()?;
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_get_atomicity(handle: i32, flag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(file(handle)?.is_atomic.load(Ordering::Relaxed))) }
}

pub unsafe fn file_set_atomicity(handle: i32, flag: i32) -> Mpi {
    let file = file(handle)?;
    file.is_atomic.store(flag != 0, Ordering::Relaxed);
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_set_view(
    handle: i32,
    displacement: i64,
    etype: i32,
    filetype: i32,
    representation: *const c_char,
    info: i32,
) -> Mpi {
    let (file, hints) = (file(handle)?, hints(info)?);
    // SAFETY: the caller's promise.
    let representation = Representation::read(&unsafe { text(representation)? })?;
    // Where a sequential file is at is known to the system alone.
    let displacement = if displacement == DISPLACEMENT_CURRENT {
        file.view().byte_of(file.view().position)
    } else {
        displacement
    };
    if let Representation::Own(_) = representation {
        // SAFETY: the caller's promise.
        unsafe { check_extent(representation, etype)? };
    }
    let view =
        View::new(displacement, (etype, datatype(etype)?), (filetype, datatype(filetype)?), representation)?;
    *file.view() = view;
    set_hints(&file, hints);
    if file.comm.rank() == 0 {
        file.drop_shared();
    }
    run(&file.comm, Call::Barrier)
}

/// `MPI_DISPLACEMENT_CURRENT`.
const DISPLACEMENT_CURRENT: i64 = -54_278_278;

pub unsafe fn file_get_view(
    handle: i32,
    displacement: *mut i64,
    etype: *mut c_int,
    filetype: *mut c_int,
    representation: *mut c_char,
) -> Mpi {
    let view = file(handle)?.view().clone();
    let given = |(handle, of): &(i32, Arc<crate::datatypes::Datatype>)| match is_predefined(*handle) {
        true => Ok(*handle),
        false => keep(crate::datatypes::Datatype::new(of.layout.clone(), true)),
    };
    // SAFETY: the caller's promise.
    unsafe {
        put(displacement, view.displacement)?;
        put(etype, given(&view.etype)?)?;
        put(filetype, given(&view.filetype)?)?;
        give_text(representation, MAX_OBJECT_NAME, view.representation.name()).map(|_| ())
    }
}

pub unsafe fn file_get_byte_offset(handle: i32, offset: i64, place: *mut i64) -> Mpi {
    if offset < 0 {
        return Err(Error::new(class::ARG, format!("the offset is {offset}")));
    }
    // SAFETY: the caller's promise.
    unsafe { put(place, file(handle)?.view().byte_of(offset)) }
}

/// What a program's own representation says of the extent of a datatype.
unsafe fn own_extent(own: &Registered, of: i32) -> Mpi<i64> {
    let mut extent = 0;
    // SAFETY: the program gave this function for such arguments.
    let code = unsafe { (calling().extent)(own.extent, of, &mut extent, own.extra as *mut c_void) };
    match code {
        0 => Ok(extent),
        code => Err(Error::new(code, "")),
    }
}

/// Where a representation converts nothing, elements lie in the file as in memory: its function must say so too.
unsafe fn check_extent(representation: Representation, of: i32) -> Mpi {
    let Representation::Own(own) = representation else { return Ok(()) };
    let native = datatype(of)?.layout.extent();
    // SAFETY: the caller's promise.
    let said = unsafe { own_extent(own, of)? };
    if said == native {
        return Ok(());
    }
    let text = format!(
        "the data representation \"{}\" has {said} bytes for what has {native} in memory, and no functions that convert",
        representation.name()
    );
    Err(Error::new(class::UNSUPPORTED_DATAREP, text))
}

/// A representation whose data is as in memory. One that converts is refused: no file of this system's needs it.
pub unsafe fn register_datarep(
    name: *const c_char,
    read: usize,
    write: usize,
    extent: usize,
    extra: *mut c_void,
) -> Mpi {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name)? };
    if name.is_empty() || name.len() >= MAX_DATAREP_STRING || extent == 0 {
        let text = "a data representation has a name of at most MPI_MAX_DATAREP_STRING - 1 characters, and a function that tells extents";
        return Err(Error::new(class::ARG, text));
    }
    if read != 0 || write != 0 {
        let text = "Parvum has no data representations that convert: give MPI_CONVERSION_FN_NULL, or convert in the program";
        return Err(Error::new(class::UNSUPPORTED_OPERATION, text));
    }
    crate::files::register(&name, extent, extra.addr())
}

/// The longest name of a representation, with the zero at its end.
const MAX_DATAREP_STRING: usize = 128;

pub unsafe fn file_get_type_extent(handle: i32, of: i32, extent: *mut i64) -> Mpi {
    let (file, layout) = (file(handle)?, any_datatype(of)?.layout.clone());
    let length = match file.view().representation {
        Representation::External => crate::external::size(&layout, 1)?,
        // SAFETY: the caller's promise.
        Representation::Own(own) => unsafe { own_extent(own, of)? },
        _ => layout.extent(),
    };
    // SAFETY: the caller's promise.
    unsafe { put(extent, length) }
}

const SEEK_SET: i32 = 600;
const SEEK_CUR: i32 = 602;
const SEEK_END: i32 = 604;

fn target(whence: i32, offset: i64, now: i64, end: i64) -> Mpi<i64> {
    let to = match whence {
        SEEK_SET => offset,
        SEEK_CUR => now + offset,
        SEEK_END => end + offset,
        _ => return Err(Error::new(class::ARG, format!("{whence} is no place to seek from"))),
    };
    if to < 0 { Err(Error::new(class::ARG, format!("place {to} lies before the view"))) } else { Ok(to) }
}

pub unsafe fn file_seek(handle: i32, offset: i64, whence: i32) -> Mpi {
    let file = file(handle)?;
    let size = file.size()?;
    let mut view = file.view();
    view.position = target(whence, offset, view.position, view.end(size))?;
    Ok(())
}

pub unsafe fn file_get_position(handle: i32, place: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(place, file(handle)?.view().position) }
}

pub unsafe fn file_seek_shared(handle: i32, offset: i64, whence: i32) -> Mpi {
    let file = file(handle)?;
    // All have seen what the pointer was before the first changes it.
    let now = file.with_shared(|now| now)?;
    let end = file.view().end(file.size()?);
    let to = target(whence, offset, now, end);
    run(&file.comm, Call::Barrier)?;
    let to = to?;
    if file.comm.rank() == 0 {
        file.with_shared(|_| to)?;
    }
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_get_position_shared(handle: i32, place: *mut i64) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(place, file(handle)?.with_shared(|now| now)?) }
}

/// What has a handle's error handler; the null file's is that of files to come.
fn with_handler<T>(handle: i32, then: impl FnOnce(&HandlerSlot) -> Mpi<T>) -> Mpi<T> {
    if handle == 0 { then(&DEFAULT_HANDLER) } else { then(&file(handle)?.errhandler) }
}

pub unsafe fn file_set_errhandler(handle: i32, errhandler: i32) -> Mpi {
    let handler = Handler::of(errhandler, Kind::File)?;
    with_handler(handle, |slot| {
        slot.set(handler);
        Ok(())
    })
}

pub unsafe fn file_get_errhandler(handle: i32, place: *mut c_int) -> Mpi {
    let given = with_handler(handle, |slot| slot.get().give())?;
    // SAFETY: the caller's promise.
    unsafe { put(place, given) }
}

pub unsafe fn file_call_errhandler(handle: i32, code: i32) -> Mpi {
    with_handler(handle, |slot| slot.get().call(handle, code))
}
