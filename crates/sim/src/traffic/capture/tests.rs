//! Files of octets written by hand: both formats, both orders, clocks of several kinds, and every way to be damaged.

use super::*;
use crate::traffic::{Arrivals, TrafficSpec, shares::shares};
use medium::{BitInstant, BitRate, Destination, StationId};

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
const ALL: [u8; 6] = [0xff; 6];

/// Numbers in one order.
#[derive(Clone, Copy)]
enum Writer {
    Little,
    Big,
}

impl Writer {
    fn u16(self, number: u16) -> [u8; 2] {
        match self {
            Writer::Little => number.to_le_bytes(),
            Writer::Big => number.to_be_bytes(),
        }
    }

    fn u32(self, number: u32) -> [u8; 4] {
        match self {
            Writer::Little => number.to_le_bytes(),
            Writer::Big => number.to_be_bytes(),
        }
    }

    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|&word| self.u32(word)).collect()
    }

    /// A pcap file of frames of 60 octets, each `(seconds, ticks, frame)`.
    fn pcap(self, magic: u32, link: u32, frames: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
        let mut file = self.u32(magic).to_vec();
        file.extend([self.u16(2), self.u16(4)].concat());
        file.extend(self.words(&[0, 0, 262_144, link]));
        for (seconds, ticks, frame) in frames {
            file.extend(self.words(&[*seconds, *ticks, frame.len() as u32, 60]));
            file.extend(frame);
        }
        file
    }

    fn block(self, kind: u32, content: &[u8]) -> Vec<u8> {
        let padding = content.len().next_multiple_of(4) - content.len();
        let length = (12 + content.len() + padding) as u32;
        [&self.words(&[kind, length]), content, &vec![0; padding], &self.u32(length)].concat()
    }

    fn section(self) -> Vec<u8> {
        let content = [&self.u32(0x1a2b_3c4d)[..], &self.u16(1), &self.u16(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &content)
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let padding = value.len().next_multiple_of(4) - value.len();
        [&self.u16(code)[..], &self.u16(value.len() as u16), value, &vec![0; padding]].concat()
    }

    fn interface(self, link: u16, options: &[Vec<u8>]) -> Vec<u8> {
        self.block(1, &[&self.u16(link)[..], &[0; 6], &options.concat(), &self.option(0, &[])].concat())
    }

    fn packet(self, interface: u32, ticks: u64, frame: &[u8], options: &[Vec<u8>]) -> Vec<u8> {
        let words = self.words(&[interface, (ticks >> 32) as u32, ticks as u32, frame.len() as u32, 60]);
        let padding = vec![0; frame.len().next_multiple_of(4) - frame.len()];
        self.block(6, &[words, frame.to_vec(), padding, options.concat()].concat())
    }
}

/// What a capture with a short snap length keeps of a frame of 60 octets.
fn frame(to: [u8; 6], from: [u8; 6]) -> Vec<u8> {
    [&to[..], &from, &[0x08, 0x00], &[7]].concat()
}

fn read(file: &[u8]) -> Result<Capture, CaptureError> {
    Capture::read(Path::new("trace"), file)
}

fn stamps(file: &[u8]) -> Vec<u128> {
    read(file).expect("a whole file").frames().iter().map(|frame| frame.at.as_nanos()).collect()
}

