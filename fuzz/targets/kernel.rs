//! What a kernel of a virtual lab says to its calendar and its card, and the rings in its memory.

pub fn run(octets: &[u8]) {
    kernel::fuzzing::messages(octets);
    kernel::fuzzing::rings(octets);
}
