//! A capture that begins on a lab that is up, and every way in which it ends; Wireshark's list of interfaces.

use crate::common::files::{folder, path};
use crate::common::lab::{Lab, fresh_name};
use crate::common::process::{Finished, Running, data_plane, ethbus, program, run, signal};
use crate::common::results::check;
use crate::common::user::{User, users_may_have_labs};
use crate::common::{ETHBUS, PATIENCE, Turn, note, skipped, wait_until};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Where Debian's Wireshark looks for programs that capture.
const EXTCAP: &str = "/usr/lib/x86_64-linux-gnu/wireshark/extcap";

/// Blocks of a capture: what each is, and its octets.
fn blocks(capture: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_ne_bytes(capture[at..at + 4].try_into().expect("four octets"));
    let (mut at, mut blocks) = (0, Vec::new());
    while at < capture.len() {
        let length = word(at + 4) as usize;
        assert!(length >= 12 && at + length <= capture.len(), "a block of {length} octets at {at}");
        blocks.push((word(at), &capture[at..at + length]));
        at += length;
    }
    blocks
}

/// Nanoseconds in which a transmission of these labs has ended, with its collision: 20,000 BT.
const UNSETTLED: u64 = 2_000_000;

/// Its packets.
fn packets(capture: &[u8]) -> Vec<&[u8]> {
    blocks(capture).into_iter().filter(|(kind, _)| *kind == 6).map(|(_, block)| block).collect()
}

/// The last block is the interface's statistics, which say that nothing is missing.
#[track_caller]
pub fn is_whole(capture: &str) {
    let octets = fs::read(capture).expect("a capture");
    let (kind, block) = *blocks(&octets).last().expect("a capture has blocks");
    assert_eq!((kind, &block[24..32]), (5, &[0; 8][..]), "{capture}");
}

fn capture(lab: &Lab, arguments: &[&str]) -> Command {
    ethbus([&["capture", &lab.name][..], arguments].concat())
}

/// A lab whose stations always have frames to send, all of which is captured in `full.pcapng`.
fn busy(folder: &TempDir, frame_size: u32) -> Lab {
    let [scenario, full] = ["lab.toml", "full.pcapng"].map(|name| path(folder, name));
    let medium = "stations = 4\n[medium]\ntopology = 'bus:500m'\n";
    let traffic = format!("[traffic]\narrivals = 'saturated'\nframe_size = {frame_size}\n");
    fs::write(&scenario, medium.to_owned() + &traffic).expect("own folder");
    Lab::up(&[&scenario, "--pcapng", &full])
}

/// The packets of a capture of a lab that was up are those that one from the lab's beginning has from then on, octet for octet.
/// The first are `done`, about what was done to the medium before.
#[track_caller]
fn same_from_then_on(folder: &TempDir, done: usize) {
    let late = path(folder, "late.pcapng");
    is_whole(&late);
    let [full, own] = [path(folder, "full.pcapng"), late].map(|file| fs::read(file).expect("a capture"));
    let (own, full) = (packets(&own).split_off(done), packets(&full));
    let begin = own.iter().map(|packet| stamp(packet)).min().expect("packets");
    let full: Vec<&[u8]> = full.into_iter().filter(|packet| stamp(packet) >= begin).collect();
    let same = own.iter().zip(&full).take_while(|(own, full)| own == full).count();
    // What was on the medium as the capture ended is left out, or lacks parties; other packets of that time then have
    // other places. A detached station that is saturated has many of them.
    let differs = own.get(same).map(|packet| stamp(packet));
    let last = own.iter().map(|packet| stamp(packet)).max();
    let is_at_the_end = differs.zip(last).is_none_or(|(differs, last)| differs + UNSETTLED >= last);
    assert!(is_at_the_end && same > 100, "{same} of {} are the same", own.len());
    let text = String::from_utf8_lossy(own.concat().as_slice()).into_owned();
    assert!(text.contains("\"kind\":\"collision\""), "collisions are compared too");
    note(&format!("{same} of {} packets are the same", own.len()));
}

fn stamp(packet: &[u8]) -> u64 {
    let word = |at: usize| u64::from(u32::from_ne_bytes(packet[at..at + 4].try_into().expect("four octets")));
    word(12) << 32 | word(16)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64
}

