//! The names that tools print for the waits of CMMD.

parvum_api::words! {
    // A run has all its nodes from the beginning.
    "interface:closed cmmd";
    // A blocking send ends with its receive; other sends wait only if too much lies unreceived already.
    send_block = SEND, "call:until-received send_block";
    send_noblock = SEND, "call send_noblock";
    receive_block = RECEIVE, "call receive_block";
    msg_wait = WAIT, "call msg_wait";
    msg_pending = PROBE, "call msg_pending";
    sync_with_nodes = WAIT, "call sync_with_nodes";
    all_nodes = WAIT, "call all nodes";
}
