//! The figures that Prometheus reads from labs: those of `stats`, under names that the examples use, and only on
//! request.

use crate::common::lab::Lab;
use crate::common::process::{Running, ethbus, program, run};
use crate::common::{Turn, is_installed, skip, skipped};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

/// A free port.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("any port").local_addr().expect("it is bound").port()
}

fn get(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    stream.set_read_timeout(Some(crate::common::PATIENCE)).expect("a time");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The served text, in the format of OpenMetrics or in the older one.
fn scrape(port: u16, open: bool) -> String {
    let accept = if open { "application/openmetrics-text;version=1.0.0" } else { "text/plain" };
    let answer = get(port, &format!("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n"));
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(&format!("Content-Type: {}", &accept[..10])),
        "{head}"
    );
    body.to_owned()
}

fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let one = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        (name.to_owned(), value.parse().expect("a number"))
    };
    lines.map(one).collect()
}

#[test]
fn a_lab_serves_the_figures_of_stats() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let (own, all) = (port(), port());
    let lab = Lab::up(&["--stations", "3", "--metrics", &own.to_string()]);
    let other = Lab::up(&["--stations", "2"]);
    run(lab.exec("st1", &["ping", "-c", "3", "-i", "0.2", "-W", "5", &lab.ipv4("st2")])).succeeded();
    let before = lab.stats();
    let text = scrape(own, true);
    let (told, after) = (samples(&text), lab.stats());
    let mut counters = 0;
    for (index, station) in before["stations"].as_array().expect("stations").iter().enumerate() {
        let is_count = |name: &str| !["queued", "queued_at_start"].contains(&name);
        let counts = station.as_object().expect("counters").iter();
        for (name, value) in counts.filter(|(name, value)| value.is_u64() && is_count(name)) {
            let metric = format!("ethbus_{name}_total{{lab=\"{}\",station=\"st{}\"}}", lab.name, index + 1);
            let then = after["stations"][index][name].as_f64().expect("a count");
            let now = told.get(&metric).unwrap_or_else(|| panic!("no {metric} in {text}"));
            assert!((value.as_f64().expect("a count")..=then).contains(now), "{metric}: {value} {now} {then}");
            counters += 1;
        }
    }
    assert_eq!(counters, 3 * 25, "all counters of all stations");
    let one = |name: &str| told[&format!("{name}{{lab=\"{}\"}}", lab.name)];
    assert!(
        one("ethbus_emulator_lateness_seconds_count") >= before["emulator"]["deliveries"].as_f64().expect("a count")
    );
    assert!(one("ethbus_access_delay_seconds_count") > 0.0 && one("ethbus_up") == 1.0);
    assert!(text.ends_with("# EOF\n") && !text.contains(&other.name), "only the lab's own");

    // Other requests do no harm.
    assert!(get(own, "GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(get(own, "nonsense\r\n\r\n").starts_with("HTTP/1.1 405"));

    let mut server = Running::start(ethbus(["metrics", "--listen", &all.to_string()]), "");
    server.wait_for_stderr(&format!("metrics at http://127.0.0.1:{all}/metrics"));
    let both = scrape(all, true);
    for name in [&lab.name, &other.name] {
        assert!(samples(&both).contains_key(&format!("ethbus_up{{lab=\"{name}\"}}")), "{name} in {both}");
    }
    server.signal("INT");
    assert_eq!(server.wait().code(), Some(130));

    names_of_the_examples_are_served(&text);
    if is_installed("promtool") {
        let plain = scrape(own, false);
        let linted = Running::start(program("promtool", ["check", "metrics"]), &plain).wait();
        assert_eq!((linted.code(), linted.stderr.as_str()), (Some(0), ""), "{}", linted.stdout);
    }
    // A port in use: nothing is made.
    let busy = run(ethbus(["up", "--name", "never", "--metrics", &own.to_string()]));
    busy.failed_with(1, &[&format!("cannot serve metrics at 127.0.0.1:{own}"), "Address already in use"]);
    assert!(!run(program("ip", ["netns", "list"])).stdout.contains("never-"));
    run(ethbus(["up", "--metrics", "often"])).failed_with(2, &["write one, like `9610`"]);
}

/// Every metric in dashboard and rules is served.
fn names_of_the_examples_are_served(text: &str) {
    let served: BTreeSet<&str> =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('{').next()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/prometheus");
    let mut asked = BTreeSet::new();
    for name in ["grafana.json", "rules.yml"] {
        let content = fs::read_to_string(folder.join(name)).expect("an example");
        let words = content.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        asked.extend(words.filter(|word| word.starts_with("ethbus_")).map(str::to_owned));
    }
    assert!(asked.len() > 12, "{asked:?}");
    for name in asked {
        // Counters by cause exist as soon as a lab does; those of collisions too.
        assert!(served.contains(name.as_str()), "{name} is not served");
    }
}

/// Debian's own Prometheus scrapes two labs by the example's configuration; promtool finds nothing wrong with it.
#[test]
#[ignore = "needs Debian's prometheus: .ci/full runs it"]
fn prometheus_scrapes_all_labs() {
    if !is_installed("prometheus") || !is_installed("promtool") {
        return skip("needs prometheus, promtool");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/prometheus");
    let file = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    run(program("promtool", ["check", "config", &file("prometheus.yml")])).succeeded();
    run(program("promtool", ["check", "rules", &file("rules.yml")])).succeeded();
    let _turn = Turn::shared();
    let labs = [Lab::up(&["--stations", "2"]), Lab::up(&["--stations", "3"])];
    let (all, web) = (port(), port());
    let mut server = Running::start(ethbus(["metrics", "--listen", &all.to_string()]), "");
    server.wait_for_stderr("metrics at");
    let own = tempfile::tempdir().expect("a folder");
    let config = fs::read_to_string(folder.join("prometheus.yml")).expect("an example");
    let config = config.replace("9610", &all.to_string()).replace("interval: 5s", "interval: 1s");
    let path = own.path().join("prometheus.yml");
    fs::write(&path, config.replace("rules.yml", &file("rules.yml"))).expect("own folder");
    let options = [
        format!("--config.file={}", path.display()),
        format!("--storage.tsdb.path={}", own.path().join("data").display()),
        format!("--web.listen-address=127.0.0.1:{web}"),
    ];
    let mut prometheus = Running::start(program("prometheus", options), "");
    prometheus.wait_for_stderr("Server is ready to receive web requests");
    let query = "GET /api/v1/query?query=count(ethbus_frames_transmitted_ok_total) HTTP/1.0\r\n\r\n";
    crate::common::wait_until(3 * crate::common::PATIENCE, "five stations scraped", || {
        get(web, query).contains("\"5\"")
    });
    drop(labs);
}
