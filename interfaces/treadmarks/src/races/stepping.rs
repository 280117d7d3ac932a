//! One instruction at a time: how every access to the heap is seen when races are looked for.
//!
//! All pages are closed. An access faults. The library fetches missing data as usual, records the access, opens the
//! page, and sets the trap flag, so that the processor stops after the instruction. There, in the handler of SIGTRAP,
//! the page is closed again. The encoding of an instruction has the number of accessed bytes. If the data decides about
//! the bytes (a mask), the library records only the word at the address of the fault.
//!
//! Another thread of the process that touches the same page in the midst of the instruction is not seen doing so.

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use elsewhere::{attend, step};
#[cfg(target_arch = "x86_64")]
pub(crate) use here::{attend, step};

#[cfg(target_arch = "x86_64")]
mod here {
    use crate::errors::Trouble;
    use crate::faults::handlers::pass_on;
    use crate::nodes::far::Far;
    use crate::run::{Run, Sharing, run};
    use iced_x86::{Code, Decoder, DecoderOptions, Mnemonic, Register};
    use libc::{c_int, c_void, sigaction, siginfo_t, sigset_t, ucontext_t};
    use std::cell::Cell;
    use std::sync::OnceLock;

    /// The flag that stops the processor behind each instruction.
    const TRAP: i64 = 1 << 8;
    /// The longest instruction, in bytes.
    const LONGEST: usize = 15;
    /// The most pages that one instruction touches: of sixteen places each may lie on two.
    const PAGES: usize = 32;

    /// The instruction that a thread is at.
    #[derive(Clone, Copy)]
    struct Step {
        pages: [u32; PAGES],
        count: usize,
        /// Up to where it was noted already.
        noted: usize,
        /// The signals that the program holds back.
        mask: sigset_t,
    }

    thread_local! {
        static STEP: Cell<Option<Step>> = const { Cell::new(None) };
    }

    static BEFORE: OnceLock<sigaction> = OnceLock::new();

