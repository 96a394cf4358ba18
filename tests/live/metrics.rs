//! The figures that Prometheus reads from labs: those of `stats`, under names that the examples use, and only on
//! request.

use crate::common::lab::Lab;
use crate::common::process::{Running, ethbus, program, run};
use crate::common::{PATIENCE, Turn, is_installed, skipped, wait_until};
use serde_json::Value;
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
    // Changes have a series from the first one on.
    run(lab.ethbus("mend", &[])).succeeded();
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
    assert!(get(own, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(get(own, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    let head = get(own, "HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    let info = format!("ethbus_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(told.get(&info), Some(&1.0), "{text}");

    let mut server = Running::start(ethbus(["serve", "prometheus", "--listen", &all.to_string()]), "");
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
        // The name of a recording rule is one word, which begins otherwise.
        let words = content.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_:".contains(letter)));
        asked.extend(words.filter(|word| word.starts_with("ethbus_")).map(str::to_owned));
    }
    assert!(asked.len() > 12, "{asked:?}");
    for name in asked {
        // Counters by cause exist as soon as a lab does; those of collisions too.
        assert!(served.contains(name.as_str()), "{name} is not served");
    }
}

/// Debian's own Prometheus scrapes two labs by the example's configuration. Every query of the dashboard, its
/// annotations among them, and every rule finds data: of an alert, what it compares.
#[test]
fn prometheus_answers_every_query_of_the_examples() {
    if skipped(&["ip", "ping", "prometheus", "promtool"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/prometheus");
    let file = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    run(program("promtool", ["check", "config", &file("prometheus.yml")])).succeeded();
    run(program("promtool", ["check", "rules", &file("rules.yml")])).succeeded();
    let _turn = Turn::shared();
    let labs = [Lab::up(&["--stations", "2"]), Lab::up(&["--stations", "3"])];
    let (all, web) = (port(), port());
    let mut server = Running::start(ethbus(["serve", "prometheus", "--listen", &all.to_string()]), "");
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
    run(labs[1].ethbus("fault", &["st2", "bad_fcs"])).succeeded();
    run(labs[1].ethbus("unplug", &["st3"])).succeeded();
    let ping = labs[0].exec("st1", &["ping", "-q", "-i", "0.2", "-w", "600", &labs[0].ipv4("st2")]);
    let _traffic = Running::start(ping, "");
    let dashboard = fs::read_to_string(folder.join("grafana.json")).expect("an example");
    let mut queries = expressions(&serde_json::from_str(&dashboard).expect("JSON"));
    let rules = api(web, "rules");
    let rules: Vec<Value> =
        rules["groups"].as_array().expect("groups").iter().flat_map(|it| all_of(&it["rules"])).collect();
    queries.extend(rules.iter().map(|rule| rule["query"].as_str().expect("a query").to_owned()));
    assert!(queries.len() > 35, "{queries:?}");
    // Other tests have labs on this machine, which are served too.
    let names = labs.each_ref().map(|lab| lab.name.as_str()).join("|");
    for query in &queries {
        let query = query.replace("$lab", &names).replace("$__rate_interval", "10s");
        let mut told = Value::Null;
        wait_until(3 * PATIENCE, &format!("data for {query}"), || {
            told = api(web, &format!("query?query={}", encoded(compared(&query))));
            !all_of(&told["result"]).is_empty()
        });
    }
    let of_both = |metric: &str| encoded(&format!("{metric}{{lab=~\"{names}\"}}"));
    let five = api(web, &format!("query?query=count({})", of_both("ethbus_frames_transmitted_ok_total")));
    assert_eq!(five["result"][0]["value"][1], "5", "five stations: {five}");
    // What was done to the second lab has its instant and its words, and no other series.
    let told = api(web, &format!("query?query={}", of_both("ethbus_change_timestamp_seconds")));
    let word = |series: &Value, label: &str| series["metric"][label].as_str().expect("a label").to_owned();
    let mut changes: Vec<_> =
        all_of(&told["result"]).iter().map(|it| (word(it, "station"), word(it, "change"))).collect();
    changes.sort();
    let expected =
        [("st2", "fault bad_fcs"), ("st3", "unplug")].map(|(station, change)| (station.to_owned(), change.to_owned()));
    assert_eq!(changes, expected);
    // An evaluation of each rule has come to an end by now, and none failed.
    wait_until(3 * PATIENCE, "rules that are evaluated", || {
        let rules = api(web, "rules");
        let groups = all_of(&rules["groups"]);
        groups.iter().flat_map(|group| all_of(&group["rules"])).all(|rule| rule["health"] == "ok")
    });
}

/// The elements of an array.
fn all_of(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The data of an answer of Prometheus.
fn api(web: u16, what: &str) -> Value {
    let answer = get(web, &format!("GET /api/v1/{what} HTTP/1.0\r\n\r\n"));
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let told: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert_eq!(told["status"], "success", "{what}: {told}");
    told["data"].clone()
}

/// What an alert compares with a number; other queries as they are. An alert about labs that are gone is about those
/// that are there.
fn compared(query: &str) -> &str {
    let query = query.split(" offset ").next().expect("a beginning");
    query.split(['>', '<']).next().expect("a beginning").split("==").next().expect("a beginning").trim()
}

/// A query as a URL has it.
fn encoded(query: &str) -> String {
    query
        .bytes()
        .map(
            |octet| if octet.is_ascii_alphanumeric() { char::from(octet).to_string() } else { format!("%{octet:02X}") },
        )
        .collect()
}

/// Every `expr` of a dashboard.
fn expressions(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(expressions).collect(),
        Value::Object(fields) => {
            let own = fields.get("expr").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(expressions)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
