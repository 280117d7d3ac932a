//! An endpoint for reliable messages, and what belongs to it. No call blocks.

mod messages;

pub use messages::{Completion, Posted};

use super::buffers::{BUFFER, Block, LONG_BUFFER};
use super::layout::*;
use super::library::{FabricError, Library, provider_name};
use super::objects::Object;
use std::ffi::{c_int, c_void};
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::{from_mut, null_mut};
use std::sync::OnceLock;

/// Buffers that are allocated together.
pub const TOGETHER: u32 = 36;
/// Long buffers that are allocated together.
pub const LONG_TOGETHER: u32 = 4;
/// Marks the number of a long buffer.
const LONG: u32 = 1 << 31;

/// The endpoint. Fields are closed in their order.
pub struct Endpoint {
    ep: Object<Ep>,
    blocks: Vec<Block>,
    long_blocks: Vec<Block>,
    cq: Object<Cq>,
    av: Object<Av>,
    domain: Object<Domain>,
    fabric: Object<Fabric>,
    library: &'static Library,
    provider: String,
    address: Vec<u8>,
    inject: usize,
    registers: c_int,
    keys: u64,
}

/// Whether a number is that of a long buffer.
pub fn is_long(slot: u32) -> bool {
    slot & LONG != 0
}

fn library() -> Result<&'static Library, FabricError> {
    static LIBRARY: OnceLock<Result<Library, FabricError>> = OnceLock::new();
    LIBRARY.get_or_init(Library::open).as_ref().map_err(Clone::clone)
}

impl Endpoint {
    /// Opens an endpoint of the provider with this name, or of the best.
    pub fn open(provider: Option<&str>) -> Result<Endpoint, FabricError> {
        let library = library()?;
        let name = provider.map(provider_name).transpose()?;
        let chosen = library.choose(name.as_deref())?;
        let info = chosen.info();
        // SAFETY: information of `fi_getinfo` has all attributes.
        let (inject, registers, order) = unsafe {
            ((*(*info).tx_attr).inject_size, (*(*info).domain_attr).mr_mode, (*(*info).tx_attr).msg_order)
        };
        if order & ORDER_SAS == 0 {
            return Err(FabricError::NoProvider(format!(" {:?} with ordered messages", chosen.provider())));
        }
        let made = |call, result: c_int| {
            if result == 0 { Ok(()) } else { Err(library.error(call, result as isize)) }
        };
        // SAFETY: objects are made and bound in the order that the manual gives. Each out-pointer is of the type that the call makes, and
        // what it made belongs to an `Object` at once.
        unsafe {
            let fabric = owned("fi_fabric", library.fabric(&chosen)?)?;
            let (mut domain, mut cq, mut av, mut ep) = (null_mut(), null_mut(), null_mut(), null_mut());
            made("fi_domain", ((*(*fabric.get()).ops).domain)(fabric.get(), info, &mut domain, null_mut()))?;
            let domain = owned("fi_domain", domain)?;
            let mut of_cq = CqAttr {
                size: 0,
                flags: 0,
                format: CQ_FORMAT_MSG,
                wait_obj: WAIT_FD,
                signaling_vector: 0,
                wait_cond: 0,
                wait_set: null_mut(),
            };
            let ops = (*domain.get()).ops;
            made("fi_cq_open", ((*ops).cq_open)(domain.get(), &mut of_cq, &mut cq, null_mut()))?;
            let cq = owned("fi_cq_open", cq)?;
            let mut of_av = AvAttr {
                kind: AV_TABLE,
                rx_ctx_bits: 0,
                count: 0,
                ep_per_node: 0,
                name: std::ptr::null(),
                map_addr: null_mut(),
                flags: 0,
            };
            made("fi_av_open", ((*ops).av_open)(domain.get(), &mut of_av, &mut av, null_mut()))?;
            let av = owned("fi_av_open", av)?;
            made("fi_endpoint", ((*ops).endpoint)(domain.get(), info, &mut ep, null_mut()))?;
            let ep = owned("fi_endpoint", ep)?;
            let of_ep = (*ep.fid()).ops;
            made("fi_ep_bind", ((*of_ep).bind)(ep.fid(), cq.fid(), SEND | RECV))?;
            made("fi_ep_bind", ((*of_ep).bind)(ep.fid(), av.fid(), 0))?;
            made("fi_enable", ((*of_ep).control)(ep.fid(), ENABLE, null_mut()))?;
            let address = name_of(&ep).map_err(|result| library.error("fi_getname", result as isize))?;
            let provider = chosen.provider();
            Ok(Endpoint {
                ep,
                blocks: Vec::new(),
                long_blocks: Vec::new(),
                cq,
                av,
                domain,
                fabric,
                library,
                provider,
                address,
                inject: inject.min(BUFFER),
                registers,
                keys: 0,
            })
        }
    }

    /// The provider's name.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// What peers send to.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Messages up to this length are copied by the library.
    pub fn inject_size(&self) -> usize {
        self.inject
    }

    /// Allocates [`TOGETHER`] more buffers, and returns the number of the first.
    pub fn add_buffers(&mut self) -> Result<u32, FabricError> {
        let first = self.blocks.len() as u32 * TOGETHER;
        let block = self.registered(Block::new(first, TOGETHER, BUFFER))?;
        self.blocks.push(block);
        Ok(first)
    }

