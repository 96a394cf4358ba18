//! Entry points of the code that parses frames first, for the targets in `fuzz/`. Not in any other build.

use crate::packet::received;
use crate::station::placed;
use crate::sys::message::Arrival;
use crate::sys::ring::Slot;

/// Takes a frame out of a ring's slot: the first octets are the kernel's report about it, the rest is the frame.
pub fn take_from_ring(data: &[u8]) {
    let Some((&[status, protocol, control, begin, cut], frame)) = data.split_first_chunk::<5>() else { return };
    let begin = usize::from(begin % 64);
    let mut area = vec![0; begin];
    area.extend_from_slice(frame);
    let header = libc::tpacket2_hdr {
        tp_status: status.into(),
        tp_len: frame.len() as u32 + u32::from(cut),
        tp_snaplen: frame.len() as u32,
        tp_mac: begin as u16,
        tp_net: 0,
        tp_sec: u32::MAX,
        tp_nsec: u32::MAX,
        tp_vlan_tci: control.into(),
        tp_vlan_tpid: protocol.into(),
        tp_padding: [0; 4],
    };
    let end = area.len();
    let taken = received(Slot { header, ifindex: -1, area: &mut area, frame: begin..end });
    assert_eq!(taken.octets.len(), frame.len() + if taken.vlan_restored { 4 } else { 0 });
}

/// Completes a frame from a station's socket, in a buffer that may be too short for it.
pub fn take_from_socket(data: &[u8]) {
    let Some((&[status, room], frame)) = data.split_first_chunk::<2>() else { return };
    let mut buffer = frame[..frame.len().min(room.into())].to_vec();
    let auxdata = libc::tpacket_auxdata {
        tp_status: status.into(),
        tp_len: frame.len() as u32,
        tp_snaplen: buffer.len() as u32,
        tp_mac: 0,
        tp_net: 0,
        tp_vlan_tci: 7,
        tp_vlan_tpid: 0x88a8,
    };
    let arrival = Arrival { original_len: frame.len(), stamp: Some((-1, -1)), auxdata: Some(auxdata) };
    let placed = placed(arrival, &mut buffer);
    assert!(placed.octets <= buffer.len());
}
