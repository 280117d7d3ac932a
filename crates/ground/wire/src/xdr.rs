//! XDR (RFC 4506) for arrays, with PVM's choices.
//!
//! Shorts and ints take four bytes, longs eight (PVM 3.4 cut them to four and
//! lost what did not fit), floats four, doubles eight, all big-endian. An unsigned
//! short is widened as if it had a sign. Bytes stand as they are; who appends them
//! fills up to four. There is no other alignment between items.

/// A number that has an XDR form.
pub trait Element: Copy + 'static {
    /// Bytes of the XDR form.
    const WIRE: usize;
    /// Writes the XDR form to `out`, which has `WIRE` bytes.
    fn put(self, out: &mut [u8]);
    /// Reads the XDR form from `bytes`, which has `WIRE` bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($type:ty as $first:ty as $wide:ty),*) => {$(
        impl Element for $type {
            const WIRE: usize = size_of::<$wide>();
            #[inline(always)]
            fn put(self, out: &mut [u8]) {
                out.copy_from_slice(&(self as $first as $wide).to_be_bytes());
            }
            #[inline(always)]
            fn get(bytes: &[u8]) -> Self {
                let mut wide = [0; size_of::<$wide>()];
                wide.copy_from_slice(bytes);
                <$wide>::from_be_bytes(wide) as $type
            }
        }
    )*};
}

element!(
    u8 as u8 as u8,
    i16 as i16 as i32,
    u16 as i16 as i32,
    i32 as i32 as i32,
    u32 as u32 as u32,
    i64 as i64 as i64,
    u64 as u64 as u64,
    f32 as f32 as f32,
    f64 as f64 as f64
);

/// Appends the XDR forms of `items`.
pub fn encode<T: Element>(items: impl ExactSizeIterator<Item = T>, out: &mut Vec<u8>) {
    let start = out.len();
    // A length beyond all memory stays one: `resize` refuses it.
    out.resize(start.saturating_add(items.len().saturating_mul(T::WIRE)), 0);
    let fresh = out.get_mut(start..).unwrap_or_default();
    for (place, item) in fresh.chunks_exact_mut(T::WIRE).zip(items) {
        item.put(place);
    }
}

/// Reads as many items as `bytes` holds.
pub fn decode<T: Element>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> + '_ {
    bytes.chunks_exact(T::WIRE).map(T::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn survives<T: Element + PartialEq + std::fmt::Debug>(items: &[T]) {
        let mut bytes = vec![0xaa];
        encode(items.iter().copied(), &mut bytes);
        assert_eq!(bytes.len(), 1 + items.len() * T::WIRE);
        assert_eq!(decode::<T>(&bytes[1..]).collect::<Vec<_>>(), items);
    }

    proptest! {
        #[test]
        fn integers_survive_round_trip(a: Vec<i16>, b: Vec<u16>, c: Vec<i32>, d: Vec<u32>, e: Vec<i64>, f: Vec<u64>, g: Vec<u8>) {
            survives(&a); survives(&b); survives(&c); survives(&d); survives(&e); survives(&f); survives(&g);
        }
    }

    #[test]
    fn floats_survive_round_trip_in_standard_form() {
        survives(&[0.0f32, -1.5, f32::INFINITY]);
        survives(&[0.0f64, 1e300, -0.0]);
        let mut bytes = Vec::new();
        encode([-2i16].into_iter(), &mut bytes);
        encode([0xfffeu16].into_iter(), &mut bytes);
        encode([1.0f32].into_iter(), &mut bytes);
        encode([1i64 << 40].into_iter(), &mut bytes);
        assert_eq!(
            bytes,
            [0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfe, 0x3f, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        );
    }
}