/// Queued frames, collisions with all their parties, a faulty and a detached station: a capture has them as one from the lab's
/// beginning has. Its stamps are times of day, and a filter keeps to what it says.
#[test]
fn a_capture_begun_late_has_the_packets_of_one_from_the_beginning() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [late, filtered] = ["late.pcapng", "filtered.pcapng"].map(|name| path(&folder, name));
    let begin = now();
    let mut lab = busy(&folder, 200);
    run(lab.ethbus("fault", &["st2", "bad_fcs"])).succeeded();
    run(lab.ethbus("unplug", &["st3"])).succeeded();
    let told = run(capture(&lab, &["-o", &late, "--duration", "1s"])).succeeded();
    assert!(told.stderr.contains(&format!(" packets in {late}")), "{}", told.stderr);
    run(capture(&lab, &["-o", &filtered, "--duration", "300ms", "--filter", "collisions,station=st1"])).succeeded();
    check(&lab.stats());
    lab.down().succeeded();
    // The fault and the detached station.
    same_from_then_on(&folder, 2);
    let late = fs::read(&late).expect("a capture");
    let stamps: Vec<u64> = packets(&late).iter().map(|packet| stamp(packet)).collect();
    assert!(begin < stamps[0] && stamps[stamps.len() - 1] < now(), "stamps are times of day");
    let filtered = fs::read(&filtered).expect("a capture");
    let rows: Vec<String> = packets(&filtered).iter().map(|row| String::from_utf8_lossy(row).into_owned()).collect();
    let rows: Vec<&String> = rows.iter().filter(|row| row.contains("\"kind\":")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        let is_of_st1 = row.contains("\"kind\":\"collision\"") && row.contains("\"station\":\"st1\"");
        assert!(is_of_st1, "{row}");
    }
}

/// A capture over the control socket has what its client does from the answer on until it closes: a datagram at once, and the
/// answer to a `ping` that has just ended.
#[test]
fn a_capture_has_what_happened_before_its_client_closed() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let is_answer = |frame: &[u8]| frame.len() > 34 && frame[12..14] == [8, 0] && frame[23] == 1 && frame[34] == 0;
    let is_datagram = |frame: &[u8]| frame.starts_with(&[0xff; 6]) && frame[12..14] == [8, 0] && frame[23] == 17;
    let from_st1 = lab.namespace("st1").run(|| UdpSocket::bind("10.77.0.1:0")).expect("entered").expect("its address");
    from_st1.set_broadcast(true).expect("a socket");
    for round in 0..4 {
        let mut stream = UnixStream::connect(lab.record().join("control.sock")).expect("the lab listens");
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"capture","params":{"framing":"plain","filter":""}}"#;
        writeln!(stream, "{request}").expect("the lab reads");
        let mut octet = [0];
        while octet != *b"\n" {
            stream.read_exact(&mut octet).expect("an answer");
        }
        from_st1.send_to(&[7; 64], "255.255.255.255:9").expect("a link that is up");
        lab.ping("st1", &lab.ipv4("st2"));
        stream.shutdown(Shutdown::Write).expect("connected");
        let mut octets = Vec::new();
        stream.read_to_end(&mut octets).expect("a capture");
        let count = |is: &dyn Fn(&[u8]) -> bool| packets(&octets).iter().filter(|packet| is(&packet[28..])).count();
        let counts = (count(&is_datagram), count(&is_answer));
        assert_eq!(counts, (1, 1), "round {round}: {} octets", octets.len());
    }
    // Of a lab whose clock has stopped, a capture ends too.
    run(lab.ethbus("pause", &[])).succeeded();
    run(capture(&lab, &["-o", "/dev/null", "--duration", "100ms"])).succeeded();
    lab.down().succeeded();
}

/// The same with PLCA, whose nodes have states that began long before: frames wait in delay lines for their turns.
#[test]
fn a_capture_begun_late_knows_the_states_of_plca() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [scenario, full, late] = ["lab.toml", "full.pcapng", "late.pcapng"].map(|name| path(&folder, name));
    let text = "stations = 4\n[access]\nmethod = 'plca'\n[traffic]\narrivals = 'saturated'\nframe_size = 300\n";
    fs::write(&scenario, text).expect("own folder");
    let mut lab = Lab::up(&[&scenario, "--pcapng", &full]);
    run(capture(&lab, &["-o", &late, "--duration", "500ms"])).succeeded();
    lab.down().succeeded();
    same_from_then_on(&folder, 0);
}

