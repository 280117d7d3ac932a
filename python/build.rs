//! Takes the unwinder along, as Parvum's other shared libraries do.

#[path = "../crates/engine/runtime/unwinder.rs"]
mod unwinder;

fn main() {
    unwinder::link();
}
