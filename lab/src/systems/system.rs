//! What is compared: a message-passing system with the choices that matter for its speed.

/// Whose system it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Parvum's PVM face.
    Parvum,
    /// Parvum's engine, through its own calls.
    Engine,
    /// PVM 3.4.6.
    Pvm,
    /// Open MPI.
    OpenMpi,
    /// MPICH.
    Mpich,
    /// Debian's Open MPI, where it is compared beside a newer one.
    OpenMpi4,
    /// Debian's MPICH, where it is compared beside a newer one.
    Mpich4,
    /// UCX, by its own program.
    Ucx,
    /// The kernel's sockets, with no messaging library.
    Sockets,
    /// Parvum's NX.
    Nx,
    /// Parvum's MPI: the programs that MPICH's compiler has made, unchanged.
    Mpi,
    /// Parvum's CMMD.
    Cmmd,
    /// Parvum's message containers.
    Containers,
    /// Parvum's TreadMarks: one memory for all tasks of the host.
    Tmk,
    /// The same, by its protocol of today: as it is between hosts.
    TmkLazy,
    /// By the protocol of 1994.
    TmkClassic,
    /// By pages that have homes.
    TmkHome,
    /// By the protocol of today, beside PVM in the same tasks.
    Hybrid,
    /// Parvum's package for Python.
    Python,
    /// mpi4py over MPICH.
    PyMpich,
    /// mpi4py over Open MPI.
    PyOpenMpi,
    /// Ray.
    Ray,
    /// dask.distributed.
    Dask,
    /// loky, on which joblib stands.
    Loky,
    /// Python's own multiprocessing.
    Multiprocessing,
}

impl Family {
    /// Whether it is Parvum, by whichever calls.
    pub fn is_ours(self) -> bool {
        matches!(self, Family::Parvum | Family::Engine | Family::Containers | Family::Python)
            || self.starts_together()
    }

    /// Whether it is Parvum through calls whose programs are started all together, as MPI's are.
    pub fn starts_together(self) -> bool {
        matches!(self, Family::Nx | Family::Cmmd | Family::Mpi) || self.protocol().is_some()
    }

    /// By which protocol memory is shared, where it is: `TMK_PROTOCOL`.
    pub fn protocol(self) -> Option<&'static str> {
        match self {
            Family::Tmk => Some("auto"),
            Family::TmkLazy | Family::Hybrid => Some("lazy"),
            Family::TmkClassic => Some("classic"),
            Family::TmkHome => Some("home"),
            _ => None,
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Family::Parvum => "Parvum",
            Family::Engine => "Parvum engine",
            Family::Pvm => "PVM 3.4.6",
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
            Family::OpenMpi4 => "Open MPI 4.1",
            Family::Mpich4 => "MPICH 4.0",
            Family::Ucx => "UCX",
            Family::Sockets => "sockets",
            Family::Nx => "Parvum NX",
            Family::Mpi => "Parvum MPI",
            Family::Cmmd => "Parvum CMMD",
            Family::Containers => "Parvum containers",
            Family::Tmk => "TreadMarks",
            Family::TmkLazy => "TreadMarks lazy",
            Family::TmkClassic => "TreadMarks classic",
            Family::TmkHome => "TreadMarks home",
            Family::Hybrid => "TreadMarks + PVM",
            Family::Python => "Parvum for Python",
            Family::PyMpich => "mpi4py, MPICH",
            Family::PyOpenMpi => "mpi4py, Open MPI",
            Family::Ray => "Ray",
            Family::Dask => "Dask",
            Family::Loky => "loky",
            Family::Multiprocessing => "multiprocessing",
        }
    }

    /// The ending of its programs' file names (`apps/build.sh`): Parvum's MPI runs those of MPICH, and memory is shared by the
    /// same programs whatever the protocol.
    pub fn programs(self) -> &'static str {
        match self {
            Family::Mpi => Family::Mpich.ending(),
            Family::TmkLazy | Family::TmkClassic | Family::TmkHome => Family::Tmk.ending(),
            other => other.ending(),
        }
    }

    /// A short name, as file lines have it.
    pub fn ending(self) -> &'static str {
        match self {
            Family::Parvum => "parvum",
            Family::Engine => "engine",
            Family::Pvm => "pvm346",
            Family::OpenMpi => "openmpi",
            Family::Mpich => "mpich",
            Family::OpenMpi4 => "openmpi4",
            Family::Mpich4 => "mpich4",
            Family::Ucx => "ucx",
            Family::Sockets => "sockets",
            Family::Nx => "nx",
            Family::Mpi => "mpi",
            Family::Cmmd => "cmmd",
            Family::Containers => "containers",
            Family::Tmk => "tmk",
            Family::TmkLazy => "tmklazy",
            Family::TmkClassic => "tmkclassic",
            Family::TmkHome => "tmkhome",
            Family::Hybrid => "hybrid",
            Family::Python => "python",
            Family::PyMpich => "mpi4pympich",
            Family::PyOpenMpi => "mpi4pyopenmpi",
            Family::Ray => "ray",
            Family::Dask => "dask",
            Family::Loky => "loky",
            Family::Multiprocessing => "multiprocessing",
        }
    }
}

