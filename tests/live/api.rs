//! The control socket as docs/api.md has it, for programs of others.

use crate::common::files::kind;
use crate::common::lab::Lab;
use crate::common::process::{ethbus, program, run};
use crate::common::{PATIENCE, Turn, skipped};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

pub struct Client(pub BufReader<UnixStream>);

impl Client {
    fn of(lab: &Lab) -> Client {
        Client::at(&lab.record().join("control.sock"))
    }

    pub fn at(socket: &Path) -> Client {
        let stream = UnixStream::connect(socket).expect("the lab listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        Client(BufReader::new(stream))
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).expect("the lab reads");
    }

    pub fn call(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let answer = self.line();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &id), "{answer}");
        answer
    }

    #[track_caller]
    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(json!("a name"), method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }
}

fn attached(results: &Value) -> Vec<bool> {
    let stations = results["stations"].as_array().expect("stations");
    stations.iter().map(|station| station["attached"].as_bool().expect("a truth")).collect()
}

/// One connection asks for one thing after another; errors have their codes and change nothing.
#[test]
fn a_connection_takes_requests_one_after_the_other() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let mut client = Client::of(&lab);
    let version = client.result("version", json!({}));
    assert_eq!(version["api"], 1, "{version}");
    assert!(version["program"].as_str().expect("a name").starts_with("ethbus "), "{version}");
    assert_eq!(attached(&client.result("detach", json!({ "station": "st2" }))), [true, false]);
    for (method, params, code, words) in [
        ("detach", json!({ "station": "st3" }), -32602, "no station is called `st3`"),
        ("detach", json!({}), -32602, "`station` is missing"),
        ("explode", json!({}), -32601, "`explode` is no method"),
        ("keep", json!({}), 1, "bring it up with `--keep FILE`"),
        ("cut", json!({ "segment": 7, "position_bt": 1 }), -32602, "cut: "),
    ] {
        let answer = client.call(json!(7), method, params);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a sentence").contains(words), "{answer}");
    }
    client.say("nonsense");
    let answer = client.line();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{answer}");
    // A notification has an effect and no answer.
    client.say(r#"{"jsonrpc":"2.0","method":"attach","params":{"station":"st2"}}"#);
    assert_eq!(attached(&client.result("stats", json!({}))), [true, true]);
    let farewell = client.result("down", json!({}));
    assert_eq!((&farewell["failed"], attached(&farewell["results"])), (&json!(false), vec![true, true]));
    lab.ended().succeeded();
    lab.assert_nothing_left();
}

/// A subscriber gets the events that it wants, all inputs, and results; a capture follows its answer.
#[test]
fn a_subscriber_gets_what_it_wants() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    let mut events = Client::of(&lab);
    let wanted = json!({ "events": { "stations": ["st3"], "kinds": ["transmitted"] }, "results_every_s": 0.2 });
    let header = &events.result("subscribe", wanted)["header"];
    assert_eq!(header["stations"], json!(["st1", "st2", "st3"]), "{header}");
    let mut capture = Client::of(&lab);
    assert_eq!(capture.result("capture", json!({ "filter": "station=st3" })), json!({}));
    lab.ping("st3", &lab.ipv4("st1"));
    let mut client = Client::of(&lab);
    client.result("detach", json!({ "station": "st2" }));
    let (mut transmitted, mut results, mut detached) = (0, 0, false);
    while transmitted == 0 || results < 2 || !detached {
        let told = events.line();
        let params = &told["params"];
        match told["method"].as_str() {
            Some("results") => {
                assert_eq!(params["stations"].as_array().map(Vec::len), Some(3), "{told}");
                results += 1;
            }
            Some("events") => {
                for event in params["events"].as_array().expect("events") {
                    match (&event["layer"], kind(event)) {
                        (Value::Null, "transmitted") => {
                            assert_eq!(event["station"], "st3", "{event}");
                            assert!(event["t"].as_u64() <= params["now"].as_u64(), "{told}");
                            transmitted += 1;
                        }
                        (layer, "unplug") => {
                            assert_eq!((layer, &event["unplug"]), (&json!("deed"), &json!("st2")), "{event}");
                            detached = true;
                        }
                        _ => panic!("not wanted: {event}"),
                    }
                }
            }
            _ => panic!("{told}"),
        }
    }
    capture.0.get_ref().shutdown(Shutdown::Write).expect("connected");
    let mut octets = Vec::new();
    capture.0.read_to_end(&mut octets).expect("a capture");
    assert!(octets.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) && octets.len() > 500, "{} octets", octets.len());
    let wrong = client.call(json!(1), "subscribe", json!({ "events": { "stations": ["st9"] } }));
    assert_eq!(wrong["error"]["message"], "no station is called `st9`");
    lab.down();
    lab.assert_nothing_left();
}

