//! The one table of all codes: what happened, and what to do. `docs/errors.md` is printed from the table.

mod machine;
mod mpi;
mod programs;
mod pvm;
mod tasks;

/// A code, what happened, what to do. The texts are Markdown.
pub type Row = (&'static str, &'static str, &'static str);

/// Codes that belong together.
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// A sentence before the rows.
    pub about: &'static str,
    /// Its codes.
    pub rows: &'static [Row],
}

/// All codes.
pub const SECTIONS: [Section; 11] = [
    Section { title: "Starting and reaching the virtual machine", about: "", rows: machine::REACHING },
    Section { title: "Starting programs", about: "", rows: machine::STARTING },
    Section { title: "The command", about: "", rows: machine::COMMAND },
    Section { title: "Tasks, groups, mailbox", about: "", rows: tasks::TASKS },
    Section {
        title: "Between hosts",
        about: "Both ends show a refusal. The daemon logs each refusal once for each address and reason.",
        rows: tasks::HOSTS,
    },
    Section {
        title: "In a program",
        about: "An interface library prints these errors on standard error before its call fails.",
        rows: programs::PROGRAM,
    },
    Section {
        title: "One-sided access to another task",
        about: "Each interface turns these errors into its own codes.",
        rows: tasks::ASKING,
    },
    Section {
        title: "Python",
        about: "Each exception of `parvum.errors` has `code`, `cause` and `help`. Codes of other sections appear there too.",
        rows: programs::PYTHON,
    },
    Section {
        title: "In a TreadMarks program",
        about: "`libTmk` prints one of these with the number of the node, and ends the process. `parvum run` ends the other \
                processes, unless `--on-failure continue` is given.",
        rows: programs::TREADMARKS,
    },
    Section {
        title: "MPI error classes",
        about: "`MPI_Error_class` returns the class of a code. `MPI_Error_string` returns the text, which names the argument.",
        rows: mpi::MPI,
    },
    Section {
        title: "PVM codes",
        about: "PVM's calls return these numbers, and `pvm_perror` prints the texts.",
        rows: pvm::PVM,
    },
];
