//! Requests as they are read, and the document of the protocol.

use super::super::answer::code;
use super::*;
use medium::BitTimes;
use std::collections::BTreeSet;

fn read(line: &str) -> Asked {
    let mut line = Line::read(line.as_bytes());
    assert!(!line.is_batch);
    line.asked.pop().expect("a request")
}

/// One request of each method.
fn all() -> Vec<Control> {
    let station = || "a-name-of-15.oc".to_owned();
    let settings = PlcaSettings { burst_count: 255, ..PlcaSettings::off() };
    let keys = ["name", "mac", "kind", "interface", "netns", "bridge", "remote", "local", "vni", "port", "fault"];
    let more = ["ipv4", "ipv6", "position", "segment", "arrivals", "frame_size", "destination"];
    let added = keys.into_iter().chain(more).map(|key| (key.to_owned(), json!("a"))).collect();
    let keys = ["station", "arrivals", "frame_size", "destination", "queue", "filter", "link", "until"];
    let set = keys.map(|key| (key.to_owned(), json!("a"))).into_iter().collect();
    let wanted = Wanted { stations: vec![station()], kinds: vec!["collision".to_owned()] };
    let filter = "collisions,station=a-name-of-15.oc,address=02:eb:00:00:00:01".to_owned();
    vec![
        Control::Version,
        Control::Stats,
        Control::Subscribe(Subscription { events: Some(wanted), results_every_s: Some(1.5) }),
        Control::Keep,
        Control::Discards { station: station() },
        Control::Down,
        Control::Attach { station: station() },
        Control::Detach { station: station() },
        Control::Add(added),
        Control::Set(set),
        Control::Remove { station: station() },
        Control::Label { station: Some(station()), name: "web".to_owned(), id: Some("0123456789ab".to_owned()) },
        Control::Fault { station: station(), fault: Some(Fault::BadFcs) },
        Control::Plca { station: station(), settings },
        Control::Pause,
        Control::Step { bit_times: Some(1) },
        Control::Resume,
        Control::Cut(Place { segment: 1023, position: BitTimes::new(u64::MAX) }),
        Control::Mend,
        Control::Capture { framing: Framing::Plain, filter },
        Control::Enter { station: station() },
        Control::Exec { station: station(), command: "ping -c 3 st2".to_owned(), input: true },
    ]
}

#[test]
fn every_request_is_read_as_it_was_written() {
    let own = [
        Control::Fault { station: "st1".to_owned(), fault: None },
        Control::Label { station: None, name: "bus1".to_owned(), id: None },
        Control::Subscribe(Subscription { events: Some(Wanted::default()), results_every_s: None }),
        Control::Panic,
        Control::Trespass,
        Control::BusPanic,
    ];
    for request in all().into_iter().chain(own) {
        let asked = read(&request.line());
        assert_eq!(asked, Asked { id: Some("1".to_owned()), request: Ok(request) });
    }
}

/// The document has each method with its parameters, and its examples are requests.
#[test]
fn the_schema_has_every_method() {
    let document = include_str!("../../../api.json");
    let document: Value = serde_json::from_str(document).expect("JSON");
    assert_eq!(document["info"]["version"], json!(VERSION.to_string()));
    assert_eq!(document::names().count(), all().len());
    for (method, request) in document["methods"].as_array().expect("methods").iter().zip(all()) {
        let written = serde_json::to_value(&request).expect("names");
        assert_eq!(written["method"], method["name"]);
        let own = written["params"].as_object().map_or(BTreeSet::new(), |it| it.keys().cloned().collect());
        let params = method["params"].as_array().expect("params").iter();
        let told: BTreeSet<String> = params.map(|it| it["name"].as_str().expect("a name").to_owned()).collect();
        assert_eq!(told, own, "{}", method["name"]);
        for example in method["examples"].as_array().expect("examples") {
            let params: Value = example["params"]
                .as_array()
                .expect("params")
                .iter()
                .map(|it| (it["name"].as_str().expect("a name").to_owned(), it["value"].clone()))
                .collect();
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": params}).to_string();
            assert!(read(&line).request.is_ok(), "{line}: {:?}", read(&line));
        }
    }
}

