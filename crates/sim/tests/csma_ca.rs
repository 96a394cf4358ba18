//! CSMA/CA by the scenario file: hidden stations, and what is refused.

mod common;

use common::{plan, run};
use medium::{Method, Phy, Reach};
use sim::figures::results::Results;
use sim::figures::results::SlottedResults;

fn figures(results: &Results) -> &SlottedResults {
    results.medium.slotted.as_ref().expect("it counts frame times")
}

/// Two stations that send to one in the middle; `rts`, and how far they hear.
fn hidden(rts: bool, range: u32) -> Results {
    run(&format!(
        "stations = 3\n[medium]\ntopology = \"bus:200m\"\n[access]\nmethod = \"csma-ca\"\nphy = \"dsss-1\"\nrts = {rts}\n\
         range = \"{range} m\"\n[run]\nduration = \"60s\"\n[traffic]\nframe_size = 1518\n\
         [[station]]\ndestination = \"st2\"\n[[station]]\narrivals = \"silent\"\n[[station]]\ndestination = \"st2\"\n"
    ))
}

/// Where the two do not hear each other, a long frame meets the other's time and again; an RTS is short, and its CTS is
/// heard by both (Tobagi and Kleinrock 1975; IEEE 802.11, 10.3.2.7).
#[test]
fn rts_and_cts_help_hidden_stations() {
    let goodput = |rts, range| figures(&hidden(rts, range)).goodput_mbps.expect("of CSMA/CA");
    let (seen, hidden_basic, hidden_rts) = (goodput(false, 300), goodput(false, 120), goodput(true, 120));
    assert!(hidden_rts > 1.5 * hidden_basic, "{hidden_rts} with RTS, {hidden_basic} without");
    assert!(seen > hidden_rts, "{seen} if nobody is hidden, {hidden_rts} with RTS");
    let p = |rts| figures(&hidden(rts, 120)).collision_probability.expect("there were attempts");
    assert!(p(false) > 2.0 * p(true), "{} and {}", p(false), p(true));
}

#[test]
fn positions_stay_apart_where_a_bit_time_is_longer_than_the_line() {
    let text = "stations = 3\n[medium]\ntopology = \"bus:200m\"\n[access]\nmethod = \"csma-ca\"\nphy = \"dsss-1\"\nrange = \"120 m\"\n";
    let Method::CsmaCa(own) = plan(text).expect("a plan").medium.method else { panic!("CSMA/CA") };
    assert_eq!(own.phy, Phy::Dsss1);
    assert_eq!(own.reach, Some(Reach { range: 120_000, positions: vec![0, 100_000, 200_000] }));
}

/// A destination that does not hear its sender is said, with both stations, their distance and the range.
#[test]
fn a_destination_out_of_range_is_warned_of() {
    let line = "stations = 3\n[medium]\ntopology = \"bus:200m\"\n[access]\nmethod = \"csma-ca\"\nrange = ";
    let warnings = |rest: &str| plan(&format!("{line}{rest}")).expect("a plan").warnings;
    let said = warnings("\"120 m\"\n");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("st3 sends to st1, which is 200 m away, and the range is 120 m"), "{said:?}");
    assert_eq!(warnings("\"200 m\"\n"), [] as [&str; 0]);
    let silent = "\"120 m\"\n[[station]]\n[[station]]\n[[station]]\narrivals = \"silent\"\n";
    assert_eq!(warnings(silent), [] as [&str; 0], "who offers nothing sends to nobody");
    assert_eq!(warnings("\"120 m\"\n[traffic]\ndestination = \"random\"\n").len(), 2);
    let written = "\"120 m\"\n[[frame]]\nstation = \"st1\"\nat = \"1ms\"\ndestination = \"st3\"\n";
    assert!(warnings(written)[0].starts_with("st1 sends to st3"), "{:?}", warnings(written));
    let all = warnings("\"50 m\"\n[traffic]\ndestination = \"random\"\n");
    assert_eq!((all.len(), all[4].as_str()), (5, "2 further destinations are out of range, too"), "{all:?}");
}

