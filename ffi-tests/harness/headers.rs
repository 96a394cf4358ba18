//! The headers of `include/` as the source gives them: cbindgen's items, each in the header where it belongs.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs};

use super::ROOT;

/// The headers that are made, and what the names of their items begin with; `backoff.h` has the rest. `backoff.h` comes
/// first: the others include it.
const HEADERS: [(&str, &[&str]); 4] = [
    ("backoff.h", &[]),
    (
        "backoff_limits.h",
        &[
            "backoff_rate",
            "backoff_quota",
            "backoff_throttle",
            "backoff_tokens",
            "backoff_window",
            "backoff_share",
            "BACKOFF_NO_PUSHBACK",
        ],
    ),
    ("backoff_schedule.h", &["backoff_schedule", "backoff_ticket", "backoff_due"]),
    (
        "backoff_presets.h",
        &[
            "backoff_law",
            "backoff_jitter",
            "backoff_policy_",
            "backoff_prepared",
            "backoff_bounds",
            "backoff_moments",
            "backoff_retry_fail_",
            "BACKOFF_PREPARED",
            "BACKOFF_FLAG_FIRST",
        ],
    ),
];

/// The short name of a status.
const STATUS: &str = "\ntypedef enum backoff_status backoff_status;";

/// Name and text of each header, whether or not it is the one checked in.
pub static MADE: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let face = Path::new(ROOT).join("crates/backoff-c");
    let config = cbindgen::Config::from_file(face.join("cbindgen.toml")).expect("cbindgen.toml is valid");
    // From lib.rs cbindgen follows the modules, in their order there; a file named as well would be taken twice.
    let bindings = cbindgen::Builder::new().with_config(config).with_src(face.join("src/lib.rs")).generate();
    let mut written = Vec::new();
    bindings.expect("cbindgen understands the source").write(&mut written);
    let text = compact(&String::from_utf8(written).expect("the source is UTF-8"));
    let items: Vec<&str> =
        text.split("\n\n").map(|item| item.trim_matches('\n')).filter(|item| !item.is_empty()).collect();
    HEADERS
        .iter()
        .map(|(header, _)| {
            let frame = fs::read_to_string(face.join("headers").join(header)).expect("each header has its frame");
            let own = items.iter().filter(|item| home(name(item)) == *header);
            // A status is an enumeration in C too, for -Wswitch, and has a short name.
            let short = |item: &&str| if name(item) == "backoff_status" { STATUS } else { "" };
            let items = own.map(|item| format!("{item}{}", short(item))).collect::<Vec<String>>().join("\n\n");
            (*header, frame.replace("@ITEMS@", &items))
        })
        .collect()
});

/// All of them, one behind the other.
pub static ALL: LazyLock<String> = LazyLock::new(|| MADE.iter().map(|(_, text)| text.as_str()).collect());

/// The folder of the headers that are checked in, which `BLESS=1` has just rewritten.
pub static INCLUDE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(ROOT).join("include");
    if env::var_os("BLESS").is_some() {
        for (header, text) in &*MADE {
            fs::write(folder.join(header), text).expect("include/ is writable");
        }
    }
    folder
});

/// The same with short comments on one line, parameters filled to 100 columns, and the type of a status by its short name.
fn compact(text: &str) -> String {
    let text = text
        .replace("enum backoff_status backoff_", "backoff_status backoff_")
        .replace("\nBACKOFF_DIRECT;", " BACKOFF_DIRECT;");
    let mut lines: Vec<String> = Vec::new();
    let mut column = 0;
    for line in text.lines() {
        let bare = line.trim_start();
        let opens = |line: &String| line.trim_start() == "/**";
        let last = lines.len().wrapping_sub(1);
        if bare == "*/" && last > 0 && lines.get(last - 1).is_some_and(opens) {
            let said = lines.pop().unwrap_or_default();
            let opened = lines.pop().unwrap_or_default();
            lines.push(format!("{opened} {} */", said.trim_start().trim_start_matches("* ")));
        } else if column > 0 {
            let end = &mut lines[last];
            if end.len() + 1 + bare.len() <= 100 {
                *end += " ";
                *end += bare;
            } else {
                lines.push(" ".repeat(column) + bare);
            }
        } else {
            lines.push(line.to_owned());
        }
        let open = line.find('(').filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()));
        column = if line.ends_with(';') { 0 } else { open.map_or(column, |open| open + 1) };
    }
    lines.join("\n")
}

/// The name of an item: the word before the parenthesis of a function, or after `struct`, `enum` or `#define`.
fn name(item: &str) -> &str {
    let code: Vec<&str> = item.lines().skip_while(|line| line.starts_with("/*") || line.starts_with(" *")).collect();
    let line = code.iter().find(|line| !line.trim().is_empty() && **line != "BACKOFF_CHECKED").copied().unwrap_or("");
    if let Some((before, _)) = line.split_once('(')
        && !line.starts_with('#')
    {
        return before.rsplit([' ', '*']).next().unwrap_or("");
    }
    line.split([' ', ';', '{']).nth(1).unwrap_or("")
}

/// The header of an item.
fn home(name: &str) -> &'static str {
    let found = HEADERS.iter().find(|(_, starts)| starts.iter().any(|start| name.starts_with(start)));
    found.map_or("backoff.h", |(header, _)| header)
}