/// The reader of a pipe, an interrupt, and the lab's end: each ends a capture with success, and the bus continues.
#[test]
fn a_capture_ends_with_its_reader_a_signal_or_the_lab() {
    if skipped(&["sh"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [full, one, other] = ["full.pcapng", "one.pcapng", "other.pcapng.zst"].map(|name| path(&folder, name));
    let mut lab = busy(&folder, 1000);
    let piped = format!("{ETHBUS} capture {} | head -c 5000 | wc -c; echo ${{PIPESTATUS[0]}}", lab.name);
    assert_eq!(run(program("bash", ["-c", &piped])).succeeded().stdout, "5000\n0\n");
    let mut interrupted = Running::start(capture(&lab, &["-o", &one]), "");
    wait_until(PATIENCE, "there is a capture", || fs::metadata(&one).is_ok_and(|file| file.len() > 100_000));
    interrupted.signal("INT");
    wait_until(PATIENCE, "it ends", || interrupted.has_ended());
    interrupted.wait().succeeded();
    is_whole(&one);
    // A bus without traffic does not keep a capture whose reader has gone.
    let quiet = Lab::up(&["--stations", "2"]);
    quiet.silence(2);
    let piped = format!("{ETHBUS} capture {} | head -c 100 | wc -c; echo ${{PIPESTATUS[0]}}", quiet.name);
    assert_eq!(run(program("bash", ["-c", &piped])).succeeded().stdout, "100\n0\n");
    drop(quiet);
    let ended = Running::start(capture(&lab, &["-o", &other]), "");
    wait_until(PATIENCE, "there is a capture", || fs::metadata(&other).is_ok_and(|file| file.len() > 1000));
    check(&lab.stats());
    lab.down().succeeded();
    ended.wait().succeeded();
    assert!(packets(&fs::read(&full).expect("a capture")).len() > 100);
    let packed = fs::read(&other).expect("a capture");
    assert_eq!(packed[..4], [0x28, 0xb5, 0x2f, 0xfd], "a frame of zstd");
    let missing = run(ethbus(["capture", &lab.name, "-o", &one]));
    missing.failed_with(1, &["no lab called"]);
}

/// A reader that stops loses packets, and only it: they are counted, the capture says where, the bus's own files are whole.
#[test]
fn a_reader_that_stops_loses_packets_alone() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = folder();
    let [slow, refused] = ["slow.pcapng", "refused.pcapng"].map(|name| path(&folder, name));
    let mut lab = busy(&folder, 256);
    let mut stopped = Running::start(capture(&lab, &["-o", &slow]), "");
    wait_until(PATIENCE, "there is a capture", || fs::metadata(&slow).is_ok_and(|file| file.len() > 10_000));
    stopped.signal("STOP");
    let others: Vec<Running> = (0..3).map(|_| Running::start(capture(&lab, &["-o", "/dev/null"]), "")).collect();
    std::thread::sleep(Duration::from_secs(1));
    run(capture(&lab, &["-o", &refused])).failed_with(1, &["four captures of it go on already"]);
    std::thread::sleep(Duration::from_secs(7));
    stopped.signal("CONT");
    std::thread::sleep(Duration::from_millis(500));
    stopped.signal("INT");
    wait_until(PATIENCE, "it ends", || stopped.has_ended());
    stopped.wait().failed_with(1, &["it misses", "rows of the kind `missing` say where"]);
    let octets = fs::read(&slow).expect("a capture");
    let missing = packets(&octets).iter().filter(|row| String::from_utf8_lossy(row).contains("\"missing\"")).count();
    assert!(missing > 0, "the capture says where");
    let stats = lab.stats();
    check(&stats);
    assert_eq!(stats["emulator"]["files_incomplete"], 0);
    lab.down().succeeded();
    for other in others {
        other.wait().succeeded();
    }
}

/// A data plane that ends before the capture does leaves one that is not whole, and the command says so.
#[test]
fn a_capture_of_a_bus_that_is_killed_is_not_whole() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let own = path(&folder, "own.pcapng");
    let mut lab = busy(&folder, 1000);
    let cut = Running::start(capture(&lab, &["-o", &own]), "");
    wait_until(PATIENCE, "there is a capture", || fs::metadata(&own).is_ok_and(|file| file.len() > 10_000));
    signal("KILL", &data_plane(lab.supervisor().pid()).to_string());
    cut.wait().failed_with(1, &["it ends early"]);
    lab.ended();
    assert!(!packets(&fs::read(&own).expect("a capture")).is_empty());
}

