//! PMIx: prte, Open MPI's mpirun and `srun --mpi=pmix` answer through OpenPMIx's library, which is loaded at run time.

use super::pmix_library::Library;
use super::step::{self, Step};
use super::{Place, refuse_several_machines};
use crate::errors::{Error, Mpi, class};

/// The answer of PMIx about this process.
pub(super) enum Begun {
    /// It is one of several.
    Several(Box<Pmix>),
    /// It is the only one.
    Alone,
    /// libpmix is missing. The variables of Open MPI tell enough.
    NoLibrary(Step),
}

/// The launcher.
pub(super) struct Pmix {
    library: Library,
    size: u32,
}

/// The key under which each process puts its place.
const KEY: &str = "parvum.place";

impl Pmix {
    /// Asks the launcher, if this process has one.
    pub(super) fn begin() -> Mpi<Option<Begun>> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (Some(namespace), Some(rank)) = (set("PMIX_NAMESPACE"), set("PMIX_RANK")) else {
            return Ok(None);
        };
        let library = match Library::load() {
            Ok(library) => library,
            Err(why) => {
                return without_library(&namespace, &rank, set("OMPI_COMM_WORLD_SIZE"), &why).map(Some);
            }
        };
        library.init().map_err(|code| failed("PMIx_Init", code))?;
        let size = library.job_size().map_err(|code| failed("PMIx_Get of the number of processes", code));
        match size {
            Ok(size) if size > 1 => Ok(Some(Begun::Several(Box::new(Pmix { library, size })))),
            Ok(_) => {
                library.finalize();
                Ok(Some(Begun::Alone))
            }
            Err(error) => {
                library.finalize();
                Err(error)
            }
        }
    }

    /// The tasks of all processes, in the order of their ranks.
    pub(super) fn meet(&mut self, task: i32, host: &str) -> Mpi<Vec<i32>> {
        let Pmix { library, size } = self;
        let place = Place { task, host: host.to_owned() };
        library.put(KEY, &place.to_string()).map_err(|code| failed("PMIx_Put", code))?;
        library.fence().map_err(|code| failed("PMIx_Fence", code))?;
        let mut all = Vec::with_capacity(*size as usize);
        for rank in 0..*size {
            let text = library.get(rank, KEY).map_err(|code| failed("PMIx_Get", code))?;
            all.push(Place::read(&text).ok_or_else(|| {
                Error::new(
                    class::OTHER,
                    format!("E-LAUNCHER: rank {rank} of the launcher is no program of Parvum"),
                )
            })?);
        }
        refuse_several_machines(all)
    }

    /// Tells the launcher that this process ends in peace.
    pub(super) fn finish(self) {
        self.library.finalize();
    }

    /// Has the launcher end all processes.
    pub(super) fn abort(&mut self, code: i32) {
        self.library.abort(code);
    }
}

fn without_library(namespace: &str, rank: &str, size: Option<String>, why: &str) -> Mpi<Begun> {
    let size = size.and_then(|size| size.parse::<u32>().ok());
    match (size, rank.parse::<u32>()) {
        (Some(1), _) => Ok(Begun::Alone),
        (Some(size), Ok(rank)) if rank < size => {
            Ok(Begun::NoLibrary(Step::new(format!("pmix {namespace}"), rank, size)))
        }
        // Under Slurm, Slurm's own variables tell as much.
        _ if step::is_slurm() => Ok(Step::of_slurm()?.map_or(Begun::Alone, Begun::NoLibrary)),
        _ => Err(Error::new(
            class::OTHER,
            format!(
                "E-LAUNCHER: a launcher with PMIx has started this process, and PMIx's library cannot be loaded: {why}; help: \
                 install libpmix2, or start the program with Parvum's mpiexec; PARVUM_LAUNCHER=none makes a world of one"
            ),
        )),
    }
}

fn failed(call: &str, code: i32) -> Error {
    let text = format!(
        "E-LAUNCHER: {call} fails with PMIx's code {code}; help: the launcher may have ended; PARVUM_LAUNCHER=none makes a world \
         of one"
    );
    Error::new(class::OTHER, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_library_open_mpis_variables_tell_enough() {
        let begun =
            |rank, size: Option<&str>| without_library("job", rank, size.map(str::to_owned), "no file");
        assert!(matches!(begun("1", Some("4")), Ok(Begun::NoLibrary(_))));
        assert!(matches!(begun("0", Some("1")), Ok(Begun::Alone)));
        for (rank, size) in [("0", None), ("4", Some("4")), ("x", Some("4")), ("0", Some("many"))] {
            let why = begun(rank, size).err().expect("refused").text.clone();
            assert!(
                why.starts_with("E-LAUNCHER") && why.contains("no file") && why.contains("libpmix2"),
                "{why}"
            );
        }
    }
}