    /// From now on stops are attended to.
    pub(crate) fn attend() {
        // SAFETY: both structures are plain memory that the calls read or fill.
        unsafe {
            let mut before: sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGTRAP, std::ptr::null(), &mut before);
            BEFORE.get_or_init(|| before);
            let mut ours: sigaction = std::mem::zeroed();
            ours.sa_sigaction = stopped as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | before.sa_flags & libc::SA_ONSTACK;
            libc::sigfillset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGTRAP, &ours, std::ptr::null_mut());
        }
    }

    /// In the handler of a fault: lets the instruction touch the page, and stops behind it.
    pub(crate) fn step(
        run: &Run,
        far: &Far,
        (page, place): (u32, usize),
        writes: Option<bool>,
        context: *mut c_void,
    ) -> Result<(), Trouble> {
        far.fault(&run.peers, page, writes)?;
        // SAFETY: the kernel gives the interrupted thread's registers and signal mask, to be changed as the handler likes; it
        // takes them back when the handler returns.
        let context = unsafe { &mut *context.cast::<ucontext_t>() };
        let races = run.races.as_ref().expect("they are looked for");
        let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        hold_signals();
        let mut step =
            STEP.get().unwrap_or(Step { pages: [0; PAGES], count: 0, noted: 0, mask: context.uc_sigmask });
        let (length, site) = races.instruction(pc, || width(pc));
        // The rest of an access that began on the page before was noted with it.
        let from =
            if step.count > 0 && place.is_multiple_of(run.heap.page) { place.max(step.noted) } else { place };
        let rest = (place + length).min(run.heap.length).saturating_sub(from);
        if rest > 0 && from == place {
            far.touches(&run.peers, (from, rest), writes == Some(true), (&site, false));
            step.noted = from + rest;
        } else {
            far.reopen(&run.peers, page);
        }
        if step.count < PAGES && !step.pages[..step.count].contains(&page) {
            step.pages[step.count] = page;
            step.count += 1;
        }
        STEP.set(Some(step));
        context.uc_mcontext.gregs[libc::REG_EFL as usize] |= TRAP;
        // No handler of the program's runs, or jumps away, while the page is open.
        context.uc_sigmask = held_back();
        Ok(())
    }

    /// All signals except signals of an instruction: if the thread blocked such a signal, the process would end.
    fn held_back() -> sigset_t {
        // SAFETY: plain memory that the calls fill.
        unsafe {
            let mut all: sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            for caused in [libc::SIGTRAP, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
                libc::sigdelset(&mut all, caused);
            }
            all
        }
    }

    /// Holds them back until the handler returns.
    fn hold_signals() {
        // SAFETY: plain memory that the call reads; the mask is this thread's own.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &held_back(), std::ptr::null_mut()) };
    }

    extern "C" fn stopped(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let Some(step) = STEP.take() else {
            // SAFETY: as the kernel has called this.
            return unsafe { pass_on(BEFORE.get(), signal, info, context) };
        };
        if let Some(run) = run()
            && let Sharing::Far(far) = &run.way
        {
            // SAFETY: this thread's own error number, which the interrupted code may be about to look at.
            let (errno, kept) = unsafe { (libc::__errno_location(), *libc::__errno_location()) };
            far.close(&run.peers, &step.pages[..step.count]);
            // SAFETY: as above.
            unsafe { *errno = kept };
        }
        // SAFETY: as in `step`.
        let context = unsafe { &mut *context.cast::<ucontext_t>() };
        context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP;
        context.uc_sigmask = step.mask;
    }

    /// How many bytes the instruction touches at each of its places in memory.
    fn width(pc: usize) -> usize {
        // Code may end at the end of a page.
        let first = LONGEST.min(4096 - pc % 4096);
        decoded(pc, first).or_else(|| decoded(pc, LONGEST)).unwrap_or(1)
    }

    fn decoded(pc: usize, length: usize) -> Option<usize> {
        // SAFETY: the processor was just about to run the instruction there. It lies in the first bytes up to the end of their
        // page, or has been seen to go on behind it.
        let bytes =
            unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(pc), length) };
        let it = Decoder::with_ip(64, bytes, pc as u64, DecoderOptions::NONE).decode();
        if it.code() == Code::INVALID {
            return None;
        }
        let is_masked = it.op_mask() != Register::None
            || it.is_vsib()
            || matches!(
                it.mnemonic(),
                Mnemonic::Vmaskmovps
                    | Mnemonic::Vmaskmovpd
                    | Mnemonic::Vpmaskmovd
                    | Mnemonic::Vpmaskmovq
                    | Mnemonic::Maskmovq
                    | Mnemonic::Maskmovdqu
                    | Mnemonic::Vmaskmovdqu
            );
        Some(if is_masked { 1 } else { it.memory_size().size().clamp(1, 64) })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn instruction_width_is_decoded() {
            let width_of = |code: &[u8]| {
                let mut padded = [0x90; 2 * LONGEST];
                padded[..code.len()].copy_from_slice(code);
                decoded(padded.as_ptr().expose_provenance(), LONGEST)
            };
            // mov eax, [rdi]; mov [rdi], rax; movups xmm0, [rsi]; vmovdqu ymm0, [rsi]; rep movsb; lock xadd [rdi], eax.
            assert_eq!(width_of(&[0x8b, 0x07]), Some(4));
            assert_eq!(width_of(&[0x48, 0x89, 0x07]), Some(8));
            assert_eq!(width_of(&[0x0f, 0x10, 0x06]), Some(16));
            assert_eq!(width_of(&[0xc5, 0xfe, 0x6f, 0x06]), Some(32));
            assert_eq!(width_of(&[0xf3, 0xa4]), Some(1));
            assert_eq!(width_of(&[0xf0, 0x0f, 0xc1, 0x07]), Some(4));
            // vmovups zmm0 {k1}, [rax]: the mask determines the accessed bytes.
            assert_eq!(width_of(&[0x62, 0xf1, 0x7c, 0x49, 0x10, 0x00]), Some(1));
            assert_eq!(width_of(&[0x06]), None, "no instruction");
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use crate::errors::Trouble;
    use crate::nodes::far::Far;
    use crate::run::Run;

    pub(crate) fn attend() {}

    pub(crate) fn step(
        _: &Run,
        _: &Far,
        _: (u32, usize),
        _: Option<bool>,
        _: *mut libc::c_void,
    ) -> Result<(), Trouble> {
        Err(Trouble::NoStepping)
    }
}
