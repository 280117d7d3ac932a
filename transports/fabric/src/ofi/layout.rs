//! The structures of libfabric that this crate reads or fills in, as the library's headers lay them out.
//!
//! New versions of libfabric add fields only at the end of a structure, and the library allocates the structures. Each structure here
//! ends with the last field that is used.

use std::ffi::{c_char, c_int, c_void};

/// Memory of the caller, and of an operation.
pub type Memory = *mut c_void;
type Bytes = *const c_void;
type Unused = *const c_void;
type Object = *mut Fid;

/// The version of the interface that this crate is written for: 1.9, of 2019.
pub const API: u32 = 1 << 16 | 9;

/// Capabilities and flags of operations.
pub const MSG: u64 = 1 << 1;
pub const TAGGED: u64 = 1 << 3;
pub const RECV: u64 = 1 << 10;
pub const SEND: u64 = 1 << 11;
/// Each operation gets a block of memory of the caller for the time that it is under way: 4 words, or 8.
pub const CONTEXT: u64 = 1 << 59;
pub const CONTEXT2: u64 = 1 << 52;
/// Sends arrive in their order.
pub const ORDER_SAS: u64 = 1 << 8;
/// Demands of a provider on registered memory.
pub const MR_LOCAL: c_int = 1 << 2;
pub const MR_VIRT_ADDR: c_int = 1 << 4;
pub const MR_ALLOCATED: c_int = 1 << 5;
pub const MR_PROV_KEY: c_int = 1 << 6;
pub const MR_ENDPOINT: c_int = 1 << 9;
/// Whoever sends; any address.
pub const UNSPEC: u64 = u64::MAX;

pub const EP_RDM: c_int = 3;
pub const THREAD_DOMAIN: c_int = 3;
pub const AV_TABLE: c_int = 2;
pub const CQ_FORMAT_MSG: c_int = 2;
pub const WAIT_FD: c_int = 3;
/// Commands of `control`.
pub const GETWAIT: c_int = 5;
pub const ENABLE: c_int = 6;
/// Results: the call has nothing to give now, and the queue has an error to read.
pub const EAGAIN: isize = 11;
pub const EAVAIL: isize = 259;

#[repr(C)]
pub struct Info {
    pub next: *mut Info,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addrlen: usize,
    pub dest_addrlen: usize,
    pub src_addr: Memory,
    pub dest_addr: Memory,
    pub handle: Object,
    pub tx_attr: *mut TxAttr,
    pub rx_attr: *mut RxAttr,
    pub ep_attr: *mut EpAttr,
    pub domain_attr: *mut DomainAttr,
    pub fabric_attr: *mut FabricAttr,
}

#[repr(C)]
pub struct TxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_size: usize,
    pub size: usize,
}

#[repr(C)]
pub struct RxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub total_buffered_recv: usize,
    pub size: usize,
}

#[repr(C)]
pub struct EpAttr {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_msg_size: usize,
}

#[repr(C)]
pub struct DomainAttr {
    pub domain: Memory,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_mgmt: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
}

#[repr(C)]
pub struct FabricAttr {
    pub fabric: *mut Fabric,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
}

/// The beginning of every object.
#[repr(C)]
pub struct Fid {
    pub class: usize,
    pub context: Memory,
    pub ops: *const Ops,
}

#[repr(C)]
pub struct Ops {
    pub size: usize,
    pub close: unsafe extern "C" fn(Object) -> c_int,
    pub bind: unsafe extern "C" fn(Object, Object, u64) -> c_int,
    pub control: unsafe extern "C" fn(Object, c_int, Memory) -> c_int,
}

#[repr(C)]
pub struct Fabric {
    pub fid: Fid,
    pub ops: *const FabricOps,
}

#[repr(C)]
pub struct FabricOps {
    pub size: usize,
    pub domain: unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, Memory) -> c_int,
    passive_ep: Unused,
    eq_open: Unused,
    wait_open: Unused,
    pub trywait: unsafe extern "C" fn(*mut Fabric, *mut Object, c_int) -> c_int,
}

#[repr(C)]
pub struct Domain {
    pub fid: Fid,
    pub ops: *const DomainOps,
    pub mr: *const MrOps,
}

