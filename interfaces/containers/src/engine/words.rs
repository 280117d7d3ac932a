//! The names that tools print for the waits of containers.

parvum_api::words! {
    "interface containers";
    /// A message from a container of this task.
    receive = RECEIVE, "call:own-container container receive";
    /// Room in a container, or credit.
    send = SEND, "call:container-of-peer container send";
    /// The answer to a call.
    rpc = RECEIVE, "call:container-of-peer rpc call";
    /// A name, bound or found.
    names = MACHINE, "call name server";
}
