//! Finishing a checksum that the sender's kernel left to hardware.
//!
//! ```text
//!  addresses  …  headers  …  │ segment  …  checksum  …         │
//!  0                         start         start + offset      end of the frame
//! ```
//! The kernel says where the checksum is, so nothing here reads a header, and a segment inside a tunnel is one like others.

/// Where SCTP's checksum is in its header, of which no other kernel's protocol has one (RFC 9260, 3.1).
const SCTP_OFFSET: usize = 8;

/// A checksum that is not finished, and what it covers: the frame from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// Octets of the frame before the segment.
    pub start: usize,
    /// Octets of the segment before its checksum.
    pub offset: usize,
}

impl PartialChecksum {
    /// Fills it in: the Internet checksum, whose place has the sum over the pseudo-header, or in SCTP, which has no
    /// pseudo-header and leaves zeros there, CRC32c.
    ///
    /// Returns false, and leaves `octets` alone, if the checksum is not in them.
    pub fn finish(self, octets: &mut [u8]) -> bool {
        let Some(segment) = octets.get_mut(self.start..) else { return false };
        match (self.offset, segment.get(self.offset..)) {
            (SCTP_OFFSET, Some([0, 0, 0, 0, ..])) => {
                let sum = crc32c::crc32c(segment);
                segment[SCTP_OFFSET..SCTP_OFFSET + 4].copy_from_slice(&sum.to_le_bytes());
            }
            (SCTP_OFFSET, Some([0, 0, ..])) | (_, None | Some([] | [_])) => return false,
            (offset, Some([_, _, ..])) => {
                // Zero would mean in UDP that there is no checksum; all ones is the same sum (RFC 768).
                let sum = match internet_checksum(segment) {
                    0 => 0xffff,
                    sum => sum,
                };
                segment[offset..offset + 2].copy_from_slice(&sum.to_be_bytes());
            }
        }
        true
    }
}

/// The Internet checksum over everything, what is in the checksum's own place too (RFC 1071).
pub fn internet_checksum(octets: &[u8]) -> u16 {
    const NO_WORD_LEFT_OUT: usize = usize::MAX;
    pnet_packet::util::checksum(octets, NO_WORD_LEFT_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Octets before the segment; they do not matter.
    const HEADERS: [u8; 34] = [2; 34];

    fn finished(segment: &[u8], offset: usize) -> Option<Vec<u8>> {
        let mut octets = [&HEADERS[..], segment].concat();
        let before = octets.clone();
        let done = PartialChecksum { start: HEADERS.len(), offset }.finish(&mut octets);
        assert!(done || octets == before);
        done.then(|| octets.split_off(HEADERS.len()))
    }

    /// A datagram of `payload` between 192.168.0.1 and 192.168.0.199, with the sum over its pseudo-header.
    fn udp(payload: [u8; 4]) -> Vec<u8> {
        let pseudo = [192, 168, 0, 1, 192, 168, 0, 199, 0, 17, 0, 12];
        let seed = !internet_checksum(&pseudo);
        [&[0x30, 0x39, 0xd4, 0x31, 0, 12][..], &seed.to_be_bytes(), &payload].concat()
    }

    /// The value is that of a UDP datagram that is a common example.
    #[test]
    fn a_known_datagram_gets_its_known_checksum() {
        let datagram = finished(&udp(*b"test"), 6).expect("it is there");
        assert_eq!(datagram[6..8], [0x91, 0x78]);
    }

    /// RFC 768: a sum of zero is sent as all ones.
    #[test]
    fn a_checksum_of_zero_is_sent_as_ones() {
        let datagram = finished(&udp([0; 4]), 6).expect("it is there");
        // With the checksum itself as payload, the rest sums up to zero.
        let datagram = finished(&udp([datagram[6], datagram[7], 0, 0]), 6).expect("it is there");
        assert_eq!(datagram[6..8], [0xff, 0xff]);
    }

    /// A COOKIE ACK alone; its CRC32c was computed bit by bit from the polynomial (RFC 9260, appendix A).
    #[test]
    fn sctp_gets_its_crc32c() {
        let packet = [0x80, 0x44, 0, 80, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0, 11, 0, 0, 4];
        let bit = |sum: u32, _| (sum >> 1) ^ (0x82f6_3b78 * (sum & 1));
        let sum = !packet.iter().fold(!0, |sum: u32, octet| (0..8).fold(sum ^ u32::from(*octet), bit));
        let sent = finished(&packet, SCTP_OFFSET).expect("it is there");
        assert_eq!(sent[8..12], sum.to_le_bytes());
        assert_eq!((&sent[..8], &sent[12..]), (&packet[..8], &packet[12..]));
        // A protocol with a pseudo-header never leaves zeros: here its sum is 9, which the segment's makes all ones.
        let other = finished(&[1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 0], SCTP_OFFSET).expect("it is there");
        assert_eq!(internet_checksum(&other), 9);
    }

    #[test]
    fn a_checksum_outside_its_frame_is_left() {
        let segment = [0; 16];
        for length in 0..12 {
            assert_eq!(finished(&segment[..length], SCTP_OFFSET), None, "{length} octets");
        }
        for (offset, done) in [(14, true), (15, false), (16, false), (usize::from(u16::MAX), false)] {
            assert_eq!(finished(&segment, offset).is_some(), done, "offset {offset}");
        }
        assert!(!PartialChecksum { start: 35, offset: 0 }.finish(&mut [0; 34]));
    }
}
