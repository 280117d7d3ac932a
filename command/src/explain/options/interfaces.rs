//! Variables of one interface each: NX, CMMD, TreadMarks, PVM.

use super::Variable;

pub(super) const NX: &[Variable] = &[Variable {
    names: "`PARVUM_NX_BUFFERING`",
    value: "`paragon`, `ipsc`",
    default: "`paragon`",
    effect: "how a message that arrived before its `irecv` leaves the buffer. With `paragon`, `msgwait` copies the message. With `ipsc`, `irecv` copies the message, as on the iPSC/860 and under SUNMOS",
}];

pub(super) const CMMD: &[Variable] = &[
    Variable {
        names: "`PARVUM_CMMD_NODES`",
        value: "a number from 1 to 4096",
        default: "the cores",
        effect: "the number of nodes that the host starts",
    },
    Variable {
        names: "`PARVUM_CMMD_PROGRAM`",
        value: "a path",
        default: "NAME`.node` in the folder of the host program NAME, else the host program itself",
        effect: "the program of the nodes",
    },
    Variable {
        names: "`PARVUM_CMMD_NODE`",
        value: "set by the host program",
        default: "none",
        effect: "marks a program as a node of a host program (`CMMD_am_node`). Do not set it",
    },
];

pub(super) const TREADMARKS: &[Variable] = &[
    Variable {
        names: "`TMK_PROTOCOL`",
        value: "`auto`, `lazy`, `classic`, `home`",
        default: "`auto`",
        effect: "the protocol. `auto`: one mapping on one host, lazy consistency between hosts. `lazy`: each process has its own memory. `classic`: the protocol of 1994. `home`: pages have homes. The last three also work on one host ([treadmarks(7)](../../man/man7/treadmarks.7))",
    },
    Variable {
        names: "`TMK_HEAP`",
        value: "bytes, 1M to 8T",
        default: "`16G`",
        effect: "the size of the shared heap; the system gives memory when a page is first used",
    },
    Variable {
        names: "`TMK_PAGE`",
        value: "4096 to 65536 bytes, a power of two",
        default: "`4096`",
        effect: "the unit in which changes are detected",
    },
    Variable {
        names: "`TMK_RECORDS`",
        value: "bytes",
        default: "a quarter of the heap",
        effect: "if one process has more bytes of old pages and diffs, all processes discard unneeded pages and diffs at the next barrier",
    },
    Variable {
        names: "`TMK_STATISTICS`",
        value: "`yes`, `no`",
        default: "`no`",
        effect: "each process prints its counters at the end",
    },
    Variable {
        names: "`TMK_PUSH`",
        value: "`yes`, `no`",
        default: "`yes`; with `classic` always `no`",
        effect: "sends pages without a request to a process that needed them between two barriers in a row, or twice with the same lock",
    },
    Variable {
        names: "`TMK_AHEAD`",
        value: "`yes`, `no`",
        default: "`yes`; with `classic` or `TMK_RACES` `no`",
        effect: "also fetches the next pages if pages are missed in a row: 2, 4, 8 to 31",
    },
    Variable {
        names: "`TMK_GROUP`",
        value: "1 to 256, `host`",
        default: "`host` with `auto`, else 1",
        effect: "the maximum number of processes of a host that share their memory and form one node of the protocol. If you set it, it also applies on one host. With `TMK_RACES` and `TMK_REPLICAS` it must be 1",
    },
    Variable {
        names: "`TMK_RACES`",
        value: "`yes`, `no`, the path of a file, or `mailbox:` and a name",
        default: "`no`",
        effect: "finds data races by checking each access (x86-64), and prints them on standard error, into the file if it exists, or into the machine's mailbox; `parvum run --races` sets it",
    },
    Variable {
        names: "`TMK_HUGE`",
        value: "`yes`, `no`",
        default: "`no`",
        effect: "huge pages for the heap of one host, if the system has them for shared memory",
    },
    Variable {
        names: "`TMK_FAULTS`",
        value: "`auto`, `userfaultfd`, `mprotect`",
        default: "`auto`",
        effect: "how a process with its own memory closes pages. `auto` uses userfaultfd if the kernel permits it, because mprotect needs a memory area for each run of pages. `parvum info` shows the choice",
    },
    Variable {
        names: "`TMK_REPLICAS`",
        value: "`0`, `1`",
        default: "`0`",
        effect: "with `1`, each process also keeps the pages of another process. The run then survives the death of a process. See [Tmk_barrier_kept(3)](../../man/man3/Tmk_barrier_kept.3). `TMK_PROTOCOL` is then `home`",
    },
    Variable {
        names: "`TMK_NODES`",
        value: "1 to 256",
        default: "1",
        effect: "a program started without `parvum run` starts itself as this many tasks",
    },
];

