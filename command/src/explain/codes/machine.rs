//! Errors of starting and reaching the virtual machine, and of the command.

use super::Row;

pub(super) const REACHING: &[Row] = &[
    (
        "E-NODAEMON",
        "No virtual machine runs in the directory that the message names. `ps`, `hosts`, `info` and `kill` do not start one.",
        "`parvum up`, or run a program. If a machine should run, compare `PARVUM_DIR` and `XDG_RUNTIME_DIR` of the two shells: `parvum info` prints the directory.",
    ),
    (
        "E-NOCOMMAND",
        "A program wanted to start the machine and did not find the `parvum` command, which contains the daemon. The search order is `$PARVUM_BIN`, the folder of the library, `../bin` of that folder, `PATH`.",
        "Put the command into `PATH`, or its path into `PARVUM_BIN`.",
    ),
    (
        "E-START",
        "The daemon ended while it started, without a message.",
        "Read the log that the message names.",
    ),
    (
        "E-SLOWSTART",
        "The daemon was not ready in time: 10 s for a command, 60 s for a task.",
        "Read the log that the message names: it shows how far the daemon came. The host may be overloaded.",
    ),
    (
        "E-RUNNING",
        "A daemon was started by hand, or with a hostfile, in a directory in which a daemon runs already.",
        "Use the running machine, or `parvum down` first. Programs that start a machine at the same moment share it and never get this error.",
    ),
    (
        "E-DIR",
        "Parvum cannot use the directory of the machine: it is no directory, belongs to another user, is open to other users, is not writable, or is full. The message names the cause.",
        "Mend what the message names. The directory is `$PARVUM_DIR`, else `$XDG_RUNTIME_DIR/parvum`, else `/tmp/parvum-UID`. The directory must be yours, with mode 0700.",
    ),
    (
        "E-PATHLEN",
        "The path of the daemon's socket would be longer than the 107 bytes that Linux allows.",
        "Set `PARVUM_DIR` to a shorter path.",
    ),
    (
        "E-LOST",
        "The connection to the daemon broke, because the daemon was stopped or killed. Its tasks are dead.",
        "`parvum up` starts a new machine. After a daemon was killed, `daemon.log` stays in the machine's directory.",
    ),
    (
        "E-DEADLINE",
        "The daemon did not answer in time: 10 s for a command, 60 s for a task that joins, 5 s if the daemon is stopped. The message names the daemon's process and its state. The same code reports a task that did not connect within 60 s.",
        "If the daemon is stopped, `kill -CONT PID`. If the daemon hangs, `kill -KILL PID` ends the daemon and its tasks. The next program starts a new machine.",
    ),
    (
        "E-VERSION",
        "Program and daemon, or the daemons of two hosts, are of different releases. The message shows both.",
        "`parvum down`, then start the machine with the release of the program, on every host.",
    ),
    (
        "E-OTHERUSER",
        "The machine belongs to another user.",
        "`parvum up` starts your own. `PARVUM_DIR` may point to another user's directory.",
    ),
    ("E-GOINGDOWN", "The machine is being stopped.", "`parvum up` starts a new machine."),
    (
        "E-PROTOCOL",
        "Bytes arrived that are no Parvum message, or a message arrived out of turn.",
        "Use the command and the libraries of one release.",
    ),
    (
        "E-NOTENROLLED",
        "The program has not joined the virtual machine, and this call needs a task.",
        "Call `pvm_mytid()` or `parvum.enrol()` before this call.",
    ),
    (
        "E-SYSTEM",
        "The operating system refused a request. The message has the system's words.",
        "Mend what the system's words name.",
    ),
];

