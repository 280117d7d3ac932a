//! Hints to the processor.

/// Has the processor fetch the line of `place` into its own cache, to be written soon. The call does not wait for that.
#[inline]
pub fn fetch_for_writing<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint that changes no state; processors without the instruction ignore it. The compiler's own function for this
    // hint becomes a fetch for reading if the target has no `prfchw` feature.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// Has the processor fetch the line of `place` into its own cache, to be read soon. The call does not wait for that.
#[inline]
pub fn fetch_for_reading<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, which reads and writes nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}
