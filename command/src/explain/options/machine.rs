//! Variables of the virtual machine and of its messages.

use super::Variable;

pub(super) const WHICH_MACHINE: &[Variable] = &[
    Variable {
        names: "`PARVUM_DIR`",
        value: "a directory, yours, mode 0700",
        default: "`$XDG_RUNTIME_DIR/parvum`, else `/tmp/parvum-UID`",
        effect: "the directory of the virtual machine: socket, lock, log. Another directory means another virtual machine. Spawned programs inherit the variable.",
    },
    Variable {
        names: "`PARVUM_BIN`",
        value: "the `parvum` command, or its folder",
        default: "the folder of the library, then its `../bin`, then `PATH`",
        effect: "the command that a program runs to start a virtual machine",
    },
    Variable {
        names: "`PARVUM_TID`",
        value: "set by the daemon",
        default: "none",
        effect: "the task id of a spawned program. Do not set it. A program without this variable becomes a new task",
    },
    Variable {
        names: "`PARVUM_TICKET`",
        value: "set by the daemon",
        default: "none",
        effect: "a secret, new for each spawn. It proves that the program is the task of `PARVUM_TID`, or a child of that task. A program without the right ticket becomes a new task",
    },
    Variable {
        names: "`PARVUM_CONFIG`",
        value: "a file",
        default: "`~/.config/parvum/config`",
        effect: "the file of settings. If you set this variable, the file must exist",
    },
];

pub(super) const RANK: &[Variable] = &[
    Variable {
        names: "`PARVUM_RANK`",
        value: "a number from 0",
        default: "none",
        effect: "the rank of the task in its job; `parvum ps` shows it",
    },
    Variable {
        names: "`PARVUM_SIZE`",
        value: "a number",
        default: "none",
        effect: "the number of tasks at the start of the job",
    },
    Variable {
        names: "`PARVUM_LOCAL_RANK`",
        value: "a number from 0",
        default: "none",
        effect: "the rank of the task on its host",
    },
    Variable {
        names: "`PARVUM_MPI_APPNUM`",
        value: "a number from 0",
        default: "none",
        effect: "the number of the task's program in an MPI job: the attribute MPI_APPNUM",
    },
    Variable {
        names: "`PARVUM_MPI_UNIVERSE`",
        value: "a number from 1",
        default: "none",
        effect: "the total number of processes that the user wants (`mpiexec -usize`): the attribute MPI_UNIVERSE_SIZE",
    },
    Variable {
        names: "`PARVUM_LAUNCHER`",
        value: "`auto`, `none`",
        default: "`auto`",
        effect: "whether `MPI_Init` meets the other processes of a launcher that is not Parvum's, such as `srun`. `none`: each process has a world of one",
    },
    Variable {
        names: "`PARVUM_MPI_PARENT`",
        value: "1",
        default: "none",
        effect: "set for processes that `MPI_Comm_spawn` starts: their parents send them a message",
    },
];

pub(super) const MESSAGES: &[Variable] = &[
    Variable {
        names: "`PARVUM_ROUTE`",
        value: "`auto`, `shm`, `tcp`, `routed`, `fabric`",
        default: "`auto`",
        effect: "the transport of every message of this task. `PARVUM_ROUTE` overrides the choice of the program. `auto` uses shared memory on one host. A PVM program can choose with `pvm_setopt(PvmRoute, ...)`. `fabric` uses libfabric ([High-speed networks](../how-to/hosts/fabric.md))",
    },
    Variable {
        names: "`PARVUM_FABRIC`",
        value: "a provider of libfabric, such as `verbs`, `efa`",
        default: "none",
        effect: "Messages between hosts use this provider of libfabric. With `PARVUM_ROUTE=fabric`, messages on one host also use the provider. All tasks of a program need the same provider. Spawned tasks inherit this variable",
    },
    Variable {
        names: "`PARVUM_CREDIT`",
        value: "bytes",
        default: "`67108864`",
        effect: "the bytes that this task may have sent to one receiver and the receiver has not received; beyond this number, sends wait",
    },
    Variable {
        names: "`PARVUM_MEMORY`",
        value: "bytes",
        default: "a quarter of the host's memory, or of the control group's limit",
        effect: "memory for buffered messages when blocked senders wait for each other. Beyond it, sends return `PvmNoMem`",
    },
    Variable {
        names: "`PARVUM_START_BY`",
        value: "a command, `{host}` in it",
        default: "`ssh -o BatchMode=yes -o ConnectTimeout=5 {host}`",
        effect: "the command that starts a daemon on another host. The daemon that adds the host reads this variable and the next three. See [Start daemons without ssh](../how-to/hosts/start-daemons.md)",
    },
    Variable {
        names: "`PARVUM_REMOTE`",
        value: "a command",
        default: "`parvum`",
        effect: "the command on the other host, followed by `join`",
    },
    Variable {
        names: "`PARVUM_DETECT`",
        value: "milliseconds",
        default: "`1000`",
        effect: "a host that answers no question for this time is lost",
    },
    Variable {
        names: "`PARVUM_PORT`",
        value: "a number",
        default: "chosen by the system",
        effect: "the UDP port where this daemon listens for others",
    },
    Variable {
        names: "`PARVUM_JOIN`",
        value: "`parvum://HOST:PORT#TOKEN`",
        default: "none",
        effect: "the machine that `parvum join` joins. `parvum invite` prints it",
    },
    Variable {
        names: "`PARVUM_SLURM`",
        value: "`auto`, `no`",
        default: "`auto`",
        effect: "whether a machine that starts in a job of Slurm gets the hosts of the job ([Slurm](../how-to/hosts/slurm.md))",
    },
    Variable {
        names: "`PARVUM_ENCRYPT`",
        value: "`yes`, `no`",
        default: "`yes`",
        effect: "whether tasks of two hosts encrypt their connections ([Encryption and keys](../how-to/hosts/encryption.md)). Only the first daemon reads it, and `parvum hosts -v` shows it. Daemons always encrypt",
    },
    Variable {
        names: "`PARVUM_SINGLE_COPY`",
        value: "`on`, `off`",
        default: "`on`",
        effect: "with `off`, long messages go through shared memory and long collectives use messages, as if the kernel did not permit reading another process",
    },
];
