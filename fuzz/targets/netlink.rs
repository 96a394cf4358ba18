//! The kernel's announcements of links, cut and changed in any way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use link::netlink::{LinkChange, LinkNews};

fuzz_target!(|data: &[u8]| {
    let changes = LinkChange::read(data);
    // Each takes a header of 16 octets and an interface of 16.
    assert!(changes.len() <= data.len() / 32);
    assert!(LinkNews::read(1, data).len() <= data.len() / 32);
});
