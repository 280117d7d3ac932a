//! Pointers of a program in C, as types that say what the program has promised.
//!
//! A manual page promises for each argument of a function: null, or memory that the function may read or write until it
//! returns. A function of a C face takes these types in the place of raw pointers. They have the same layout, so C
//! makes them by its call, and the promise is part of the signature. Rust code needs an unsafe function to make one.
//! The code after that is safe.
//!
//! An array's length is another argument, which no type here knows: its face makes a slice of it, once.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

/// The place of a result: null if the program does not want it, or memory for one value, writable for `'a`. Fortran need not align it.
#[repr(transparent)]
pub struct Out<'a, T>(*mut T, PhantomData<&'a mut T>);

/// One value of the program: null, or aligned and readable for `'a`, in which it does not change.
#[repr(transparent)]
pub struct In<'a, T>(*const T, PhantomData<&'a T>);

/// A text of the program: null, or bytes that end with a zero, readable for `'a`, in which they do not change.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<'_, T> {}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<T> Out<'_, T> {
    /// For an unwanted result.
    pub const NOWHERE: Self = Out(std::ptr::null_mut(), PhantomData);

    /// The place that a raw pointer names.
    ///
    /// # Safety
    /// `place` must be null, or valid for writes of a `T` for `'a`.
    #[inline]
    pub const unsafe fn new(place: *mut T) -> Self {
        Out(place, PhantomData)
    }

    /// Whether the program does not want the result.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the result, if the program wants it.
    #[inline]
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so the maker of this value has promised valid memory.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

impl<'a, T> From<&'a mut T> for Out<'a, T> {
    #[inline]
    fn from(place: &'a mut T) -> Self {
        Out(place, PhantomData)
    }
}

/// A face makes one of the types here of an argument of C's, or passes the argument on. The function that gets it says which.
pub trait Given<R> {
    /// The argument, with the promise that the type names.
    ///
    /// # Safety
    /// The argument must be as the type says, for as long as it is used.
    unsafe fn given(argument: R) -> Self;
}

impl<R> Given<R> for R {
    #[inline(always)]
    unsafe fn given(argument: R) -> R {
        argument
    }
}

impl<T> Given<*mut T> for Out<'_, T> {
    #[inline(always)]
    unsafe fn given(argument: *mut T) -> Self {
        Out(argument, PhantomData)
    }
}

impl Given<*const c_char> for Text<'_> {
    #[inline(always)]
    unsafe fn given(argument: *const c_char) -> Self {
        Text(argument, PhantomData)
    }
}

impl<'a, T> In<'a, T> {
    /// The value that a raw pointer names.
    ///
    /// # Safety
    /// `place` must be null, or aligned and readable as a `T` for `'a`, in which nobody may write there.
    #[inline]
    pub const unsafe fn new(place: *const T) -> Self {
        In(place, PhantomData)
    }

    /// The value; nothing for null.
    #[inline]
    pub fn get(self) -> Option<&'a T> {
        // SAFETY: the maker of this value has promised null or readable memory.
        unsafe { self.0.as_ref() }
    }
}

impl<'a> Text<'a> {
    /// The text that a raw pointer names.
    ///
    /// # Safety
    /// `text` must be null, or end with a zero byte and be readable for `'a`, in which nobody may write there.
    #[inline]
    pub const unsafe fn new(text: *const c_char) -> Self {
        Text(text, PhantomData)
    }

    /// The text; nothing for null.
    #[inline]
    pub fn get(self) -> Option<&'a CStr> {
        // SAFETY: not null, so the maker of this value has promised a text that ends.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C sees it: a pointer.
    extern "C" fn double(number: In<'_, i32>, result: Out<'_, i32>) -> bool {
        number.get().is_some_and(|number| {
            result.put(number * 2);
            !result.is_null()
        })
    }

    #[test]
    fn c_pointers_may_be_null() {
        // SAFETY: the types are as large and as aligned as raw pointers, and C knows nothing else of them.
        let double: extern "C" fn(*const i32, *mut i32) -> bool = unsafe {
            std::mem::transmute(double as extern "C" fn(In<'static, i32>, Out<'static, i32>) -> bool)
        };
        let mut result = 0;
        assert!(double(&21, &mut result) && result == 42);
        assert!(!double(std::ptr::null(), &mut result) && result == 42);
        assert!(!double(&21, std::ptr::null_mut()));
    }

    #[test]
    fn null_text_is_none() {
        // SAFETY: null, and a text that ends.
        let [none, some] = unsafe { [Text::new(std::ptr::null()), Text::new(c"some".as_ptr())] };
        assert_eq!((none.get(), some.get()), (None, Some(c"some")));
    }
}
