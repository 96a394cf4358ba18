//! Entry points for the fuzzer: any message of a kernel, and any content of its memory.

use crate::message::{Calendar, HEAD, Head, QUEUES, Region, Request};
use crate::rings::{BEFORE_FRAMES, Rings};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io::Write;

/// Octets of the memory in which the rings are.
const MEMORY: u64 = 0x4000;

/// Reads messages of both kinds; none may panic.
pub fn messages(octets: &[u8]) {
    if let Some(message) = octets.first_chunk() {
        assert_eq!(Calendar::read(*message).written(), *message);
    }
    let Some((head, payload)) = octets.split_first_chunk::<HEAD>() else { return };
    if let Ok(head) = Head::read(*head) {
        let _ = Request::read(head.request, &payload[..head.length.min(payload.len())]);
    }
}

/// Has a card use rings whose place and content are arbitrary: it may neither panic nor loop, and gives no frame that is
/// longer than frames are.
pub fn rings(octets: &[u8]) {
    let Some((place, content)) = octets.split_first_chunk::<16>() else { return };
    let mut file = File::from(memfd_create(c"fuzz", MFdFlags::MFD_CLOEXEC).expect("memory"));
    file.set_len(MEMORY).expect("memory");
    file.write_all(&content[..content.len().min(MEMORY as usize)]).expect("memory");
    // The rings of a card, or of a console.
    let mut rings = Rings::new(if place[0] & 0x10 == 0 { BEFORE_FRAMES } else { 0 });
    let region = Region { guest: 0, size: MEMORY, offset: 0 };
    rings.remember(&[region], vec![file.into()]).expect("a region that is there");
    let word = |at: usize| u64::from(u16::from_le_bytes([place[at], place[at + 1]]));
    for queue in 0..QUEUES {
        let at = 8 * queue;
        if rings.size(queue, 1 << (place[at] & 0xf)).is_err() {
            return;
        }
        rings.place(queue, word(at) & !0xf, word(at + 2) & !3, word(at + 4) & !1);
        rings.begin_at(queue, word(at + 6) as u16);
        let _ = rings.enable(queue, true);
    }
    // A ring has at most 65,536 entries before its index comes round.
    for _ in 0..64 {
        if let Some(sent) = rings.next() {
            assert!(!sent.octets.is_empty() && sent.octets.len() <= 65_535);
            rings.done(sent.head);
        }
        rings.receive(&[0x55; 60]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fuzzer goes on from here; a failure prints the seed that gives its octets again.
    #[test]
    fn arbitrary_messages_and_rings_do_no_harm() {
        for seed in 0..2_000_u64 {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                // Small numbers make rings that are sound more often.
                (state >> 33) as u8 & if state >> 63 == 1 { 0x0f } else { 0xff }
            };
            let octets: Vec<u8> = (0..seed % 4096 + 40).map(|_| next()).collect();
            println!("seed {seed}");
            messages(&octets);
            rings(&octets);
        }
    }
}