    /// Allocates [`LONG_TOGETHER`] more long buffers, and returns the number of the first.
    pub fn add_long_buffers(&mut self) -> Result<u32, FabricError> {
        let first = (self.long_blocks.len() as u32 * LONG_TOGETHER) | LONG;
        let block = self.registered(Block::new(first, LONG_TOGETHER, LONG_BUFFER))?;
        self.long_blocks.push(block);
        Ok(first)
    }

    fn registered(&mut self, mut block: Block) -> Result<Block, FabricError> {
        if self.registers & MR_LOCAL != 0 {
            let region = self.register(block.memory().as_ptr().cast(), block.memory().len(), SEND | RECV)?;
            block.set_region(region);
        }
        Ok(block)
    }

    /// Registers memory.
    fn register(
        &mut self,
        memory: *const c_void,
        length: usize,
        access: u64,
    ) -> Result<Object<Mr>, FabricError> {
        // Providers that choose keys themselves ignore this one.
        self.keys += 1;
        let mut region = null_mut();
        // SAFETY: the memory belongs to the caller, who keeps it until the region is closed.
        unsafe {
            let domain = self.domain.get();
            let result = ((*(*domain).mr).reg)(
                self.domain.fid(),
                memory,
                length,
                access,
                0,
                self.keys,
                0,
                &mut region,
                null_mut(),
            );
            if result != 0 {
                return Err(self.library.error("fi_mr_reg", result as isize));
            }
            let region = owned("fi_mr_reg", region)?;
            if self.registers & MR_ENDPOINT != 0 {
                let ops = (*region.fid()).ops;
                let bound = ((*ops).bind)(region.fid(), self.ep.fid(), 0);
                let enabled =
                    if bound == 0 { ((*ops).control)(region.fid(), ENABLE, null_mut()) } else { bound };
                if enabled != 0 {
                    return Err(self.library.error("fi_mr_enable", enabled as isize));
                }
            }
            Ok(region)
        }
    }

    /// Makes a peer known, by its address. The result names it in sends.
    pub fn add_peer(&mut self, address: &[u8]) -> Result<u64, FabricError> {
        let mut peer = UNSPEC;
        // The library reads as many bytes as its own addresses have.
        let mut room = [0; 256];
        let Some(begin) = room.get_mut(..address.len()).filter(|_| address.len() == self.address.len())
        else {
            return Err(FabricError::Call {
                call: "fi_av_insert",
                why: "the address has another length".into(),
            });
        };
        begin.copy_from_slice(address);
        // SAFETY: one address is read, and one number written.
        let count = unsafe {
            ((*(*self.av.get()).ops).insert)(self.av.get(), room.as_ptr().cast(), 1, &mut peer, 0, null_mut())
        };
        if count == 1 && peer != UNSPEC {
            Ok(peer)
        } else {
            Err(self.library.error("fi_av_insert", count as isize))
        }
    }

    /// Forgets a peer.
    pub fn remove_peer(&mut self, mut peer: u64) {
        // SAFETY: the number comes from `add_peer`. An error means that the peer is not known any more.
        unsafe { ((*(*self.av.get()).ops).remove)(self.av.get(), &mut peer, 1, 0) };
    }

    /// A buffer that the library does not have.
    pub fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let (block, at) = self.place(slot);
        block.buffer(at)
    }

    fn place(&mut self, slot: u32) -> (&mut Block, usize) {
        let (blocks, together) = match slot & LONG {
            0 => (&mut self.blocks, TOGETHER),
            _ => (&mut self.long_blocks, LONG_TOGETHER),
        };
        let number = slot & !LONG;
        (&mut blocks[(number / together) as usize], (number % together) as usize)
    }

    /// Readable, after [`arm`](Self::arm), as soon as there is something to poll for.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let mut descriptor: RawFd = -1;
        // SAFETY: this command writes one descriptor.
        let result = unsafe {
            ((*(*self.cq.fid()).ops).control)(self.cq.fid(), GETWAIT, from_mut(&mut descriptor).cast())
        };
        // SAFETY: the queue keeps its descriptor open as long as the queue lives.
        (result == 0 && descriptor >= 0).then(|| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// Prepares the descriptor for a sleep. False: there is something to poll for already.
    pub fn arm(&mut self) -> bool {
        let mut queue = self.cq.fid();
        // SAFETY: one object is read from the list.
        unsafe { ((*(*self.fabric.get()).ops).trywait)(self.fabric.get(), &mut queue, 1) == 0 }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // A region that is bound to the endpoint is closed before the endpoint, and its memory is freed after that.
        self.blocks.iter_mut().chain(&mut self.long_blocks).for_each(Block::close_region);
    }
}

/// # Safety
/// As [`Object::new`].
unsafe fn owned<T>(call: &'static str, object: *mut T) -> Result<Object<T>, FabricError> {
    // SAFETY: by the caller's promise.
    unsafe { Object::new(object) }.ok_or(FabricError::Call { call, why: "it made nothing".to_owned() })
}

/// The address of an endpoint.
///
/// # Safety
/// The endpoint is enabled.
unsafe fn name_of(ep: &Object<Ep>) -> Result<Vec<u8>, c_int> {
    let mut name = vec![0; 256];
    let mut length = name.len();
    // SAFETY: the library writes at most `length` bytes, and the length of the address.
    let result = unsafe { ((*(*ep.get()).cm).getname)(ep.fid(), name.as_mut_ptr().cast(), &mut length) };
    name.truncate(length);
    if result == 0 { Ok(name) } else { Err(result) }
}
