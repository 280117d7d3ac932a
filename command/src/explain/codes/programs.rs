//! Errors that appear inside programs: of the libraries, of Python, of TreadMarks.

use super::Row;

pub(super) const PROGRAM: &[Row] = &[
    (
        "E-NOENGINE",
        "The interface library did not find `libparvum.so.0`. The library takes the copy that the process has loaded, else the one in its own folder, else the loader's.",
        "Keep both libraries in one folder, or put the folder into `LD_LIBRARY_PATH`.",
    ),
    (
        "E-OPTION",
        "A variable has a value that is not valid. The message lists the valid values. The daemon checks before it starts, a program in its first call.",
        "Use a value of the list. [options.md](reference/options.md) has all variables.",
    ),
    (
        "E-NOMEMORY",
        "There is no memory for the segment that two tasks share, or for a message that arrived. That message is lost; later messages are not.",
        "Raise `ulimit -v` or the memory limit of the container, or use fewer tasks.",
    ),
    (
        "E-LAUNCHER",
        "Another launcher (srun, prte, Open MPI's mpirun, Hydra) has started the processes of an MPI program, and they cannot meet. Their hosts belong to several machines, some processes did not call MPI_Init, or libpmix.so.2 is missing. A world of one for each process would give wrong results.",
        "Make the hosts one machine first: `parvum up` in a job of Slurm, or `parvum add HOST`. Or start the program with Parvum's mpiexec. If you want a world of one for each process, set `PARVUM_LAUNCHER=none`.",
    ),
    (
        "E-STACK",
        "A program that prints call stacks is missing, or the system forbids the look at the task. The list shows the threads, their states, and the place in the kernel where each sleeps.",
        "Install elfutils (`eu-stack`) or gdb, and py-spy for Python. As a user other than root, `kernel.yama.ptrace_scope` must be 0.",
    ),
    (
        "E-NOJOB",
        "There is no job of this number in `~/.local/state/parvum/jobs`, or the job runs on another host that has the same home.",
        "`parvum jobs` lists the jobs and their hosts. The oldest jobs that have ended are removed: 200 are kept.",
    ),
    ("E-JOBENDED", "The job has ended and cannot be cancelled.", "`parvum jobs` shows which jobs run."),
    ("E-JOBRUNS", "The job runs, so its folder is needed.", "`parvum cancel JOB` ends the job."),
    (
        "E-JOBLOST",
        "The process that keeps the job was killed, or the host was stopped. Nobody knows how the job ended. Its tasks have ended with that process.",
        "`parvum logs JOB` shows what the job had printed. Submit the job again.",
    ),
    (
        "E-JOBOUTPUT",
        "The output of the job was longer than 256 MiB, or the disk was full. The job ran on, and the end of its output was not kept.",
        "Let the program write large output to files.",
    ),
    (
        "E-FABRIC",
        "`PARVUM_ROUTE` is `fabric`, and libfabric is missing or has no provider that serves.",
        "Install libfabric (Debian: `libfabric1`). Choose one of the providers that `fi_info -t FI_EP_RDM` lists with `PARVUM_FABRIC`. Or unset `PARVUM_ROUTE`.",
    ),
    (
        "E-TCP",
        "The TCP connection to another task failed.",
        "Check that the loopback interface is up and that firewalls let TCP through. `PARVUM_ROUTE=shm` needs no TCP on one host.",
    ),
];

pub(super) const PYTHON: &[Row] = &[
    (
        "E-FORKED",
        "The process was forked from a task and is no task itself. Messages would go to its parent.",
        "Call `parvum.enrol()` in the child, which makes the child a task. Or start processes with `vm.spawn`.",
    ),
    (
        "E-TIMEDOUT",
        "A wait was longer than its time limit. Later messages can still be received. Or a call of a pool ran longer than `timeout=` or `max_time=` permits, and was stopped.",
        "Wait longer, or allow the call more time. `parvum why` shows what is missing.",
    ),
    ("E-CANCELLED", "`cancel()` took the request back.", "Start the request again if its result is needed."),
    (
        "E-REFUSED",
        "The machine refused, and gave no code.",
        "`parvum info` names the daemon's log, which has the reason.",
    ),
    ("E-PARVUM", "Another failure of the package. The message says which.", "Mend what the message names."),
    (
        "E-SHAPE",
        "The message is no array of the type or layout of the memory given for it. The message stays where it is.",
        "Give memory of the message's type and size. `vm.recv` makes it.",
    ),
    (
        "E-NOROOM",
        "The message is longer than the memory given for it. The message stays where it is.",
        "Receive with more room. `vm.probe` returns the length.",
    ),
    (
        "E-PVM",
        "A call of `vm.pvm` failed. The text has the call, PVM's code and its number.",
        "`parvum explain PvmNoTask` explains PVM's code.",
    ),
    (
        "E-PICKLE",
        "An object cannot be pickled. The message names the part that cannot.",
        "Leave that part out (`__getstate__`). cloudpickle, if installed, pickles functions and classes of scripts and notebooks.",
    ),
    (
        "E-NOTSHARED",
        "A `parvum.SharedArray` was sent to a task that does not share its memory: a task of another run, or a task that has not called `parvum.shared` yet.",
        "Send a copy: `numpy.array(shared.array)`. Or start the tasks together with `parvum run -n N` or one `vm.spawn`.",
    ),
    (
        "E-FILE",
        "A memory-mapped array is sent as the name of its file, and the receiver's host does not have the file.",
        "Put the file on a disk that all hosts share, or send a copy: `numpy.array(a)`.",
    ),
    (
        "E-WORKER",
        "A worker of a pool died in a call that may not run again. Another worker took its place, and calls that had not begun ran elsewhere.",
        "If the call may run again, mark it: `@parvum.idempotent(retries=3)`, or `Executor(retries=3)`.",
    ),
    (
        "E-REMOTE",
        "A call in another process raised an exception that cannot be pickled. The text has its class and message, and `__cause__` has the traceback.",
        "Give the exception a `__reduce__` that calls its class with its arguments.",
    ),
    (
        "E-PLACES",
        "The host that kept the machine's queues, events, barriers and locks is gone, with everything in them.",
        "Begin again: the next operation finds empty queues, free locks and cleared events.",
    ),
];

