//! What the octets of a frame, from its destination address on, say to the medium.

use medium::{Destination, Frame, Octets, Parameters, StationId};

/// Octets of an address.
const ADDRESS: usize = 6;

/// It has a tag of 802.1Q, of a customer or of a provider: it may be four octets longer.
pub fn is_tagged(octets: &[u8]) -> bool {
    matches!(octets.get(2 * ADDRESS..2 * ADDRESS + 2), Some([0x81, 0x00] | [0x88, 0xa8]))
}

/// The stations whose received counters include a frame of `source`. A group address means every station; an address of
/// the sender itself, or one that `station` does not know, means no station on the medium.
pub fn destination(
    source: StationId,
    octets: &[u8],
    station: impl FnOnce(&[u8; ADDRESS]) -> Option<StationId>,
) -> Destination {
    match octets.first_chunk() {
        Some(address) if address[0] & 1 == 1 => Destination::All,
        Some(address) => {
            let station = station(address).filter(|&station| station != source);
            station.map_or(Destination::Nobody, Destination::Station)
        }
        None => Destination::Nobody,
    }
}

/// Octets of the FCS, which stacks and kernels do not hand over.
const FCS: u32 = medium::FCS.get();
/// Octets of two addresses, an EtherType and the FCS.
const AROUND_DATA: u32 = 18;
/// Octets of an IP packet on Ethernet (RFC 894), even where a medium has longer frames.
const IP_PACKET: usize = 1500;

/// What the medium needs to know of a frame of `source`; see [`destination`].
pub fn frame(source: StationId, octets: &[u8], station: impl FnOnce(&[u8; ADDRESS]) -> Option<StationId>) -> Frame {
    let destination = destination(source, octets, station);
    Frame { size: Octets::new(octets.len() as u32 + FCS), destination, tagged: is_tagged(octets) }
}

/// The octets of an IP packet for which a medium's frames have room, with or without a tag.
pub fn mtu(parameters: &Parameters) -> usize {
    (parameters.max_frame_size.get().saturating_sub(AROUND_DATA) as usize).min(IP_PACKET)
}