/// `tshark` with a link to ethbus in its extcap folder, and with no other program there. Mounts are its own.
fn tshark(extcap: &str, arguments: &[&str]) -> Finished {
    let mount = format!("mount --bind {extcap} {EXTCAP} && exec tshark \"$@\"");
    run(program("unshare", [&["--mount", "sh", "-c", &mount, "sh"][..], arguments].concat()))
}

/// Wireshark's list has the lab; a capture begins, keeps to a filter, and ends when the reader has enough.
#[test]
fn wireshark_lists_labs_and_captures() {
    if skipped(&["tshark", "unshare"]) {
        return;
    }
    if !fs::exists(EXTCAP).unwrap_or(false) {
        return crate::common::skip("this Wireshark has another extcap folder");
    }
    let _turn = Turn::shared();
    let (folder, extcap) = (folder(), folder());
    symlink(ETHBUS, extcap.path().join("ethbus")).expect("own folder");
    let extcap = extcap.path().to_str().expect("UTF-8");
    let mut lab = busy(&folder, 200);
    let listed = tshark(extcap, &["-D"]).succeeded().stdout;
    assert!(listed.contains(&format!("{0} (ethbus lab {0})", lab.name)), "{listed}");
    let types = tshark(extcap, &["-i", &lab.name, "-L"]).succeeded();
    assert!((types.stdout.clone() + &types.stderr).contains("ETHERNET_MPACKET"), "{}", types.stderr);
    let ten = tshark(extcap, &["-i", &lab.name, "-c", "10"]).succeeded();
    assert_eq!(ten.stdout.lines().count(), 10, "{}", ten.stderr);
    let rows = tshark(extcap, &["-i", &lab.name, "-f", "rows", "-c", "5"]).succeeded();
    assert!(rows.stdout.lines().count() == 5 && rows.stdout.lines().all(|row| row.contains("JSON")), "{}", rows.stdout);
    let wrong = tshark(extcap, &["-i", &lab.name, "-f", "nonsense", "-c", "5"]);
    assert!(wrong.stderr.contains("`nonsense` is no filter"), "{}", wrong.stderr);
    // Names of preferences have `_` for `-`.
    let plain = format!("extcap.{}.plain:true", lab.name.replace('-', "_"));
    let plain = tshark(
        extcap,
        &["-i", &lab.name, "-o", &plain, "-f", "frames", "-c", "5", "-T", "fields", "-e", "frame.protocols"],
    );
    assert!(plain.succeeded().stdout.lines().all(|row| row.starts_with("eth:")), "without preamble");
    check(&lab.stats());
    lab.down().succeeded();
}

/// A user's list has the labs that are the user's, and no others.
#[test]
fn a_user_sees_own_labs_alone() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let (user, name) = (User::logged_in(), fresh_name());
    let mut roots = Lab::up(&["--stations", "2"]);
    let up = ["up", "--background", "--stations", "2", "--name", &name];
    user.run(&up).succeeded();
    let listed = user.run(&["--extcap-interfaces", "--extcap-version=4.0"]).succeeded().stdout;
    let interface = |name: &str| format!("interface {{value={name}}}{{display=ethbus lab {name}}}\n");
    assert_eq!(listed, format!("extcap {{version={}}}\n{}", env!("CARGO_PKG_VERSION"), interface(&name)));
    let roots_list = run(ethbus(["extcap", "--extcap-interfaces"])).succeeded().stdout;
    assert!(roots_list.contains(&interface(&roots.name)) && !roots_list.contains(&interface(&name)), "{roots_list}");
    let taken = user.run(&["capture", &name, "--duration", "200ms", "-o", "/dev/null"]).succeeded();
    assert!(taken.stderr.contains(" in /dev/null"), "{}", taken.stderr);
    let foreign = user.run(&["capture", &roots.name, "-o", "/dev/null"]);
    foreign.failed_with(1, &["no lab called", "root's"]);
    user.run(&["down", &name]).succeeded();
    roots.down().succeeded();
}