pub(super) const COMMAND: &[Row] = &[
    (
        "E-USAGE",
        "The command line is not valid: an unknown option, or a value that is not possible. The exit code is 2.",
        "`parvum COMMAND --help` lists the options and shows examples.",
    ),
    (
        "E-CONFIG",
        "The settings file has a line that is not valid, or Parvum cannot read the file that `PARVUM_CONFIG` names. The message names the line. The exit code is 2.",
        "Correct the line. [options.md](reference/options.md#a-file-of-settings) describes the file.",
    ),
    (
        "E-TASKFAILED",
        "A task of `parvum run` ended with a code other than 0, or by a signal. The message names the task, its rank, its host, and the code or signal.",
        "Read what the task printed before. `--on-failure continue` lets the other tasks go on.",
    ),
    (
        "E-TIMEOUT",
        "The job took longer than `--timeout` permits. The exit code is 124.",
        "Give the job more time. `parvum why` shows what a running job waits for.",
    ),
    (
        "E-COMPARE",
        "`parvum compare` could not measure. The message names what is missing.",
        "Install or correct what the message names.",
    ),
    (
        "E-REPLAY",
        "`parvum predict` or `parvum trace --replay` cannot use a trace or a file of costs. The message names the file, the line and the cause.",
        "`parvum trace --replay` writes traces; give it more `--memory` if records were lost. The program `loggp` measures costs.",
    ),
    (
        "E-REPORT",
        "`parvum report` could not write its file. The file is removed again.",
        "Make room, or name another place: `parvum report -o FILE`.",
    ),
    (
        "E-NOCODE",
        "`parvum explain` does not know the code.",
        "`parvum explain` without a code lists all codes.",
    ),
    (
        "E-RACES",
        "A job of `parvum run --races` ended well, and its process 0 reported nothing about races. The program does not share memory through TreadMarks.",
        "`man 7 treadmarks` describes programs whose races Parvum finds.",
    ),
];

pub(super) const STARTING: &[Row] = &[
    (
        "E-NOPROGRAM",
        "The daemon did not find the program. The message lists the folders that were searched. A name with a slash is a path, relative to the working directory. Other names are searched in `PATH`. `parvum run` returns 127.",
        "Give the whole path, or copy the program into a folder of the list.",
    ),
    (
        "E-NOTEXEC",
        "The file exists, but is a directory or has no x permission. `parvum run` returns 126.",
        "`chmod +x FILE`, or name the program instead of its source.",
    ),
    (
        "E-EXEC",
        "The system could not start the file: the interpreter of a script is missing, the file is for another processor, or the working directory does not exist. `parvum run` returns 126.",
        "Mend what the message names. Running the file by hand on that host shows the same error.",
    ),
    (
        "E-OPENMPI",
        "The program was built for Open MPI: it needs `libmpi.so.40`, which has another binary interface. The exit code is 1.",
        "Compile the program with Parvum's `mpicc` or with MPICH's. Or run the program with Open MPI's `mpirun`.",
    ),
    (
        "E-RESOURCES",
        "The host has no processes, descriptors or memory left, or a bound of the daemon is reached. A task raises its own limit of descriptors up to `ulimit -Hn`.",
        "`ulimit -u` and `ulimit -n` show the limits. `parvum info` lists the daemon's bounds. `parvum doctor` checks them.",
    ),
    (
        "E-NOTALL",
        "All tasks of a request were to start or none, and one task could not. `parvum run` always asks for all. The message names the rank and its own error.",
        "Mend the error of the named rank.",
    ),
    (
        "E-STATIC",
        "A spawned task does not join the machine, because its program contains PVM's own library (`libpvm3.a`), which looks for PVM's daemon. The daemon checks a program after two seconds, or when the program ends. The message goes to the parent's standard error and to the log.",
        "Link the program with the shared library: `cc ... -lpvm3`, without `-static` and `libpvm3.a`.",
    ),
    (
        "E-NOHOST",
        "The machine has no host of that name, or no host fits. For `parvum add`: ssh cannot resolve the name; the message has ssh's words.",
        "`parvum hosts` lists the hosts. `parvum add NAME` adds a host; `ssh NAME true` must work first.",
    ),
];
