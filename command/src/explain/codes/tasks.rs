//! Errors of tasks, of one-sided access, and between hosts.

use super::Row;

pub(super) const ASKING: &[Row] = &[
    (
        "E-GONE",
        "The task that was asked, or its host, is gone.",
        "Go on without that task. Its earlier work is done.",
    ),
    (
        "E-WINDOW",
        "The task has no memory window of that number, or has withdrawn the window.",
        "Keep a window until all tasks have used it.",
    ),
    (
        "E-RANGE",
        "A put, a get or an atomic operation would reach beyond the window. Nothing was done.",
        "Offset and length are bytes from the start of the window.",
    ),
    (
        "E-PROTECTED",
        "The memory of the window is protected or unmapped. Part of a long put may have been written.",
        "Correct the program that owns the window, unless its interface protects pages on purpose.",
    ),
    (
        "E-OPERATION",
        "There is no such operation on elements of that type, or the operands are not a whole number of elements.",
        "Use an operator that the interface has for that type.",
    ),
    (
        "E-REQUEST",
        "The interface of the task that was asked has no such request.",
        "Use one release on both sides.",
    ),
    (
        "E-LONG",
        "The answer is longer than the memory for it. The rest of the answer is lost.",
        "Give more memory for the answer.",
    ),
    (
        "E-UNANSWERED",
        "No answer came within the time that the caller gave. The request may still be carried out.",
        "Wait longer. The host may be overloaded, or the process stopped: `parvum ps` shows it.",
    ),
    (
        "E-NOSERVICE",
        "This process has no service: it has left the machine, is a forked child, or calls from a signal handler that interrupted such a call.",
        "Open a service in the child.",
    ),
];

pub(super) const TASKS: &[Row] = &[
    ("E-NOTASK", "No task has that id. The task may have ended.", "`parvum ps` lists the tasks."),
    (
        "E-BADPARAM",
        "An argument is not possible. The message names the argument.",
        "Correct the argument. The manual page of the call lists what is possible.",
    ),
    (
        "E-TOOLARGE",
        "A request is over 4 MiB, the mailbox is full (64 MiB), or a message between two daemons is over 64 MiB.",
        "Send large data as a message. `parvum info` lists the bounds.",
    ),
    ("E-CONNECTED", "The two tasks are connected already.", "Use the connection that exists."),
    ("E-DUPGROUP", "The task is in that group already.", "Leave the group first."),
    ("E-NOGROUP", "No task is in a group of that name.", "A task must join the group first."),
    ("E-NOTINGROUP", "The task is not in that group.", "Join the group first."),
    (
        "E-NOINST",
        "No member of the group has that instance number.",
        "Instances count from 0. New members take the numbers of members that left.",
    ),
    (
        "E-BARRIER",
        "A member left the group or died while others waited in its barrier, and fewer members remain than the barrier needs. PVM would wait for ever.",
        "Start the group again with the members that are left.",
    ),
    ("E-NOENTRY", "The mailbox has no entry of that name and index.", "A task must put the entry first."),
    ("E-PARTTAKEN", "Another task is resource manager, or tasker, already.", "End that task first."),
    (
        "E-NAMETAKEN",
        "A container of that name exists already, in this task or another.",
        "Choose another name, or unbind the container first (`ch_unbind`).",
    ),
    (
        "E-EXISTS",
        "The mailbox entry exists and may not be overwritten.",
        "Put the entry as one of several instances, or make the entry overwritable from the start.",
    ),
    (
        "E-DENIED",
        "The entry belongs to another task, which did not permit this. Or a connection showed the wrong secret.",
        "Ask the owner.",
    ),
];

pub(super) const HOSTS: &[Row] = &[
    (
        "E-DUPHOST",
        "The host is in the machine already, under this name or another. Or the name leads back to the host that adds: `/etc/hosts` often gives 127.0.0.1 or 127.0.1.1.",
        "`parvum hosts` lists the hosts. The message shows the host to which the name resolves.",
    ),
    (
        "E-CANTSTART",
        "No daemon could be started on the host that was to be added. The message names the step, the command, its exit code and what the command printed.",
        "Run by hand the command that the message shows. The command must not ask for a password or a confirmation. `parvum doctor HOST` checks ssh, the release and the ports.",
    ),
    (
        "E-TOKEN",
        "The text is damaged, or the daemon at this address refuses the token. The token has expired, was used or revoked, or belongs to another machine. A daemon forgets its tokens when it ends.",
        "`parvum invite` on a host of the machine makes another token.",
    ),
    (
        "E-EXPECT",
        "`parvum up --expect N` has waited for its whole time, and the machine has fewer than N hosts. The machine stays up.",
        "`parvum hosts` lists the hosts. The log of a host that is missing says why it did not join.",
    ),
    (
        "E-SLURM",
        "Parvum runs in a job of Slurm. Slurm's variables cannot be read, or `srun` could not start the daemons on the hosts of the job.",
        "The log that the message names has what `srun` said. With `PARVUM_SLURM=no`, Parvum uses this host only, and you add hosts by `parvum add`.",
    ),
    (
        "E-HOSTLOST",
        "The host that had to answer, or on which tasks ran, is gone from the machine.",
        "`parvum hosts` lists the hosts that are left. `parvum add HOST` adds the host again.",
    ),
    (
        "E-MINORITY",
        "This host has lost the majority of the voting hosts. Groups, mailbox and host list cannot change here. A change that was under way may have been made.",
        "Mend the network. Or `parvum down` here, and add these hosts to the other part again.",
    ),
    (
        "E-UNREACHED",
        "No address of the host led to it. The message names each address and the result: silent, nothing listens, unreachable.",
        "Check that the host is up and that firewalls let UDP through both ways: `parvum doctor HOST`.",
    ),
    ("E-NOLINK", "The host is not connected now.", "`parvum hosts -v` shows why."),
    (
        "E-BUSY",
        "Too many bytes wait for a host that does not keep up. Or a thread leaves the machine while another thread waits in a call. Or a signal handler sends to a task that the interrupted thread is connecting to.",
        "Try again later. Let the other thread's call end. Send when the handler has returned.",
    ),
    (
        "E-BIND",
        "The daemon cannot listen at its address and UDP port. With `PARVUM_PORT`, two machines on one host want the same port.",
        "Choose an address of this host and a free port.",
    ),
    (
        "E-KEYS",
        "The keys of the machine or of this host are missing, damaged, or open to other users. The message names the file.",
        "If the file is missing or damaged: remove the file and add the host again. If the file was open to others: `parvum down`, remove the keys, `parvum up`.",
    ),
    (
        "E-NOCERT",
        "A program that belongs to no machine sent to the daemon's port.",
        "Do nothing if a port scan was running. Otherwise find out which program sends from that address.",
    ),
    (
        "E-FOREIGN",
        "The other end belongs to another machine.",
        "Stop the daemon of that host, and add the host to this machine.",
    ),
    (
        "E-WRONGHOST",
        "A host answered that is not the host that was called, or its certificate is for another host.",
        "`parvum remove HOST`, then `parvum add HOST`.",
    ),
    (
        "E-STALE",
        "The daemon is of an earlier incarnation of the host, which was started again since.",
        "Stop the old daemon.",
    ),
    ("E-ONESELF", "Both ends have the same host number.", "`parvum remove HOST`, then `parvum add HOST`."),
    (
        "E-ENCRYPT",
        "A host that must encrypt (`PARVUM_ENCRYPT=yes`) was added to a machine whose tasks do not (`PARVUM_ENCRYPT=no`).",
        "Start the machine without `PARVUM_ENCRYPT=no`, or remove the setting on that host.",
    ),
];