pub(super) const PVM: &[Variable] = &[
    Variable {
        names: "`PVM_EXPORT`",
        value: "names, separated by `:`",
        default: "none",
        effect: "variables that spawned tasks inherit. `PVM_EXPORT`, `LD_LIBRARY_PATH`, `PVM_ROOT`, `PARVUM_ROUTE`, `PARVUM_FABRIC`, `PARVUM_CREDIT`, `PARVUM_MEMORY` and `PARVUM_SINGLE_COPY` are always inherited",
    },
    Variable {
        names: "`PVM_DEBUGGER`",
        value: "a program",
        default: "`$PVM_ROOT/lib/debugger`",
        effect: "the program that the daemon runs to start a task under a debugger; `bx=` in a hostfile overrides it",
    },
    Variable {
        names: "`PVM_ROOT`",
        value: "a folder",
        default: "none",
        effect: "Parvum also searches `$PVM_ROOT/bin/$PVM_ARCH` for spawned programs",
    },
    Variable {
        names: "`PVM_ARCH`",
        value: "a word",
        default: "`LINUX64`",
        effect: "the last part of `$PVM_ROOT/bin/$PVM_ARCH` and `$HOME/pvm3/bin/$PVM_ARCH`",
    },
    Variable {
        names: "`PVMCTX`",
        value: "a number, decimal or `0x...`",
        default: "`0`",
        effect: "the first context of the task; set for spawned tasks",
    },
    Variable {
        names: "`PVM_TMP`",
        value: "a folder",
        default: "`/tmp`",
        effect: "what `pvmgettmp` returns; Parvum's files are in `PARVUM_DIR`",
    },
    Variable { names: "`PVM_RSH`", value: "a command", default: "`ssh`", effect: "what `pvmgetrsh` returns" },
    Variable {
        names: "`PVM_DPATH`",
        value: "a command",
        default: "`pvmd`",
        effect: "what `pvmgetpvmd` returns",
    },
    Variable {
        names: "`PVM_VMID`",
        value: "a word",
        default: "none",
        effect: "another virtual machine of the same user: Parvum appends `-WORD` to the default directory. `PARVUM_DIR` overrides it",
    },
    Variable {
        names: "`PVM_PATH`",
        value: "folders, separated by `:`",
        default: "none",
        effect: "folders that Parvum searches first for spawned programs. It uses the variable of the calling program, else of the daemon. `ep=` in a hostfile comes before it",
    },
    Variable {
        names: "`PVM_WD`",
        value: "a folder",
        default: "the home",
        effect: "the folder where tasks start. The daemon reads it; `wd=` in a hostfile overrides it",
    },
    Variable {
        names: "`PVMSPAWNWD`",
        value: "a folder",
        default: "none",
        effect: "the folder where tasks start that this task spawns",
    },
    Variable {
        names: "`PVMTMASK`, `PVMTRCBUF`, `PVMTRCOPT`, `PARVUM_TRACE`",
        value: "set for spawned tasks",
        default: "none",
        effect: "which events a task traces, how, and to which task. The parent sets this with `pvm_settmask` and `pvm_setopt`",
    },
    Variable {
        names: "`PVMHOSTFILE`",
        value: "a hostfile",
        default: "none",
        effect: "the hostfile for `pvm` and `pvmd` if you give no hostfile and they start a virtual machine",
    },
];
