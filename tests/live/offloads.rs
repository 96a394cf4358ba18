//! What stations leave to hardware that a wire does not have: checksums, also in tunnels and of SCTP, and the cutting of frames.

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::run;
use crate::common::results::{check, emulator};
use crate::common::{PATIENCE, Turn, skipped};
use crate::traffic::{exchange, next_frame, noise, raw};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};

/// Connects st1 to `address` in st2, and has each send the other `count` octets.
#[track_caller]
fn echo(lab: &Lab, address: SocketAddr, count: usize) {
    let listener = lab.namespace("st2").run(|| TcpListener::bind(address)).expect("st2").expect("a free port");
    let stream = lab.namespace("st1").run(|| TcpStream::connect_timeout(&address, PATIENCE)).expect("st1");
    let stream = stream.expect("a checksum filled in by the bus is a right one");
    let (server, _) = listener.accept().expect("st1 has connected");
    let (at_one, at_two) = std::thread::scope(|scope| {
        let at_two = scope.spawn(|| exchange(server, noise(count, 2)));
        (exchange(stream, noise(count, 1)), at_two.join().expect("no panic"))
    });
    assert!(at_one == noise(count, 2) && at_two == noise(count, 1));
}

/// A station that switches its offloads on again sends partial checksums: they are filled in and counted.
#[test]
fn a_station_with_offloads_on_is_noticed() {
    if skipped(&["ethtool", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    run(lab.exec("st1", &["ethtool", "-K", INTERFACE, "tx", "on"])).succeeded();
    echo(&lab, format!("{}:7000", lab.ipv4("st2")).parse().expect("an address"), 1000);
    let results = lab.settled_stats();
    check(&results);
    assert!(emulator(&results, "checksums_repaired") > 0, "{results}");
}

/// A station that leaves checksums to hardware may have a tunnel: those inside are as unfinished (issue 47, 3).
#[test]
fn tcp_and_udp_inside_a_tunnel_arrive_with_offloads_on() {
    if skipped(&["ip", "ethtool"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    for (number, here, there) in [(1, "st1", "st2"), (2, "st2", "st1")] {
        let tunnel = format!(
            "set -e; ethtool -K {INTERFACE} tx on
            ip link add vx type vxlan id 7 dev {INTERFACE} remote {} dstport 4789
            ip address add 10.9.0.{number}/24 dev vx; ip address add fd09::{number}/64 dev vx nodad; ip link set vx up",
            lab.ipv4(there)
        );
        run(lab.exec(here, &["sh", "-c", &tunnel])).succeeded();
    }
    for [one, two] in [["10.9.0.1:7000", "10.9.0.2:7000"], ["[fd09::1]:7000", "[fd09::2]:7000"]] {
        let [one, two]: [SocketAddr; 2] = [one, two].map(|address| address.parse().expect("an address"));
        echo(&lab, two, 30_000);
        let [from, to] = [("st1", one), ("st2", two)].map(|(station, address)| {
            lab.namespace(station).run(|| UdpSocket::bind(address)).expect("a station").expect("a free port")
        });
        to.set_read_timeout(Some(PATIENCE)).expect("a socket takes a limit");
        from.send_to(b"a datagram", two).expect("there is a route");
        assert_eq!(to.recv(&mut [0; 64]).expect("it arrives"), 10);
    }
    let results = lab.settled_stats();
    check(&results);
    assert!(emulator(&results, "checksums_repaired") > 20, "{results}");
    assert_eq!(emulator(&results, "checksums_left"), 0, "{results}");
}

/// Sends frames of experimental type through a socket that takes `virtio_net_hdr`: each argument is csum_start, and
/// what follows the type.
const SENDER: &str = "\
import socket, struct, sys
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.setsockopt(263, 15, 1)
sender.bind((sys.argv[1], 0))
for argument in sys.argv[2:]:
    start, rest = argument.split(':')
    sender.send(struct.pack('=BBHHHH', 1, 0, 0, 0, int(start), 8) + b'\\xff' * 6 + b'\\2' * 6 + b'\\x88\\xb5' + bytes.fromhex(rest))
";

/// SCTP's checksum is CRC32c, and the kernel says no more of it than where it is. One that is not whole in its frame stays
/// as it is; so does a frame of several segments, and both are said once (issue 47, 3).
#[test]
fn sctp_gets_its_crc_and_what_cannot_be_finished_is_said_once() {
    if skipped(&["ethtool", "ip", "python3"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    run(lab.exec("st1", &["ethtool", "-K", INTERFACE, "tx", "on", "sg", "on", "tso", "on", "gso", "on"])).succeeded();
    let mut to = raw(&lab, "st2");
    // Ports 80 and 81, a tag, no checksum yet, and one chunk.
    let packet = [&[0, 80, 0, 81, 1, 2, 3, 4, 0, 0, 0, 0, 11, 0, 0, 34][..], &[7; 30]].concat();
    let hex: String = packet.iter().map(|octet| format!("{octet:02x}")).collect();
    // The kernel wants room for an IPv4 header, and reads none. The other header begins ten octets before the frame's end.
    let (header, cut) = ("00".repeat(20), "00".repeat(46));
    let sent = [format!("34:{header}{hex}"), format!("50:{cut}"), format!("50:{cut}")];
    run(lab.exec("st1", &["python3", "-c", SENDER, INTERFACE, &sent[0], &sent[1], &sent[2]])).succeeded();
    let bit = |sum: u32, _| (sum >> 1) ^ (0x82f6_3b78 * (sum & 1));
    let sum = !packet.iter().fold(!0, |sum: u32, octet| (0..8).fold(sum ^ u32::from(*octet), bit));
    let got = next_frame(&mut to).expect("a frame that was filled in");
    assert_eq!(got[34..], [&packet[..8], &sum.to_le_bytes(), &packet[12..]].concat());
    for _ in 0..2 {
        assert_eq!(next_frame(&mut to).expect("a frame as it was")[14..], [0; 46]);
    }
    run(lab.exec("st1", &["ip", "link", "set", INTERFACE, "gso_max_segs", "64"])).succeeded();
    let address = format!("{}:7000", lab.ipv4("st2"));
    let listener = lab.namespace("st2").run(|| TcpListener::bind(&address)).expect("st2").expect("a free port");
    let mut stream = lab.namespace("st1").run(|| TcpStream::connect(&address)).expect("st1").expect("st2 listens");
    stream.write_all(&noise(20_000, 1)).expect("the socket has room");
    lab.supervisor().wait_for_stderr("to cut frames (TCP over IPv4, 1448 octets a piece)");
    drop(listener);
    let results = lab.settled_stats();
    assert_eq!(emulator(&results, "checksums_left"), 2, "{results}");
    let said = lab.supervisor().stderr();
    for words in ["cannot be filled in, 8 octets after octet 50 of a frame of 60", "left it to its interface"] {
        assert_eq!(said.matches(words).count(), 1, "{words} in {said}");
    }
}
