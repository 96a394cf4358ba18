//! What the octets of a frame, from its destination address on, say to the medium.

use medium::{Destination, StationId};

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
