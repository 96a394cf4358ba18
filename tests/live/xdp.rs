//! XDP programs at stations' interfaces, attached as `ip link set … xdp` does it (docs/xdp.md).

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Finished, program, run};
use crate::common::results::check;
use crate::common::{Turn, skipped};
use crate::traffic::{frame, next_frame, raw};
use link::station::EXPERIMENTAL_ETHERTYPE;
use tempfile::TempDir;

/// One program passes everything, the others answer frames of experimental type with their addresses exchanged.
const PROGRAMS: &str = r#"
#define SEC(name) __attribute__((section(name), used))
struct xdp_md { unsigned data, data_end; };
static inline __attribute__((always_inline)) int answer(struct xdp_md *frame) {
    unsigned char *octets = (void *)(long)frame->data;
    if ((void *)(octets + 14) > (void *)(long)frame->data_end || octets[12] != 0x88 || octets[13] != 0xb5)
        return 2; // XDP_PASS
    for (int place = 0; place < 6; place++) {
        unsigned char old = octets[place];
        octets[place] = octets[place + 6];
        octets[place + 6] = old;
    }
    return 3; // XDP_TX
}
SEC("xdp_passes") int passes(struct xdp_md *frame) { return 2; }
SEC("xdp_answers") int answers(struct xdp_md *frame) { return answer(frame); }
SEC("xdp.frags") int answers_fragments(struct xdp_md *frame) { return answer(frame); }
char terms[] SEC("license") = "MIT";
"#;

/// The programs, compiled into a file of this folder.
fn compiled(folder: &TempDir) -> String {
    let [source, object] = ["xdp.c", "xdp.o"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&source, PROGRAMS).expect("own folder");
    run(program("clang", ["-O2", "-g", "-target", "bpf", "-c", &source, "-o", &object])).succeeded();
    object
}

fn attach(lab: &Lab, object: &str, section: &str) -> Finished {
    run(lab.exec("st1", &["ip", "link", "set", "dev", INTERFACE, "xdp", "obj", object, "sec", section]))
}

/// How many of twenty frames from st2 st1's program answers.
fn answered(lab: &Lab) -> usize {
    let (mut socket, [here, there]) = (raw(lab, "st2"), ["st2", "st1"].map(|station| lab.mac(station)));
    let mut answers = |octets: usize| {
        socket.send(&frame(&there, &here, EXPERIMENTAL_ETHERTYPE, octets)).expect("the interface takes it");
        next_frame(&mut socket) == Some(frame(&here, &there, EXPERIMENTAL_ETHERTYPE, octets))
    };
    (0..20).map(|number| 100 + 70 * number).filter(|&octets| answers(octets)).count()
}

/// The kernel refuses a program that takes frames in one piece while the port's MTU is above a page, and throws away what
/// a program answers to a port without one (issue 47, 4: 0 of 20).
#[test]
fn with_xdp_every_program_attaches_natively_and_its_answers_arrive() {
    if skipped(&["clang", "ip", "ping"]) {
        return;
    }
    let (_turn, folder) = (Turn::shared(), crate::common::files::folder());
    let (object, lab) = (compiled(&folder), Lab::up(&["--stations", "2", "--xdp"]));
    attach(&lab, &object, "xdp_passes").succeeded();
    lab.ping("st2", &lab.ipv4("st1")).succeeded();
    assert_eq!(answered(&lab), 0, "nobody answers what is passed");
    run(lab.exec("st1", &["ip", "link", "set", INTERFACE, "xdp", "off"])).succeeded();
    attach(&lab, &object, "xdp_answers").succeeded();
    assert_eq!(answered(&lab), 20);
    lab.ping("st2", &lab.ipv4("st1")).succeeded();
    // What the port would have to drop for its length does not leave the station.
    let longer = run(lab.exec("st1", &["ip", "link", "set", INTERFACE, "mtu", "4000"]));
    longer.failed_with(2, &["mtu greater than device maximum"]);
    check(&lab.settled_stats());
}

/// Without it a lab is as ever, until a station attaches a program that takes frames in pieces.
#[test]
fn a_port_follows_its_station() {
    if skipped(&["clang", "ip"]) {
        return;
    }
    let (_turn, folder) = (Turn::shared(), crate::common::files::folder());
    let (object, mut lab) = (compiled(&folder), Lab::up(&["--stations", "2"]));
    let port = |lab: &Lab| {
        let shown = program("ip", ["-n", &lab.namespace_name("bus"), "link", "show", "st1"]);
        let shown = run(shown).succeeded().stdout;
        (shown.contains("prog/xdp"), shown.contains("mtu 65535 "))
    };
    attach(&lab, &object, "xdp_answers").failed_with(2, &["Peer MTU is too large to set XDP"]);
    assert_eq!(port(&lab), (false, true));
    attach(&lab, &object, "xdp.frags").succeeded();
    lab.supervisor().wait_for_stderr("st1 has an XDP program");
    assert_eq!(port(&lab), (true, true));
    assert_eq!(answered(&lab), 20);
    run(lab.exec("st1", &["ip", "link", "set", INTERFACE, "xdp", "off"])).succeeded();
    lab.supervisor().wait_for_stderr("st1 has no XDP program any more");
    assert_eq!(port(&lab), (false, true));
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(results["emulator"]["ports_lost"], 0, "{results}");
}