pub(super) const TREADMARKS: &[Row] = &[
    (
        "E-TMK-EARLY",
        "A call came before `Tmk_startup`, or in a forked child, which is no process of the run.",
        "Call `Tmk_startup` first, in every process.",
    ),
    ("E-TMK-TWICE", "The program called `Tmk_startup` twice.", "Call `Tmk_startup` once in every process."),
    ("E-TMK-LOCK", "There is no lock of that number.", "Use 0 to `TMK_NLOCKS` - 1."),
    (
        "E-TMK-BARRIER",
        "There is no barrier of that number. Or all processes wait in barriers, and not in the same one.",
        "Use 0 to `TMK_NBARRIERS` - 1, and the same barrier in all processes.",
    ),
    (
        "E-TMK-HELD",
        "A process takes a lock that it holds, or releases a lock that it does not hold.",
        "Locks are not recursive. Release a lock once, in the process that took it.",
    ),
    (
        "E-TMK-POINTER",
        "The address is no block of the shared heap, or the block is free already.",
        "Pass what `Tmk_malloc` returned, once.",
    ),
    (
        "E-TMK-PRIVATE",
        "`Tmk_distribute` was given memory that other processes do not have at that address: of a stack, of `malloc`, or shared.",
        "Use a global or static variable.",
    ),
    (
        "E-TMK-ARGUMENT",
        "A size, type or operator is not possible. The message lists what is.",
        "Correct the argument.",
    ),
    (
        "E-TMK-HOME",
        "A process used a block of memory before the program called `Tmk_home` for this block.",
        "Call `Tmk_home` right after `Tmk_malloc`.",
    ),
    (
        "E-TMK-VIEW",
        "The view does not exist or exists already, was acquired twice, was released in another way than acquired, was used without being acquired, or was written by a reader.",
        "Correct what the message names; `man Tmk_acquire_view`.",
    ),
    ("E-TMK-NODES", "The run has more processes than `TMK_NPROCS`.", "Use fewer processes."),
    ("E-TMK-BINARY", "A process runs another file than process 0.", "Use the same file on all hosts."),
    (
        "E-TMK-OPTION",
        "A process has other values of `TMK_PROTOCOL`, `TMK_HEAP`, `TMK_PAGE`, `TMK_RECORDS`, `TMK_PUSH`, `TMK_AHEAD`, `TMK_RACES`, `TMK_REPLICAS` or `TMK_GROUP` than process 0.",
        "Set the variables before `parvum run`, which passes them on.",
    ),
    (
        "E-TMK-ROOM",
        "A host has no room for the addresses of the heap, or none are free in all processes.",
        "Use a smaller `TMK_HEAP`, or a higher `ulimit -v`.",
    ),
    (
        "E-TMK-DEAD",
        "A process ended before its `Tmk_exit`, or with an error.",
        "Read what that process printed.",
    ),
    (
        "E-TMK-HUGE",
        "`TMK_HUGE=yes`, and the system gives shared memory no huge pages, or each process has pages of its own.",
        "As root `echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled`, or unset `TMK_HUGE`.",
    ),
    (
        "E-TMK-FAULTS",
        "`TMK_FAULTS=userfaultfd`, and the kernel is older than Linux 6.4, or a sandbox forbids userfaultfd.",
        "Unset `TMK_FAULTS`.",
    ),
    (
        "E-TMK-PROTECT",
        "The system does not protect a page, mostly because the process has too many memory areas.",
        "As root `sysctl -w vm.max_map_count=1048576`, or use a larger `TMK_PAGE`.",
    ),
    (
        "E-TMK-HANDLER",
        "A signal handler used shared memory while its process waited in a TreadMarks call.",
        "Use the memory outside the handler.",
    ),
    (
        "E-TMK-CHILD",
        "A process made by `fork` used shared memory.",
        "Use the memory in the parent, or give the child a copy.",
    ),
    (
        "E-TMK-PROTOCOL",
        "Another process sent what this process cannot read.",
        "Use libraries of one release.",
    ),
    (
        "E-TMK-REPLICA",
        "With `TMK_REPLICAS=1`, a process died, and the process that kept its memory died too, before a barrier made a new copy. Or the program uses a feature that replicas exclude: views, looking for races, pages without homes, tasks that share pages.",
        "Start again; `man Tmk_barrier_kept` describes which failures a run survives.",
    ),
    (
        "E-TMK-RACES",
        "Looking for races needs x86-64, and a private memory for each process, so no `TMK_GROUP`.",
        "Run the program on x86-64, and unset `TMK_GROUP`.",
    ),
    (
        "E-TMK-LEFT",
        "A process that shares memory left the machine before a barrier, by `pvm_exit` for example.",
        "Leave the machine after `Tmk_exit`.",
    ),
    (
        "E-TMK-MACHINE",
        "There is no machine, or the machine is gone. The message has the reason.",
        "`parvum up`, then start the program again.",
    ),
];
