//! The kernel's announcements of links, cut and changed in any way.
use link::netlink::{LinkChange, LinkNews};

pub fn run(data: &[u8]) {
    let changes = LinkChange::read(data);
    // Each takes a header of 16 octets and an interface of 16.
    assert!(changes.len() <= data.len() / 32);
    assert!(LinkNews::read(1, data).len() <= data.len() / 32);
}