#[repr(C)]
pub struct DomainOps {
    pub size: usize,
    pub av_open: unsafe extern "C" fn(*mut Domain, *mut AvAttr, *mut *mut Av, Memory) -> c_int,
    pub cq_open: unsafe extern "C" fn(*mut Domain, *mut CqAttr, *mut *mut Cq, Memory) -> c_int,
    pub endpoint: unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Ep, Memory) -> c_int,
}

#[repr(C)]
pub struct MrOps {
    pub size: usize,
    /// Memory, access, offset, key, flags, the new object, context.
    pub reg: unsafe extern "C" fn(Object, Bytes, usize, u64, u64, u64, u64, *mut *mut Mr, Memory) -> c_int,
}

#[repr(C)]
pub struct Mr {
    pub fid: Fid,
    pub desc: Memory,
    pub key: u64,
}

#[repr(C)]
pub struct AvAttr {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: Memory,
    pub flags: u64,
}

#[repr(C)]
pub struct Av {
    pub fid: Fid,
    pub ops: *const AvOps,
}

#[repr(C)]
pub struct AvOps {
    pub size: usize,
    pub insert: unsafe extern "C" fn(*mut Av, Bytes, usize, *mut u64, u64, Memory) -> c_int,
    insertsvc: Unused,
    insertsym: Unused,
    pub remove: unsafe extern "C" fn(*mut Av, *mut u64, usize, u64) -> c_int,
}

#[repr(C)]
pub struct CqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: Memory,
}

#[repr(C)]
pub struct Cq {
    pub fid: Fid,
    pub ops: *const CqOps,
}

#[repr(C)]
pub struct CqOps {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut Cq, Memory, usize) -> isize,
    readfrom: Unused,
    pub readerr: unsafe extern "C" fn(*mut Cq, *mut CqError, u64) -> isize,
}

/// A completion of the format MSG.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CqEntry {
    pub context: Memory,
    pub flags: u64,
    pub length: usize,
}

#[repr(C)]
pub struct CqError {
    pub context: Memory,
    pub flags: u64,
    pub length: usize,
    pub buffer: Memory,
    pub data: u64,
    pub tag: u64,
    pub too_long: usize,
    pub error: c_int,
    pub provider_error: c_int,
    pub error_data: Memory,
    pub error_data_size: usize,
}

#[repr(C)]
pub struct Ep {
    pub fid: Fid,
    pub ops: *const EpOps,
    pub cm: *const CmOps,
    pub msg: *const MsgOps,
    rma: Unused,
    pub tagged: *const TaggedOps,
}

#[repr(C)]
pub struct EpOps {
    pub size: usize,
    pub cancel: unsafe extern "C" fn(Object, Memory) -> isize,
}

#[repr(C)]
pub struct CmOps {
    pub size: usize,
    setname: Unused,
    pub getname: unsafe extern "C" fn(Object, Memory, *mut usize) -> c_int,
}

#[repr(C)]
pub struct MsgOps {
    pub size: usize,
    /// Buffer, length, description of its memory, from whom, context.
    pub recv: unsafe extern "C" fn(*mut Ep, Memory, usize, Memory, u64, Memory) -> isize,
    recvv: Unused,
    recvmsg: Unused,
    /// Buffer, length, description of its memory, to whom, context.
    pub send: unsafe extern "C" fn(*mut Ep, Bytes, usize, Memory, u64, Memory) -> isize,
    sendv: Unused,
    sendmsg: Unused,
    /// Buffer, length, to whom. The buffer is free at once.
    pub inject: unsafe extern "C" fn(*mut Ep, Bytes, usize, u64) -> isize,
}

#[repr(C)]
pub struct TaggedOps {
    pub size: usize,
    /// Buffer, length, description of its memory, from whom, tag, bits of the tag that do not count, context.
    pub recv: unsafe extern "C" fn(*mut Ep, Memory, usize, Memory, u64, u64, u64, Memory) -> isize,
    recvv: Unused,
    recvmsg: Unused,
    /// Buffer, length, description of its memory, to whom, tag, context.
    pub send: unsafe extern "C" fn(*mut Ep, Bytes, usize, Memory, u64, u64, Memory) -> isize,
}