/// Commands know a station by its container's name and by the begin of its id, until it leaves.
#[test]
fn a_label_is_a_name_of_its_station() {
    if skipped(&["true"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3", "--capacity", "4", "--access", "plca", "--topology", "bus:25m"]);
    let network = format!("of-{}", lab.name);
    let (name, id, begin) = ("shop-and-more-of-it-all_web_1", "0123456789ab".repeat(5) + "cdef", "0123456789ab0");
    let mut client = Client::of(&lab);
    client.result("label", json!({ "station": "st2", "name": name, "id": id }));
    client.result("label", json!({ "name": network }));
    let wrong = client.call(json!(1), "label", json!({ "station": "st9", "name": name, "id": id }));
    assert_eq!(wrong["error"]["message"], "no station is called `st9`");
    let of_lab = |words: &[&str]| run(ethbus([words, &["--name", &network]].concat()));
    let all = of_lab(&["stats", "--format", "json"]).json();
    assert_eq!(all["addresses"][1]["container"], json!({ "name": name, "id": id }), "{all}");
    assert!(of_lab(&["stats"]).succeeded().stdout.contains(name));
    for given in [name, begin] {
        of_lab(&["unplug", given]).succeeded();
        assert_eq!(attached(&client.result("stats", json!({}))), [true, false, true]);
        of_lab(&["plug", given]).succeeded();
        for words in [
            &["fault", given, "deaf"][..],
            &["fault", given, "none"],
            &["cut", given, "st1"],
            &["mend"],
            &["set", given, "arrivals=poisson:0.01"],
            &["plca", "get", given],
            &["plca", "set", given, "burst-cnt", "1"],
            &["send", "--from", "st1", "--to", given, "--count", "1"],
            &["send", "--from", given, "--to", "st1", "--count", "1"],
            &["receive", "--at", given, "--duration", "1ms"],
            &["stats", "--station", given],
            &["capture", "--filter", &format!("station={given}"), "--out", "/dev/null", "--duration", "1ms"],
        ] {
            of_lab(words).succeeded();
        }
        run(ethbus(["exec", "--name", &network, given, "--", "true"])).succeeded();
    }
    of_lab(&["remove", name]).succeeded();
    of_lab(&["stats", "--station", name]).failed_with(1, &["shop"]);
    lab.down();
    lab.assert_nothing_left();
}

/// Both forms of the event log, the last seconds, captures and `explain` say which container a station is.
#[test]
fn a_trace_and_captures_have_the_container_of_a_station() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let own = tempfile::tempdir().expect("a folder");
    let at = |name: &str| own.path().join(name).to_str().expect("UTF-8").to_owned();
    let [log, kept] = ["live.events", "kept.events"].map(at);
    let mut lab = Lab::up(&["--stations", "2", "--events", &log, "--keep", &kept]);
    let (name, id) = ("shop-and-more-of-it-all_web_1", "0123456789ab".repeat(5) + "cdef");
    let mut client = Client::of(&lab);
    client.result("label", json!({ "station": "st2", "name": name, "id": id }));
    lab.ping("st2", &lab.ipv4("st1"));
    for plain in [&[][..], &["--plain"]] {
        let capture = at("late.pcapng");
        let words = [&["capture", "--name", &lab.name, "--duration", "1ms", "--out", &capture], plain].concat();
        run(ethbus(words)).succeeded();
        let text = String::from_utf8_lossy(&fs::read(&capture).expect("a capture")).into_owned();
        assert!(text.contains(&format!("; the container {name}, {id}")), "{plain:?}");
        assert_eq!(text.contains(&format!("st2 is the container {name}")), plain.is_empty());
        fs::remove_file(&capture).expect("own folder");
    }
    let kept = client.result("keep", json!({}))["file"].as_str().expect("a file").to_owned();
    lab.down();
    lab.assert_nothing_left();
    let own_line =
        format!("\"kind\":\"container\",\"station\":\"st2\",\"name\":\"{name}\",\"container_id\":\"{id}\"}}");
    let whole = fs::read_to_string(&log).expect("a log");
    for text in [&whole, &fs::read_to_string(kept).expect("a log")] {
        assert_eq!(text.matches(&own_line).count(), 1, "{text}");
    }
    let [binary, again] = ["live.ebe", "again.events"].map(at);
    for (from, to) in [(&log, &binary), (&binary, &again)] {
        run(ethbus(["convert", from, "--to", "trace", "--out", to])).succeeded();
        let told = run(ethbus(["explain", to, "--frame", "st2#1"])).succeeded().stdout;
        assert!(told.contains(&format!("st2 is the container {name} ({id})")), "{told}");
    }
    assert_eq!(fs::read_to_string(again).expect("a log"), whole);
}

/// The client of docs/api.md unplugs a station and sees collisions.
#[test]
fn the_client_in_python_works() {
    if skipped(&["python3"]) {
        return;
    }
    let _turn = Turn::shared();
    let own = tempfile::tempdir().expect("a folder");
    let scenario = own.path().join("lab.toml");
    fs::write(&scenario, "[traffic]\narrivals = \"saturated\"\n").expect("own folder");
    let mut lab = Lab::up(&["--stations", "3", scenario.to_str().expect("UTF-8")]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/api.py");
    let told = run(program("python3", [script, &lab.name, "st2"])).succeeded().stdout;
    assert!(told.contains("'st1': True, 'st2': False, 'st3': True"), "{told}");
    assert_eq!(told.matches("'kind': 'collision'").count(), 5, "{told}");
    lab.down();
    lab.assert_nothing_left();
}
