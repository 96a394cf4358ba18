//! What a kernel of a virtual lab says to its calendar and its card, and the rings in its memory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    kernel::fuzzing::messages(octets);
    kernel::fuzzing::rings(octets);
});