/// What is no request is refused with its code, and with what would be right.
#[test]
fn what_is_wrong_is_named() {
    for (line, code, words) in [
        ("stats", code::NO_JSON, "from octet 1 on"),
        ("7", code::INVALID_REQUEST, "an object"),
        ("[]", code::INVALID_REQUEST, "at least one request"),
        (r#"{"method":"stats"}"#, code::INVALID_REQUEST, "`jsonrpc` is \"2.0\""),
        (r#"{"jsonrpc":"2.0","id":{},"method":"stats"}"#, code::INVALID_REQUEST, "`id` is a number or a text"),
        (r#"{"jsonrpc":"2.0","id":1}"#, code::INVALID_REQUEST, "`method`"),
        (r#"{"jsonrpc":"2.0","method":7}"#, code::INVALID_REQUEST, "`method` is the name"),
        (r#"{"jsonrpc":"2.0","method":"stats","params":7}"#, code::INVALID_REQUEST, "an object or a list"),
        (r#"{"jsonrpc":"2.0","method":"stat"}"#, code::NO_METHOD, "version, stats, subscribe"),
        (r#"{"jsonrpc":"2.0","method":"stats","params":{"a":1}}"#, code::INVALID_PARAMS, "`a` is no parameter"),
        (r#"{"jsonrpc":"2.0","method":"stats","params":[1]}"#, code::INVALID_PARAMS, "it has no parameters"),
        (r#"{"jsonrpc":"2.0","method":"attach"}"#, code::INVALID_PARAMS, "attach: `station` is missing"),
        (r#"{"jsonrpc":"2.0","method":"fault","params":["a"]}"#, code::INVALID_PARAMS, "fault: `fault` is missing"),
        (
            r#"{"jsonrpc":"2.0","method":"step","params":{"bit_times":1e3}}"#,
            code::INVALID_PARAMS,
            "`bit_times` is 1000.0: it is a whole number",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"fault","params":{"station":"a","fault":"mute"}}"#,
            code::INVALID_PARAMS,
            "fault: `mute` is no fault: write `deaf`",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"fault","params":{"station":"a","fault":null,"now":1}}"#,
            code::INVALID_PARAMS,
            "`now` is no parameter of it: its parameters are station, fault",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"label","params":{"station":"a","name":"web"}}"#,
            code::INVALID_PARAMS,
            "label: `station` and `id` are a container's",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"label","params":{"station":"a","name":"web","id":"ep-0123456789"}}"#,
            code::INVALID_PARAMS,
            "`id` is `ep-0123456789`: it is 12 to 64",
        ),
        (r#"{"jsonrpc":"2.0","method":"label","params":{"name":"\u001b"}}"#, code::INVALID_PARAMS, "control character"),
        (r#"{"jsonrpc":"2.0","method":"subscribe"}"#, code::INVALID_PARAMS, "`results_every_s` or both"),
        (
            r#"{"jsonrpc":"2.0","method":"subscribe","params":{"results_every_s":0}}"#,
            code::INVALID_PARAMS,
            "`results_every_s` is 0: it is from 0.1 to 1000000",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"subscribe","params":{"events":{"kinds":["crash"]}}}"#,
            code::INVALID_PARAMS,
            "`crash` is no kind of event: the kinds are offered",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"plca","params":{"station":"a","settings":{"enabled":true,"node-id":2,"node-cnt":8,"to-tmr":0,"burst-cnt":0,"burst-tmr":128}}}"#,
            code::INVALID_PARAMS,
            "plca: `settings.to-tmr` is 0: it is from 1 to 255",
        ),
    ] {
        let refusal = read(line).request.expect_err(line);
        assert_eq!(refusal.code, code, "{line}: {refusal:?}");
        assert!(refusal.message.contains(words), "{line}: {refusal:?}");
    }
}

/// A value of any kind in the place of any parameter is refused in words of JSON, or is right.
#[test]
fn no_refusal_has_a_word_of_the_program() {
    let values = r#"[null, true, -1, 0, 1.5, 1e300, 18446744073709551616, "", "x", [], [7], {}, {"a": 1}]"#;
    let values: Vec<Value> = serde_json::from_str(values).expect("JSON");
    let mut refused = 0;
    for request in all() {
        let right = serde_json::to_value(&request).expect("names");
        let Some(names) = right["params"].as_object().map(|params| params.keys().cloned()) else { continue };
        for (name, value) in names.flat_map(|name| values.iter().map(move |value| (name.clone(), value))) {
            let mut line = right.clone();
            line["jsonrpc"] = json!(JSON_RPC);
            line["params"][&name] = value.clone();
            let Err(refusal) = read(&line.to_string()).request else { continue };
            refused += 1;
            assert_eq!(refusal.code, code::INVALID_PARAMS, "{line}: {refusal}");
            for word in ["expected", "invalid", "variant", "struct", "field", "u8", "u16", "u32", "u64", "size"] {
                assert!(!refusal.message.contains(word), "{line}: {refusal}");
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
