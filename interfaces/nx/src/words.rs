//! The names that tools print for the waits of NX.

parvum_api::words! {
    // A run has all its nodes from the beginning.
    "interface:closed nx";
    csend = SEND, "call csend";
    crecv = RECEIVE, "call crecv";
    msgwait = WAIT, "call msgwait";
    cprobe = PROBE, "call cprobe";
    msgcancel = WAIT, "call msgcancel";
    gsync = WAIT, "call gsync";
    global = WAIT, "call global operation";
}
