//! The program, which knows no port.

/// What it needs of a process: containers by name, and messages to them. All of it waits until it is done.
pub trait Process {
    /// Makes a container and binds it.
    fn open(&mut self, name: &str);
    /// Sends to a container, whose name is looked up the first time.
    fn send(&mut self, name: &str, data: &[u8]);
    /// Receives from an own container.
    fn receive(&mut self, name: &str) -> Vec<u8>;
}

/// Around the borders of packets and pages.
const LENGTHS: [usize; 11] = [0, 1, 8, 1399, 1400, 1401, 4095, 4096, 4097, 50_000, 9];
const ROUNDS: usize = 5;

/// Messages of many lengths around a ring, then a sum of all over all in rounds; gives what is to be said.
pub fn program(process: &mut impl Process, me: usize, count: usize) -> Vec<String> {
    let name = |to: usize, from: usize| format!("{to} from {from}");
    for from in 0..count {
        process.open(&name(me, from));
    }
    let (next, previous) = ((me + 1) % count, (me + count - 1) % count);
    let mut said = Vec::new();
    for length in LENGTHS {
        let data: Vec<u8> = (0..length).map(|at| (at * 7 + at / 250 + me * 31) as u8).collect();
        process.send(&name(next, me), &data);
        let got = process.receive(&name(me, previous));
        let digest =
            got.iter().fold(17u64, |digest, byte| digest.wrapping_mul(31).wrapping_add((*byte).into()));
        said.push(format!("{me}: {} bytes, {digest:x}", got.len()));
    }
    let mut value = me as u64 + 1;
    for _ in 0..ROUNDS {
        (0..count).for_each(|to| process.send(&name(to, me), &value.to_le_bytes()));
        value = (0..count).fold(me as u64, |sum, from| {
            let got = process.receive(&name(me, from));
            sum.wrapping_mul(3).wrapping_add(u64::from_le_bytes(got.try_into().expect("eight bytes")))
        });
        said.push(format!("{me}: {value}"));
    }
    said
}
