//! Files: opening them, views, pointers, data representations.

use super::arguments::{get, give_text, plain_text, put, put_at, text};
use crate::callbacks::calling::calling;
use crate::collective::{Call, run};
use crate::comms::create::{duplicate, say_to_all, share};
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::files::file::{
    DEFAULT_HANDLER, FILES, File, Registered, Representation, View, failed, mode, size_of,
};
use crate::files::places::{Deed, beyond};
use crate::files::shared_pointer::Pointer;
use crate::objects::datatypes::{any_datatype, datatype, is_predefined, keep};
use crate::objects::errhandlers::{Handler, HandlerSlot};
use crate::objects::hints as known_hints;
use crate::objects::info::{Info, hints};
use crate::objects::numbers::{Kind, MAX_OBJECT_NAME};
use crate::process::this::process;
use parvum_api::pointers::{Out, Text};
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

pub(super) fn file(handle: i32) -> Mpi<Arc<File>> {
    FILES.get(handle).ok_or_else(|| Error::new(class::FILE, "the handle names no open file"))
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

/// The path of a name, which may say of which file system it is.
fn path_of(name: Text<'_>) -> Mpi<PathBuf> {
    let name = text(name)?;
    let path = [&b"ufs:"[..], b"nfs:"].iter().find_map(|system| name.strip_prefix(*system)).unwrap_or(&name);
    Ok(PathBuf::from(OsStr::from_bytes(path)))
}

pub fn file_open(handle: i32, name: Text<'_>, amode: i32, info: i32, place: Out<'_, usize>) -> Mpi {
    let comm = comm(handle)?;
    let path = path_of(name)?;
    let own = hints(info).and_then(|hints| checked_mode(amode).map(|()| hints));
    let modes = say_to_all(&comm, &amode.to_ne_bytes())?;
    let own = match modes.iter().all(|mode| *mode == amode.to_ne_bytes()) {
        true => own,
        false => Err(Error::new(class::NOT_SAME, "the ranks open the file with different access modes")),
    };
    // The first creates it and makes the pointer of all; the others open it when it is there.
    let is_shared = comm.size() > 1;
    let (mut opened, mut pointer) = (None, None);
    let mut said = Said::default();
    if let (Ok(_), 0) = (&own, comm.rank()) {
        let made = open(&path, amode, true).and_then(|opened| {
            // All pointers of a file that is appended to begin at its end, as the first has found it.
            let end = if amode & mode::APPEND != 0 { size_of(&opened, &path)? } else { 0 };
            let pointer = Pointer::make(process()?, end, is_shared)?;
            let [service, number] = pointer.told(process()?, is_shared)?;
            said = Said { class: 0, service, number, end };
            Ok((opened, pointer))
        });
        match made {
            Ok((file, at)) => (opened, pointer) = (Some(Ok(file)), Some(at)),
            Err(error) => opened = Some(Err(error)),
        }
    }
    let class_of = |opened: &Option<Mpi<std::fs::File>>| match opened {
        Some(Err(error)) => Some(error.class()),
        _ => None,
    };
    said.class = class_of(&opened).or(own.as_ref().err().map(|error| error.class())).unwrap_or(0);
    let all = say_to_all(&comm, &said.bytes())?.iter().map(|said| Said::read(said)).collect::<Vec<_>>();
    let whose = all.iter().map(|said| said.class).find(|&class| class != 0);
    if whose.is_none() && comm.rank() != 0 {
        opened = Some(open(&path, amode, false));
    }
    let second = class_of(&opened).unwrap_or(0);
    let more = say_to_all(&comm, &second.to_ne_bytes())?;
    let second = more
        .iter()
        .map(|class| i32::from_ne_bytes([class[0], class[1], class[2], class[3]]))
        .find(|&class| class != 0);
    let hints = own?;
    if let Some(code) = whose.or(second) {
        if let (Some(Ok(_)), 0, true) = (&opened, comm.rank(), amode & mode::EXCL != 0) {
            // Only this call has made it.
            let _ = std::fs::remove_file(&path);
        }
        return Err(match opened {
            Some(Err(error)) => error,
            _ => Error::new(code, format!("{}: another rank could not open it", path.display())),
        });
    }
    let Some(Ok(opened)) = opened else { return Err(Error::new(class::INTERN, "nothing was opened")) };
    let first = &all[0];
    let pointer = pointer.unwrap_or(Pointer::There(first.service as i32, first.number));
    let bytes =
        (crate::objects::datatypes::handle_of(parvum_datatypes::Basic::Byte), any_datatype(0x4c00_010d)?);
    let mut view = View::new(0, bytes.clone(), bytes, Representation::Native)?;
    view.position = first.end;
    let made = File::new(Arc::new(duplicate(&comm, false)?), opened, path, amode, (view, pointer));
    made.errhandler.set(DEFAULT_HANDLER.get());
    set_hints(&made, hints)?;
    let none = || Error::new(class::OTHER, "there are too many open files");
    let handle = FILES.insert(Arc::new(made)).ok_or_else(none)?;
    put(place, handle as u32 as usize)
}

/// What each rank says of its part in opening a file; the first also where the pointer of all is.
#[derive(Default)]
struct Said {
    class: i32,
    service: u32,
    number: u32,
    end: i64,
}

impl Said {
    fn bytes(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        for (place, word) in [self.class as u32, self.service, self.number].into_iter().enumerate() {
            bytes[4 * place..][..4].copy_from_slice(&word.to_ne_bytes());
        }
        bytes[12..].copy_from_slice(&self.end.to_ne_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Said {
        let word = |place: usize| u32::from_ne_bytes(bytes[4 * place..][..4].try_into().expect("four bytes"));
        let end = i64::from_ne_bytes(bytes[12..20].try_into().expect("eight bytes"));
        Said { class: word(0) as i32, service: word(1), number: word(2), end }
    }
}

/// What the first process of a file finds out, or does: all hear how that ended, and nobody waits for those who do not.
pub(super) fn first_says(file: &File, act: impl FnOnce() -> Mpi<i64>) -> Mpi<i64> {
    let is_first = file.comm.rank() == 0;
    let own = if is_first { act() } else { Ok(0) };
    let (class, number) = match &own {
        Ok(number) => (0, *number),
        Err(error) => (error.class(), 0),
    };
    let said = [i64::from(class).to_ne_bytes(), number.to_ne_bytes()].concat();
    let told = share(&file.comm, 0, if is_first { &said } else { &[] })?;
    let word = |place: usize| told[8 * place..][..8].try_into().map_or(0, i64::from_ne_bytes);
    match word(0) as i32 {
        0 => Ok(word(1)),
        class => own.and(Err(Error::new(class, format!("{}: the first rank failed", file.path.display())))),
    }
}

/// The same of what has no result. All ranks have come to it before it is done.
fn first_does(file: &File, act: impl FnOnce() -> Mpi) -> Mpi {
    run(&file.comm, Call::Barrier)?;
    first_says(file, || act().map(|()| 0)).map(drop)
}

pub unsafe fn file_close(place: *mut usize) -> Mpi {
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? } as i32;
    let closing = file(handle)?;
    if closing.begun.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
        let text = "a split collective call is under way on this file; end it first";
        return Err(Error::new(class::OTHER, text));
    }
    // Nobody removes anything before all are ready.
    let is_to_go = closing.amode & mode::DELETE_ON_CLOSE != 0;
    let done = match is_to_go {
        true => first_does(&closing, || {
            std::fs::remove_file(&closing.path).map_err(|error| failed(&error, &closing.path))
        }),
        false => run(&closing.comm, Call::Barrier),
    };
    // It is closed, also if it could not be deleted.
    FILES.remove(handle);
    // SAFETY: likewise.
    unsafe { put_at(place, 0)? };
    done
}

pub fn file_delete(name: Text<'_>, _info: i32) -> Mpi {
    let path = path_of(name)?;
    std::fs::remove_file(&path).map_err(|error| failed(&error, &path))
}

pub fn file_get_amode(handle: i32, amode: Out<'_, c_int>) -> Mpi {
    put(amode, file(handle)?.amode)
}

pub fn file_get_group(handle: i32, place: Out<'_, c_int>) -> Mpi {
    crate::calls::comms::communicators::put_group_of(&file(handle)?.comm, place)
}

pub fn file_get_info(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let shown =
        known_hints::FILE.shown(&file(handle)?.info.lock().unwrap_or_else(PoisonError::into_inner))?;
    put(place, crate::objects::info::keep(shown)?)
}

fn set_hints(file: &File, hints: Option<Arc<Info>>) -> Mpi {
    let Some(hints) = hints else { return Ok(()) };
    let mut kept = file.info.lock().unwrap_or_else(PoisonError::into_inner);
    *kept = Arc::new(known_hints::FILE.merged(&kept, &hints)?);
    Ok(())
}

pub fn file_set_info(handle: i32, info: i32) -> Mpi {
    set_hints(&*file(handle)?, Some(crate::objects::info::info(info)?))
}

pub fn file_get_size(handle: i32, size: Out<'_, i64>) -> Mpi {
    put(size, file(handle)?.size()?)
}

fn checked_size(size: i64) -> Mpi<i64> {
    if size < 0 { Err(Error::new(class::ARG, format!("the size is {size}"))) } else { Ok(size) }
}

pub fn file_set_size(handle: i32, size: i64) -> Mpi {
    let (file, size) = (file(handle)?, checked_size(size)?);
    first_does(&file, || file.set_size(size))
}

pub fn file_preallocate(handle: i32, size: i64) -> Mpi {
    let (file, size) = (file(handle)?, checked_size(size)?);
    first_does(&file, || if file.size()? < size { file.set_size(size) } else { Ok(()) })
}

pub fn file_sync(handle: i32) -> Mpi {
    let file = file(handle)?;
    file.sync()?;
    run(&file.comm, Call::Barrier)
}

pub fn file_get_atomicity(handle: i32, flag: Out<'_, c_int>) -> Mpi {
    put(flag, c_int::from(file(handle)?.is_atomic.load(Ordering::Relaxed)))
}

pub fn file_set_atomicity(handle: i32, flag: i32) -> Mpi {
    let file = file(handle)?;
    file.is_atomic.store(flag != 0, Ordering::Relaxed);
    run(&file.comm, Call::Barrier)
}

pub unsafe fn file_set_view(
    handle: i32,
    displacement: i64,
    etype: i32,
    filetype: i32,
    representation: Text<'_>,
    info: i32,
) -> Mpi {
    let (file, hints) = (file(handle)?, hints(info)?);
    let representation = Representation::read(&plain_text(representation)?)?;
    let displacement = if displacement == DISPLACEMENT_CURRENT { current(&file)? } else { displacement };
    if let Representation::Own(_) = representation {
        // SAFETY: the caller's promise.
        unsafe { check_extent(representation, etype)? };
    }
    let view =
        View::new(displacement, (etype, datatype(etype)?), (filetype, datatype(filetype)?), representation)?;
    view.refuse_disorder(file.amode & mode::RDONLY == 0)?;
    file.change_view(|old| *old = view);
    set_hints(&file, hints)?;
    first_does(&file, || file.pointer.act(process()?, Deed::Set(0)).map(drop))
}

/// `MPI_DISPLACEMENT_CURRENT`.
const DISPLACEMENT_CURRENT: i64 = -54_278_278;

/// Where a file is at, in bytes: a sequential one where the pointer of all ranks is.
fn current(file: &File) -> Mpi<i64> {
    let view = file.view();
    if file.amode & mode::SEQUENTIAL == 0 {
        return view.byte_of(view.position);
    }
    // Before one of them sets it back for its new view.
    run(&file.comm, Call::Barrier)?;
    view.byte_of(first_says(file, || file.pointer.act(process()?, Deed::Advance(0)))?)
}

pub unsafe fn file_get_view(
    handle: i32,
    displacement: Out<'_, i64>,
    etype: Out<'_, c_int>,
    filetype: Out<'_, c_int>,
    representation: *mut c_char,
) -> Mpi {
    let view = file(handle)?.view();
    let given = |(handle, of): &(i32, Arc<crate::objects::datatypes::Datatype>)| match is_predefined(*handle)
    {
        true => Ok(*handle),
        false => keep(crate::objects::datatypes::Datatype::new(of.layout.clone(), true)),
    };
    // SAFETY: the caller's promise.
    unsafe {
        put(displacement, view.displacement)?;
        put(etype, given(&view.etype)?)?;
        put(filetype, given(&view.filetype)?)?;
        give_text(representation, MAX_OBJECT_NAME, view.representation.name()).map(|_| ())
    }
}

pub fn file_get_byte_offset(handle: i32, offset: i64, place: Out<'_, i64>) -> Mpi {
    if offset < 0 {
        return Err(Error::new(class::ARG, format!("the offset is {offset}")));
    }
    put(place, file(handle)?.view().byte_of(offset)?)
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
    name: Text<'_>,
    read: usize,
    write: usize,
    extent: usize,
    extra: *mut c_void,
) -> Mpi {
    let name = plain_text(name)?;
    if name.is_empty() || name.len() >= MAX_DATAREP_STRING || extent == 0 {
        let text = "a data representation has a name of at most MPI_MAX_DATAREP_STRING - 1 characters, and a function that tells extents";
        return Err(Error::new(class::ARG, text));
    }
    if read != 0 || write != 0 {
        let text = "Parvum has no data representations that convert: give MPI_CONVERSION_FN_NULL, or convert in the program";
        return Err(Error::new(class::UNSUPPORTED_OPERATION, text));
    }
    crate::files::file::register(&name, extent, extra.addr())
}

/// The longest name of a representation, with the zero at its end.
const MAX_DATAREP_STRING: usize = 128;

pub unsafe fn file_get_type_extent(handle: i32, of: i32, extent: Out<'_, i64>) -> Mpi {
    let (file, layout) = (file(handle)?, any_datatype(of)?.layout.clone());
    let length = match file.view().representation {
        Representation::External => crate::objects::external::size(&layout, 1)?,
        // SAFETY: the caller's promise.
        Representation::Own(own) => unsafe { own_extent(own, of)? },
        _ => layout.extent(),
    };
    put(extent, length)
}

const SEEK_SET: i32 = 600;
const SEEK_CUR: i32 = 602;
const SEEK_END: i32 = 604;

fn target(whence: i32, offset: i64, now: i64, end: i64) -> Mpi<i64> {
    let to = match whence {
        SEEK_SET => Some(offset),
        SEEK_CUR => now.checked_add(offset),
        SEEK_END => end.checked_add(offset),
        _ => return Err(Error::new(class::ARG, format!("{whence} is no place to seek from"))),
    };
    let to = to.ok_or_else(beyond)?;
    if to < 0 { Err(Error::new(class::ARG, format!("place {to} lies before the view"))) } else { Ok(to) }
}

pub fn file_seek(handle: i32, offset: i64, whence: i32) -> Mpi {
    let file = file(handle)?;
    let size = file.size()?;
    file.change_view(|view| {
        view.position = target(whence, offset, view.position, view.end(size))?;
        Ok(())
    })
}

pub fn file_get_position(handle: i32, place: Out<'_, i64>) -> Mpi {
    put(place, file(handle)?.view().position)
}

pub fn file_seek_shared(handle: i32, offset: i64, whence: i32) -> Mpi {
    let file = file(handle)?;
    first_does(&file, || {
        let (process, end) = (process()?, file.view().end(file.size()?));
        let now = file.pointer.act(process, Deed::Advance(0))?;
        file.pointer.act(process, Deed::Set(target(whence, offset, now, end)?)).map(drop)
    })
}

pub fn file_get_position_shared(handle: i32, place: Out<'_, i64>) -> Mpi {
    let now = file(handle)?.pointer.act(process()?, Deed::Advance(0))?;
    put(place, now)
}

/// What has a handle's error handler; the null file's is that of files to come.
fn with_handler<T>(handle: i32, then: impl FnOnce(&HandlerSlot) -> Mpi<T>) -> Mpi<T> {
    if handle == 0 { then(&DEFAULT_HANDLER) } else { then(&file(handle)?.errhandler) }
}

pub fn file_set_errhandler(handle: i32, errhandler: i32) -> Mpi {
    let handler = Handler::of(errhandler, Kind::File)?;
    with_handler(handle, |slot| {
        slot.set(handler);
        Ok(())
    })
}

pub fn file_get_errhandler(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let given = with_handler(handle, |slot| Ok(slot.get().give()))?;
    put(place, given)
}

pub fn file_call_errhandler(handle: i32, code: i32) -> Mpi {
    with_handler(handle, |slot| slot.get().call(handle, code))
}
