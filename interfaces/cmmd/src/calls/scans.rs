//! Reductions and scans of single values, for each type: cmmd_reduce_int(3), cmmd_scan_int(3).

use crate::combine::{Combiner, Number};
use crate::entry::together;
use crate::envelope::context;
use crate::errors::{Cmmd, Fault};
use crate::host::about;
use crate::together::{Scan, Segments};
use std::ffi::{c_double, c_float, c_int, c_long, c_uint, c_ulong};

fn reduce<T: Number>(value: T, combiner: c_int) -> T {
    together(T::default(), |state| {
        let mut value = value.bytes();
        state.reduce(Combiner::of::<T>(combiner)?, &mut value)?;
        Ok(T::read(&value))
    })
}

/// All nodes combine at the first, which tells the host.
fn reduce_to_host<T: Number>(value: T, combiner: c_int) {
    together((), |state| {
        let (host, combiner, mut value) = (state.host()?, Combiner::of::<T>(combiner)?, value.bytes());
        state.reduce(combiner, &mut value)?;
        if state.company.own != 0 {
            return Ok(());
        }
        state.send_own(host, context::HOST, about::REDUCED, 0, &value)
    })
}

/// The host combines that with its own.
fn reduce_from_nodes<T: Number>(value: T, combiner: c_int) -> T {
    together(T::default(), |state| {
        let (nodes, combiner) = (state.own_nodes()?, Combiner::of::<T>(combiner)?);
        let mut combined = vec![0; combiner.kind.size()];
        state.hear(nodes[0], about::REDUCED, &mut combined)?;
        (combiner.combine)(&mut combined, &value.bytes());
        Ok(T::read(&combined))
    })
}

/// The numbers of a scan's constants.
fn scan_of(combiner: Combiner, direction: c_int, mode: c_int, bit: c_int, kind: c_int) -> Cmmd<Scan> {
    let segments = match mode {
        0 => Segments::None,
        1 => Segments::StartBit,
        2 => Segments::SegmentBit,
        _ => return Err(Fault::BadArgument),
    };
    if !(0..=1).contains(&direction) || !(0..=1).contains(&kind) {
        return Err(Fault::BadArgument);
    }
    Ok(Scan { combiner, downward: direction == 1, segments, bit: bit != 0, exclusive: kind == 1 })
}

fn scan<T: Number>(value: T, combiner: c_int, direction: c_int, mode: c_int, bit: c_int, kind: c_int) -> T {
    together(T::default(), |state| {
        let scan = scan_of(Combiner::of::<T>(combiner)?, direction, mode, bit, kind)?;
        Ok(T::read(&state.scan(&scan, &value.bytes())?))
    })
}

macro_rules! for_type {
    ($number:ty, $result:ty, $reduce:ident, $to_host:ident, $from_nodes:ident, $scan:ident) => {
        /// The value combined over all nodes, on each of them.
        #[unsafe(no_mangle)]
        pub extern "C" fn $reduce(value: $number, combiner: c_int) -> $result {
            reduce(value, combiner).into()
        }

        /// On a node: the value combined over all nodes goes to the host.
        #[unsafe(no_mangle)]
        pub extern "C" fn $to_host(value: $number, combiner: c_int) {
            reduce_to_host(value, combiner)
        }

        /// On the host: what the nodes have combined, combined with its own.
        #[unsafe(no_mangle)]
        pub extern "C" fn $from_nodes(value: $number, combiner: c_int) -> $result {
            reduce_from_nodes(value, combiner).into()
        }

        /// The value combined over the nodes before this one.
        #[unsafe(no_mangle)]
        pub extern "C" fn $scan(
            value: $number,
            combiner: c_int,
            direction: c_int,
            mode: c_int,
            bit: c_int,
            kind: c_int,
        ) -> $result {
            scan(value, combiner, direction, mode, bit, kind).into()
        }
    };
}

for_type!(c_int, c_int, CMMD_reduce_int, CMMD_reduce_to_host_int, CMMD_reduce_from_nodes_int, CMMD_scan_int);
for_type!(
    c_uint,
    c_uint,
    CMMD_reduce_uint,
    CMMD_reduce_to_host_uint,
    CMMD_reduce_from_nodes_uint,
    CMMD_scan_uint
);
for_type!(
    c_long,
    c_long,
    CMMD_reduce_lint,
    CMMD_reduce_to_host_lint,
    CMMD_reduce_from_nodes_lint,
    CMMD_scan_lint
);
for_type!(
    c_ulong,
    c_ulong,
    CMMD_reduce_luint,
    CMMD_reduce_to_host_luint,
    CMMD_reduce_from_nodes_luint,
    CMMD_scan_luint
);
for_type!(
    c_float,
    c_double,
    CMMD_reduce_float,
    CMMD_reduce_to_host_float,
    CMMD_reduce_from_nodes_float,
    CMMD_scan_float
);
for_type!(
    c_double,
    c_double,
    CMMD_reduce_double,
    CMMD_reduce_to_host_double,
    CMMD_reduce_from_nodes_double,
    CMMD_scan_double
);
