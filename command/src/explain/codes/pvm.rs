//! What PVM's calls return. A test compares the names with those of the library.

use super::Row;

pub(super) const PVM: &[Row] = &[
    (
        "PvmBadParam",
        "Number -2, PVM's text \"Bad parameter\". An argument of the call is not possible.",
        "Correct the argument. The manual page of the call lists what is possible.",
    ),
    (
        "PvmMismatch",
        "Number -3, PVM's text \"Parameter mismatch\". The barrier or the collective got another count or type than other members gave.",
        "Pass the same values in all members.",
    ),
    (
        "PvmOverflow",
        "Number -4, PVM's text \"Value too large\". The value does not fit into the type that unpacks it.",
        "Unpack into a larger type.",
    ),
    (
        "PvmNoData",
        "Number -5, PVM's text \"End of buffer\". The receive buffer ends before the data that the call wants.",
        "Unpack the data in the order and with the types in which the sender packed the data.",
    ),
    (
        "PvmNoHost",
        "Number -6, PVM's text \"No such host\". The machine has no host of that name, or no host fits.",
        "`parvum hosts` lists the hosts. `parvum add NAME` adds one.",
    ),
    (
        "PvmNoFile",
        "Number -7, PVM's text \"No such file\". The program was not found. `pvm_spawn` searches `~/pvm3/bin/ARCH`, the `PATH` of its program and the `PATH` of the daemon.",
        "Copy the program there, or give its whole path.",
    ),
    (
        "PvmDenied",
        "Number -8, PVM's text \"Permission denied\". The owner of the entry does not permit this.",
        "Ask the owner.",
    ),
    (
        "PvmNoMem",
        "Number -10, PVM's text \"Malloc failed\". There is no memory for the message.",
        "Receive before you send more, or raise the limit of memory.",
    ),
    (
        "PvmBadMsg",
        "Number -12, PVM's text \"Can't decode message\". The message is encoded in a way that this host cannot read.",
        "Use `PvmDataDefault`.",
    ),
    (
        "PvmSysErr",
        "Number -14, PVM's text \"Can't contact local daemon\". No daemon answers.",
        "`parvum up` starts the machine. `parvum doctor` checks what stops it.",
    ),
    (
        "PvmNoBuf",
        "Number -15, PVM's text \"No current buffer\". There is no active buffer.",
        "Call `pvm_initsend` before packing, and `pvm_recv` before unpacking.",
    ),
    (
        "PvmNoSuchBuf",
        "Number -16, PVM's text \"No such buffer\". There is no buffer of that number.",
        "Use a number that a call returned, until `pvm_freebuf`.",
    ),
    (
        "PvmNullGroup",
        "Number -17, PVM's text \"Null group name\". The name of the group is empty.",
        "Give a name.",
    ),
    (
        "PvmDupGroup",
        "Number -18, PVM's text \"Already in group\". The task is in the group already.",
        "Leave the group first.",
    ),
    (
        "PvmNoGroup",
        "Number -19, PVM's text \"No such group\". There is no group of that name.",
        "A task must join it first.",
    ),
    (
        "PvmNotInGroup",
        "Number -20, PVM's text \"Not in group\". The task is not in the group.",
        "Call `pvm_joingroup` first.",
    ),
    (
        "PvmNoInst",
        "Number -21, PVM's text \"No such instance\". No member of the group has that instance number.",
        "Instances count from 0.",
    ),
    (
        "PvmHostFail",
        "Number -22, PVM's text \"Host failed\". The host is gone from the machine.",
        "`parvum hosts` lists the hosts that are left.",
    ),
    (
        "PvmNoParent",
        "Number -23, PVM's text \"No parent task\". No task started this one with `pvm_spawn`.",
        "Nothing: tasks of `parvum run` have no parent.",
    ),
    (
        "PvmNotImpl",
        "Number -24, PVM's text \"Not implemented\". Parvum does not have this call.",
        "The page on the differences from PVM lists such calls.",
    ),
    (
        "PvmDSysErr",
        "Number -25, PVM's text \"Pvmd system error\". The daemon reports an error of the operating system.",
        "`parvum info` names the daemon's log.",
    ),
    (
        "PvmBadVersion",
        "Number -26, PVM's text \"Version mismatch\". Program and daemon are of different releases.",
        "Use one release.",
    ),
    (
        "PvmOutOfRes",
        "Number -27, PVM's text \"Out of resources\". No processes, descriptors or memory are left.",
        "`parvum doctor` shows the limits.",
    ),
    (
        "PvmDupHost",
        "Number -28, PVM's text \"Duplicate host\". The host is in the machine already. For `pvm_start_pvmd`: the machine is up already.",
        "`parvum hosts` lists the hosts.",
    ),
    (
        "PvmCantStart",
        "Number -29, PVM's text \"Can't start pvmd\". No daemon could be started on the host.",
        "`parvum doctor HOST` checks ssh, the release and the ports.",
    ),
    (
        "PvmAlready",
        "Number -30, PVM's text \"Already in progress\". Another task has this part already, or the request runs already.",
        "Wait, or end that task.",
    ),
    (
        "PvmNoTask",
        "Number -31, PVM's text \"No such task\". No task has that id. It may have ended.",
        "`parvum ps` lists the tasks.",
    ),
    (
        "PvmNotFound",
        "Number -32, PVM's text \"Not Found\". The mailbox has no such entry.",
        "A task must put the entry first (`pvm_putinfo`).",
    ),
    (
        "PvmExists",
        "Number -33, PVM's text \"Already Exists\". The mailbox entry exists already.",
        "Store the entry with the flag `PvmMboxOverWritable` or `PvmMboxMultiInstance`.",
    ),
    (
        "PvmHostrNMstr",
        "Number -34, PVM's text \"Hoster must run on master host\". The hoster must run on the first host.",
        "Start the hoster on the first host.",
    ),
    (
        "PvmParentNotSet",
        "Number -35, PVM's text \"Spawning parent set PvmNoParent\". The parent spawned this task with the flag `PvmNoSpawnParent`.",
        "Leave out the flag in the parent's `pvm_spawn`.",
    ),
    (
        "PvmIPLoopback",
        "Number -36, PVM's text \"Master Host IP Address is Loopback!\". The name of the first host leads to a loopback address.",
        "Correct `/etc/hosts`.",
    ),
];