/// ns-3 can send ACK, RTS and CTS of 802.11b at 11 Mb/s; another layer has no such choice.
#[test]
fn control_frames_of_dsss_11_can_be_as_fast_as_data() {
    let phy = |rest: &str| match plan(&format!("[access]\nmethod = \"csma-ca\"\n{rest}")).map(|plan| plan.medium.method)
    {
        Ok(Method::CsmaCa(own)) => Ok(own.phy),
        Ok(_) => panic!("CSMA/CA"),
        Err(error) => Err(error),
    };
    assert_eq!(phy("control_rate = \"11Mbit/s\"\n"), Ok(Phy::Dsss11Control11));
    assert_eq!(phy("control_rate = \"1Mbit/s\"\n"), Ok(Phy::Dsss11));
    assert_eq!(phy("phy = \"dsss-11-control-11\"\n"), Ok(Phy::Dsss11Control11));
    for wrong in ["control_rate = \"2Mbit/s\"\n", "phy = \"dsss-1\"\ncontrol_rate = \"1Mbit/s\"\n"] {
        let error = phy(wrong).expect_err("no such rate");
        assert!(error.contains("control_rate: ") && error.contains("1Mbit/s or 11Mbit/s"), "{error}");
    }
}

/// A run of a number of slots measures that number of slots, and is refused above 1,000 days.
#[test]
fn a_duration_may_be_in_slots() {
    let aloha = "[access]\nmethod = \"slotted-aloha\"\n[traffic]\narrivals = \"bernoulli:0.01\"\n[run]\n";
    let results = run(&format!("{aloha}duration = \"1000 slots\"\nwarmup = \"0 slots\"\n"));
    assert_eq!(results.measured_bit_times, 576_000);
    let error = plan(&format!("{aloha}duration = \"99999999999999999 slots\"\n")).expect_err("too long");
    assert!(error.contains("s.toml:6:") && error.contains("1,000 days"), "{error}");
    let bus = plan("[run]\nduration = \"3 slots\"\n").expect("a plan").run.duration;
    assert_eq!(bus.as_nanos(), 3 * 51_200, "slotTime of CSMA/CD");
}

#[test]
fn what_belongs_elsewhere_is_refused_in_a_sentence() {
    let access = |more: &str| format!("[access]\nmethod = \"csma-ca\"\n{more}");
    for (text, words) in [
        (access("backoff = \"beb\"\n"), "CSMA/CA waits by the window of 802.11"),
        (access("ack_delay = 1\n"), "CSMA/CA has no such thing"),
        (access("persistence = \"1\"\n"), "CSMA/CA has no such thing"),
        (access("population = \"infinite\"\n"), "CSMA/CA has no such thing"),
        (access("range = \"10 m\"\n"), "write `topology = \"bus:200m\"`"),
        (access("phy = \"ofdm-5\"\n"), "dsss-11"),
        (access("window = \"64:32\"\n"), "32:1024"),
        (access("[medium]\nrate = \"10Mbit/s\"\n"), "that of the physical layer"),
        (access("[medium]\nattempt_limit = 3\n"), "CSMA/CA has two limits"),
        (access("[medium]\njam_size = \"32 BT\"\n"), "detects no collision"),
        (access("[medium]\ntopology = \"star:120 BT\"\n"), "less than a slot"),
        ("[access]\nmethod = \"csma\"\nrts = true\n".to_owned(), "CSMA has no such thing"),
        ("[access]\nphy = \"dsss-1\"\n".to_owned(), "CSMA/CD has no such thing"),
    ] {
        let error = plan(&text).err().unwrap_or_else(|| panic!("taken: {text}"));
        assert!(error.contains(words), "{text}: {error}");
    }
    let live = plan(&access("")).expect("a plan").require_real_time().expect_err("virtual time only").to_string();
    assert!(live.contains("CSMA/CA runs in virtual time only"), "{live}");
}
