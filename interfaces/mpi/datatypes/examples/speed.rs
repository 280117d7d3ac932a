//! How fast strided data is packed and unpacked, beside a plain copy of as many bytes.
//!
//! `cargo run --release -p parvum-datatypes --example speed`

use parvum_datatypes::{Basic, Type, pack, unpack};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of data.
const DATA: usize = 1 << 20;

fn main() {
    let double = Type::basic(Basic::Double);
    let count = DATA as i64 / 8;
    let strided = |stride| Type::vector(count, 1, stride, &double).expect("a vector");
    let places: Vec<i64> = (0..count).map(|index| index * 3 + index % 2).collect();
    let parts = [double.clone(), Type::basic(Basic::Int)];
    let record = Type::structure(&[1, 1], &[0, 12], &parts).expect("a struct");
    let square = Type::vector(count / 64, 8, 16, &Type::contiguous(8, &double).expect("a row"));
    let types = [
        ("every 2nd double", strided(2), 1),
        ("every 16th double", strided(16), 1),
        ("blocks of 512 bytes", square.expect("a vector"), 1),
        ("doubles at uneven places", Type::indexed_block(1, &places, &double).expect("places"), 1),
        ("structs with a hole", record, DATA as i64 / 12),
    ];
    let (mut from, mut out) = (vec![1_u8; DATA * 16 + 64], vec![2_u8; DATA]);
    let plain = best(|| out.copy_from_slice(black_box(&from[..DATA])));
    say("plain copy", plain, plain);
    for (name, ty, count) in types {
        ty.commit();
        // SAFETY: the farthest of the types spans 16 times its data.
        let packing = best(|| unsafe { pack(&ty, count, from.as_ptr(), 0, black_box(&mut out)) });
        say(&format!("pack, {name}"), packing, plain);
        // SAFETY: as above.
        let unpacking = best(|| unsafe { unpack(&ty, count, black_box(from.as_mut_ptr()), 0, &out) });
        say(&format!("unpack, {name}"), unpacking, plain);
    }
}

/// The shortest of many runs: others run on the host too.
fn best<T>(mut run: impl FnMut() -> T) -> Duration {
    let once = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..300).map(once).min().expect("runs")
}

fn say(what: &str, time: Duration, plain: Duration) {
    let rate = DATA as f64 / time.as_secs_f64() / 1e9;
    let times = time.as_secs_f64() / plain.as_secs_f64();
    println!("{what:36} {:8.1} us {rate:6.2} GB/s {times:5.1} x", time.as_secs_f64() * 1e6);
}