/// The offset and the text of what is wrong with a file.
fn damage(file: &[u8]) -> (u64, String) {
    match read(file) {
        Err(CaptureError::Damaged { offset, what, .. }) => (offset, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn pcap_is_read_in_both_orders_and_both_resolutions() {
    for writer in [Writer::Little, Writer::Big] {
        for (magic, tick) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            let file = writer.pcap(magic, 1, &[(5, 7, frame(B, A)), (6, 9, frame(ALL, B))]);
            assert_eq!(stamps(&file), [0, 1_000_000_000 + 2 * tick]);
            let replay = read(&file).expect("whole");
            assert_eq!(replay.sources().len(), 2);
            assert!(replay.frames().iter().all(|frame| frame.size == Octets::new(64) && !frame.tagged));
        }
    }
}

#[test]
fn pcapng_has_sections_interfaces_and_clocks_of_their_own() {
    for writer in [Writer::Little, Writer::Big] {
        let offset = match writer {
            Writer::Little => 100_i64.to_le_bytes(),
            Writer::Big => 100_i64.to_be_bytes(),
        };
        let file = [
            writer.section(),
            writer.interface(1, &[]),
            writer.interface(1, &[writer.option(2, b"eth1"), writer.option(9, &[9])]),
            writer.interface(1, &[writer.option(9, &[0x80 | 20]), writer.option(14, &offset)]),
            writer.interface(113, &[]),
            writer.packet(0, 100_000_001, &frame(B, A), &[]),
            writer.block(0xbad, &[1; 21]),
            writer.packet(1, 100_000_001_001, &frame(B, A), &[writer.option(1, b"a comment")]),
            writer.packet(2, 1 << 20, &frame(B, A), &[]),
        ]
        .concat();
        assert_eq!(stamps(&file), [0, 1, 999_999_000]);
        // Interfaces are those of the section.
        let other = match writer {
            Writer::Little => Writer::Big,
            Writer::Big => Writer::Little,
        };
        let two = [file.clone(), other.section(), other.packet(0, 0, &frame(B, A), &[])].concat();
        let section = file.len() as u64 + 28;
        assert_eq!(damage(&two).0, section + 8);
        let two = [file, other.section(), other.interface(1, &[]), other.packet(0, 102_000_001, &frame(B, A), &[])];
        assert_eq!(stamps(&two.concat()), [0, 1, 999_999_000, 2_000_000_000]);
    }
}

/// The older packet block has the interface in 16 bits, and drops in the next 16.
#[test]
fn the_older_packet_block_is_read() {
    let writer = Writer::Big;
    let number = u32::from_be_bytes([0, 0, 0xff, 0xff]);
    let mut packet = writer.packet(number, 5, &frame(B, A), &[]);
    packet[3] = 2;
    let file = [writer.section(), writer.interface(1, &[]), packet].concat();
    assert_eq!(stamps(&file), [0]);
}

#[test]
fn the_fcs_is_counted_once() {
    let size = |file: &[u8]| read(file).expect("whole").frames()[0].size.get();
    let writer = Writer::Little;
    for (link, expected) in [(1, 64), (0x2400_0001, 60), (0x0400_0001, 64)] {
        assert_eq!(size(&writer.pcap(0xa1b2_c3d4, link, &[(0, 0, frame(B, A))])), expected, "{link:#x}");
    }
    for (interface, packet, expected) in [
        (vec![], vec![], 64),
        (vec![writer.option(13, &[32])], vec![], 60),
        (vec![writer.option(13, &[0])], vec![], 64),
        (vec![], vec![writer.option(2, &writer.u32(4 << 5))], 60),
    ] {
        let file = [writer.section(), writer.interface(1, &interface), writer.packet(0, 0, &frame(B, A), &packet)];
        assert_eq!(size(&file.concat()), expected);
    }
}

/// Frames with preamble and SFD are as those without. What is no frame of Ethernet is counted by link type.
#[test]
fn a_file_of_several_link_types_is_read() {
    let writer = Writer::Little;
    let preamble = [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5];
    let sent = [&preamble[..], &frame(B, A), &[0; 39]].concat();
    let preempted = [&preamble[..7], &[0xe6], &frame(B, A)].concat();
    let cut_short = writer.option(2, &writer.u32(1 << 24));
    let file = [
        writer.section(),
        writer.interface(252, &[]),
        writer.interface(274, &[]),
        writer.interface(1, &[]),
        writer.packet(0, 1, b"a row", &[]),
        writer.packet(1, 2, &sent[..60], &[]),
        writer.packet(1, 3, &sent[..60], &[cut_short]),
        writer.packet(1, 4, &preempted, &[]),
        writer.packet(2, 5, &frame(B, A), &[]),
    ];
    let replay = read(&file.concat()).expect("whole");
    let sizes: Vec<u32> = replay.frames().iter().map(|frame| frame.size.get()).collect();
    // Each packet says that it has 60 octets.
    assert_eq!((sizes, replay.sources().len()), (vec![52, 64], 1));
    assert_eq!(replay.left_out().collect::<Vec<_>>(), [(252, 1), (274, 2)]);
}

#[test]
fn a_tag_is_seen() {
    for (kind, tagged) in [([0x81, 0x00], true), ([0x88, 0xa8], true), ([0x86, 0xdd], false)] {
        let mut octets = frame(B, A);
        octets[12..14].copy_from_slice(&kind);
        let file = Writer::Little.pcap(0xa1b2_c3d4, 1, &[(0, 0, octets)]);
        assert_eq!(read(&file).expect("whole").frames()[0].tagged, tagged);
    }
}

/// Frames of several queues are often a little out of order: the stamps are right, and the order is not.
#[test]
fn frames_out_of_order_are_put_in_order_and_counted() {
    let at = |seconds| (seconds, 0, frame(B, if seconds == 3 { A } else { B }));
    let file = Writer::Little.pcap(0xa1b2_c3d4, 1, &[at(4), at(3), at(5), at(4), at(6)]);
    assert_eq!(stamps(&file), [0, 1, 1, 2, 3].map(|seconds| seconds * 1_000_000_000));
    let replay = read(&file).expect("whole");
    assert_eq!(
        (replay.unordered(), replay.sources()[0].to_string(), replay.sources().len()),
        (2, "02:00:00:00:00:01".into(), 2)
    );
}

/// Wherever a file is cut: an error with the place of the record that is cut, or, between records, fewer frames.
#[test]
fn a_file_that_is_cut_off_is_an_error_with_its_place() {
    let writer = Writer::Little;
    let frames = [(0, 0, frame(B, A)), (0, 1, frame(A, B))];
    let pcap = writer.pcap(0xa1b2_c3d4, 1, &frames);
    let pcapng_parts = [
        writer.section(),
        writer.interface(1, &[writer.option(9, &[9])]),
        writer.packet(0, 1, &frame(B, A), &[writer.option(1, b"comment")]),
        writer.block(0xbad, &[1; 21]),
        writer.packet(0, 2, &frame(A, B), &[]),
    ];
    let mut ends = vec![0];
    pcapng_parts.iter().for_each(|part| ends.push(ends[ends.len() - 1] + part.len()));
    for (file, ends) in [(pcap, vec![0, 24, 24 + 31, 24 + 62]), (pcapng_parts.concat(), ends)] {
        assert_eq!(ends.last(), Some(&file.len()));
        for length in 0..=file.len() {
            let begin = *ends.iter().rev().find(|&&end| end <= length).expect("0 is one");
            match read(&file[..length]) {
                Ok(replay) => assert!(length == begin && !replay.frames().is_empty(), "{length}"),
                Err(CaptureError::Empty { .. }) => assert!(length == begin && length > 0, "{length}"),
                Err(CaptureError::Damaged { offset: 0, what, .. }) if length == 0 => assert!(what.contains("empty")),
                Err(CaptureError::Damaged { offset, what, .. }) => {
                    assert_eq!(offset, begin as u64, "{length}: {what}");
                    assert!(length > begin && what.contains("needs") && what.contains("the file ends after"), "{what}");
                }
                Err(other) => panic!("{length}: {other}"),
            }
        }
    }
}

/// Whatever one octet becomes: frames or an error with a place, never a panic.
#[test]
fn a_file_with_one_wrong_octet_is_read_or_refused() {
    for writer in [Writer::Little, Writer::Big] {
        let pcap = writer.pcap(0xa1b2_c3d4, 1, &[(0, 0, frame(B, A)), (0, 1, frame(A, B))]);
        let options = [writer.option(9, &[9]), writer.option(14, &[0; 8]), writer.option(13, &[32])];
        let pcapng = [
            writer.section(),
            writer.interface(1, &options),
            writer.packet(0, 1, &frame(B, A), &[writer.option(2, &[0; 4])]),
        ];
        for file in [pcap, pcapng.concat()] {
            for place in 0..file.len() {
                for wrong in [0, 1, 0x7f, 0x80, 0xff, file[place] ^ 1, file[place] ^ 0x20] {
                    let mut file = file.clone();
                    file[place] = wrong;
                    match read(&file) {
                        Ok(_) | Err(CaptureError::Empty { .. }) => {}
                        Err(CaptureError::Damaged { offset, what, .. }) => {
                            assert!(
                                offset <= file.len() as u64 && (what.contains("expected") || what.contains("needs")),
                                "{what}"
                            );
                        }
                        Err(other) => panic!("octet {place}: {other}"),
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_damaged_is_named_with_what_was_expected() {
    let writer = Writer::Little;
    let one = |seconds, ticks| writer.pcap(0xa1b2_c3d4, 1, &[(seconds, ticks, frame(B, A))]);
    let with = |mut file: Vec<u8>, place: usize, octets: &[u8]| {
        file[place..place + octets.len()].copy_from_slice(octets);
        file
    };
    let head = [writer.section(), writer.interface(1, &[])].concat();
    let at = head.len();
    let packet = |packet: Vec<u8>| [head.clone(), packet].concat();
    let good = packet(writer.packet(0, 0, &frame(B, A), &[]));
    for (file, offset, expected) in [
        (b"GIF89a".to_vec(), 0, "begins with 47 49 46 38: expected pcap or pcapng"),
        (vec![0x1f, 0x8b, 8, 0], 0, "unpack it first"),
        (0xa1b2_cd34_u32.to_le_bytes().to_vec(), 0, "Kuznetzov"),
        (with(one(0, 0), 4, &[1]), 4, "expected 2.4"),
        (writer.pcap(0xa1b2_c3d4, 105, &[]), 20, "link type 105: expected whole frames of 1 (LINKTYPE_ETHERNET)"),
        (one(0, 1_000_000), 24, "expected less than 1000000"),
        (with(one(0, 0), 32, &[61]), 24, "61 octets are captured of a frame of 60"),
        (with(one(0, 0), 36, &[0, 0, 5]), 24, "expected at most 262144"),
        (with(one(0, 0), 32, &[13]), 24, "expected at least 14"),
        (with(good.clone(), 8, &[0]), 8, "1a 2b 3c 4d"),
        (with(good.clone(), 12, &[2]), 12, "version 2.0 of pcapng"),
        (with(good.clone(), at + 4, &[61]), at, "a multiple of 4"),
        (with(good.clone(), at + 4, &[28]), at, "at least 32"),
        (with(good.clone(), at + 7, &[2]), at, "expected at most 16777216"),
        (with(good.clone(), good.len() - 4, &[64]), at, "and 64 at its end"),
        (with(good.clone(), at + 8, &[1]), at + 8, "a packet of interface 1: expected one of the 1"),
        (with(good.clone(), at + 20, &[60]), at + 20, "60 octets of a frame"),
        (with(good.clone(), at + 20, &[255; 4]), at + 20, "4294967295 octets of a frame"),
        (packet(writer.block(3, &[0; 64])), at, "no time stamp"),
        (
            [head.clone(), writer.interface(228, &[]), writer.packet(1, 0, &frame(B, A), &[])].concat(),
            at + 24,
            "link type 228: expected",
        ),
        ([writer.section(), writer.interface(1, &[writer.option(9, &[19])])].concat(), 44, "resolution 0x13"),
        (
            [writer.section(), writer.interface(1, &[writer.option(14, &[1])])].concat(),
            44,
            "option 14 of 1 octets: expected 8",
        ),
    ] {
        let (place, what) = damage(&file);
        assert!(what.contains(expected), "{expected}: {what}");
        assert_eq!(place, offset as u64, "{what}");
    }
    assert!(matches!(read(&writer.pcap(0xa1b2_c3d4, 1, &[])), Err(CaptureError::Empty { .. })));
}

fn specs(files: &[&str]) -> Vec<TrafficSpec> {
    let spec = |file: &&str| TrafficSpec {
        arrivals: if file.is_empty() { Arrivals::Silent } else { Arrivals::Replay { path: file.into() } },
        ..TrafficSpec::default()
    };
    files.iter().map(spec).collect()
}

/// 10 Mb/s: a nanosecond is a hundredth of a bit time, and an arrival is in the bit time in which it falls.
#[test]
fn several_stations_share_a_file_by_source_address() {
    let nobody = [2, 9, 9, 9, 9, 9];
    let frames = [(0, 0, frame(ALL, B)), (0, 199, frame(B, A)), (0, 200, frame(nobody, B))];
    let replay = read(&Writer::Little.pcap(0xa1b2_3c4d, 1, &frames)).expect("whole");
    let shared = |files: &[&str]| shares(&specs(files), std::slice::from_ref(&replay), BitRate::MBIT_10);
    let to = |number| Destination::Station(StationId::new(number));
    let plain = |shares: Vec<super::super::shares::Share>| -> Vec<Vec<(BitInstant, Destination)>> {
        shares.iter().map(|share| share.iter().map(|&(at, frame)| (at, frame.destination)).collect()).collect()
    };
    let [zero, one, two] = [0, 1, 2].map(BitInstant::new);
    let (all, gone) = (Destination::All, Destination::Nobody);
    let expected = vec![vec![(zero, all), (two, gone)], vec![], vec![(one, to(0))], vec![]];
    assert_eq!(plain(shared(&["trace", "", "trace", "trace"]).expect("enough stations")), expected);
    // One station alone sends all; a frame to itself has no addressee on the medium.
    let expected = vec![vec![], vec![(zero, all), (one, gone), (two, gone)]];
    assert_eq!(plain(shared(&["", "trace"]).expect("one")), expected);
    let third = [(0, 0, frame(B, A)), (0, 1, frame(A, B)), (0, 2, frame(A, nobody))];
    let three = read(&Writer::Little.pcap(0xa1b2_c3d4, 1, &third)).expect("whole");
    let error = shares(&specs(&["trace", "trace"]), &[three], BitRate::MBIT_10).expect_err("three sources");
    assert!(error.to_string().contains("3 source addresses, but 2 stations"), "{error}");
}

/// Where stations of two files send from one address, it is that of the same file's station, else that of the first's.
#[test]
fn an_address_is_looked_for_in_the_same_file_first() {
    let capture = |name: &str, frames: &[Vec<u8>]| {
        let frames: Vec<_> = frames.iter().map(|frame| (0, 0, frame.clone())).collect();
        Capture::read(Path::new(name), &Writer::Big.pcap(0xa1b2_c3d4, 1, &frames)[..]).expect("whole")
    };
    let c = [2, 0, 0, 0, 0, 3];
    let replays = [
        capture("one", &[frame(A, c), frame(c, c)]),
        capture("two", &[frame(A, B), frame(B, A)]),
        capture("three", &[frame(c, A), frame(A, A)]),
    ];
    let shares = shares(&specs(&["one", "three", "two", "two"]), &replays, BitRate::MBIT_10).expect("enough stations");
    let to: Vec<Vec<Destination>> =
        shares.iter().map(|share| share.iter().map(|(_, frame)| frame.destination).collect()).collect();
    let station = |number| Destination::Station(StationId::new(number));
    let nobody = Destination::Nobody;
    assert_eq!(to, [vec![station(3), nobody], vec![station(0), station(3)], vec![station(3)], vec![station(2)]]);
}