/// How a PVM program encodes what it packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// Native bytes, packed.
    Raw,
    /// PVM's default: portable bytes.
    Xdr,
    /// Native bytes, left where they are until sent.
    InPlace,
    /// Native bytes, not packed at all: `pvm_psend`.
    Psend,
    /// The interface has no such choice.
    None,
}

impl Encoding {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Xdr => "XDR",
            Encoding::InPlace => "in place",
            Encoding::Psend => "psend",
            Encoding::None => "",
        }
    }

    /// The programs' argument.
    pub fn argument(self) -> Option<&'static str> {
        match self {
            Encoding::Raw => Some("raw"),
            Encoding::Xdr => Some("default"),
            Encoding::InPlace => Some("inplace"),
            Encoding::Psend => Some("psend"),
            Encoding::None => None,
        }
    }
}

/// One system under comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct System {
    /// Whose.
    pub family: Family,
    /// The way of a message: shm, tcp, routed; direct, daemon; empty for MPI, which chooses by itself.
    pub route: &'static str,
    /// The encoding.
    pub encoding: Encoding,
}

impl System {
    /// A family with its choices.
    pub const fn new(family: Family, route: &'static str, encoding: Encoding) -> Self {
        System { family, route, encoding }
    }

    /// A name for file lines and `--systems`, such as `parvum-shm-raw`.
    pub fn id(&self) -> String {
        let mut id = self.family.ending().to_owned();
        for part in [self.route, self.encoding.name()] {
            if !part.is_empty() {
                id.push('-');
                id.push_str(&part.to_lowercase().replace(' ', ""));
            }
        }
        id
    }

    /// A name for people, such as `Parvum shm, raw`.
    pub fn label(&self) -> String {
        match (self.route, self.encoding.name()) {
            ("", _) => self.family.name().to_owned(),
            (route, "") => format!("{} {route}", self.family.name()),
            (route, encoding) => format!("{} {route}, {encoding}", self.family.name()),
        }
    }
}

/// How much is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// About three minutes.
    Quick,
    /// Every combination, more launches.
    Full,
}

/// The systems whose ring is measured at every size.
pub fn ring_systems(extent: Extent) -> Vec<System> {
    use Encoding::{InPlace, None, Raw, Xdr};
    let mut systems = vec![
        System::new(Family::Parvum, "shm", Raw),
        System::new(Family::Parvum, "shm", Xdr),
        System::new(Family::Parvum, "shm", InPlace),
        System::new(Family::Parvum, "tcp", Raw),
        System::new(Family::Parvum, "routed", Raw),
        System::new(Family::Pvm, "direct", Raw),
        System::new(Family::Pvm, "direct", Xdr),
        System::new(Family::Pvm, "direct", InPlace),
        System::new(Family::Pvm, "daemon", Raw),
        System::new(Family::Pvm, "daemon", Xdr),
        System::new(Family::OpenMpi, "", None),
        System::new(Family::Mpich, "", None),
    ];
    if extent == Extent::Full {
        for route in ["tcp", "routed"] {
            systems.push(System::new(Family::Parvum, route, Xdr));
            systems.push(System::new(Family::Parvum, route, InPlace));
        }
        systems.push(System::new(Family::Pvm, "daemon", InPlace));
    }
    systems
}

/// Those whose tasks are on several hosts, whatever connects these: PVM's calls, ours first, and MPI's.
pub const OVER_HOSTS: [System; 6] = [
    System::new(Family::Parvum, "tcp", Encoding::Raw),
    System::new(Family::Mpi, "tcp", Encoding::None),
    System::new(Family::Pvm, "direct", Encoding::Raw),
    System::new(Family::Pvm, "daemon", Encoding::Raw),
    System::new(Family::OpenMpi, "", Encoding::None),
    System::new(Family::Mpich, "", Encoding::None),
];

/// The systems that stand for all where the encoding does not matter: waiting, sharing one core.
pub fn route_systems() -> Vec<System> {
    ring_systems(Extent::Quick)
        .into_iter()
        .filter(|s| matches!(s.encoding, Encoding::Raw | Encoding::None))
        .collect()
}

/// The systems that transform: the quickest route of each, and in the full run every route.
pub fn fft_systems(extent: Extent) -> Vec<System> {
    route_systems()
        .into_iter()
        .filter(|s| extent == Extent::Full || matches!(s.route, "shm" | "direct" | ""))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn system_ids_are_unique_and_plain() {
        let systems = ring_systems(Extent::Full);
        let ids: HashSet<String> = systems.iter().map(System::id).collect();
        assert_eq!(ids.len(), systems.len());
        assert!(ids.contains("parvum-shm-inplace") && ids.contains("openmpi"));
        assert!(ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')));
    }
}
