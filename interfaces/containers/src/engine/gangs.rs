//! Starting programs that run together.

use super::station;
use crate::errors::Error;
use parvum_api::{ANY_TASK, Notes, call};
use parvum_wire::control::{Blob, Reply, Request, SpawnRequest};
use std::os::unix::ffi::OsStrExt;

/// Starts a program `count` times, as a gang: its tasks run at the same time as one another. All start, or none.
pub(crate) fn run(program: &str, args: &[&str], count: u32) -> Result<Vec<i32>, Error> {
    if count == 0 || program.is_empty() {
        return Err(Error::BadArgument);
    }
    let api = station::with(|station| Ok(station.api))?;
    let blob = |text: &str| Blob(text.as_bytes().to_vec());
    let cwd = std::env::current_dir().ok().map(|path| Blob(path.as_os_str().as_bytes().to_vec()));
    // The tasks find their libraries where this one did.
    let path = std::env::var_os("LD_LIBRARY_PATH");
    let env_add =
        path.map(|path| Blob([b"LD_LIBRARY_PATH=", path.as_bytes()].concat())).into_iter().collect();
    let plan = SpawnRequest {
        program: blob(program),
        args: args.iter().map(|arg| blob(arg)).collect(),
        count,
        cwd,
        env_add,
        all_or_none: true,
        gang: true,
        ..SpawnRequest::default()
    };
    let notes = Notes { limit: -1, call: call::MACHINE, peer: ANY_TASK, tag: -1, context: -1 };
    let asked = api.ask(&Request::Spawn(plan), &notes).map_err(|why| Error::of(why, || api.last_error()))?;
    match asked? {
        Reply::Spawned(results) => results.into_iter().map(|one| Ok(one.map(|one| one.tid.0)?)).collect(),
        _ => Err(Error::Refused("E-PROTOCOL: no answer to this question".into())),
    }
}
