//! What people stumble over in their first hour: labs taken down by mistake, files that are half there, texts that do not fit
//! (issue 23, 4).

use crate::common::lab::Lab;
use crate::common::process::{Running, ethbus, program, run};
use crate::common::terminal::Terminal;
use crate::common::user::{User, users_may_have_labs};
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;
use std::path::Path;

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("own folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// `down` alone takes the lab called `ethbus` down, and no other, even if only one is up: it names those that there are.
#[test]
fn down_without_a_name_takes_only_the_default_lab_down() {
    if !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    user.run(&["up", "--background", "--stations", "2", "--name", "coax"]).succeeded();
    user.run(&["down"]).failed_with(1, &["no lab is called `ethbus`", "--name", "--all", "coax"]);
    user.run(&["up", "--background", "--stations", "2"]).succeeded();
    let down = user.run(&["down"]).succeeded();
    assert!(down.stdout.contains("2 stations, star of 0 BT") && down.stderr.is_empty(), "{down:#?}");
    user.run(&["down", "coax", "--all"]).failed_with(2, &["--all"]);
    user.run(&["stats", "coax"]).succeeded();
    let down = user.run(&["down", "coax", "--format", "json"]).succeeded();
    assert!(down.stderr.is_empty(), "{down:#?}");
    assert_eq!(down.json()["stations"].as_array().expect("stations").len(), 2);
    user.assert_nothing_left();
}

/// `down --all` takes every lab of the user down, and reports each.
#[test]
fn down_all_leaves_no_lab() {
    if !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    for name in ["coax", "office"] {
        user.run(&["up", "--background", "--stations", "2", "--name", name]).succeeded();
    }
    let down = user.run(&["down", "--all", "--format", "json"]).succeeded().json();
    let names: Vec<&Value> = down.as_array().expect("a list").iter().map(|one| &one["lab"]).collect();
    assert_eq!(names, ["coax", "office"]);
    assert_eq!(down[1]["results"]["stations"][0]["name"], "st1");
    let again = user.run(&["down", "--all"]).succeeded();
    assert!(again.stderr.contains("no lab is up") && again.stdout.is_empty(), "{again:#?}");
    user.assert_nothing_left();
}

/// With `--format json` a lab writes JSON and nothing else, as it begins and as it ends.
#[test]
fn up_in_json_prints_json_only() {
    if !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let up = user.run(&["up", "--background", "--stations", "2", "--format", "json"]).succeeded();
    // What an ordinary user cannot have is a message, and no part of the result.
    assert!(!up.stderr.contains("IPv4") && !up.stderr.contains("ends it"), "{up:#?}");
    assert_eq!(up.json()["name"], "ethbus");
    user.run(&["down"]).succeeded();
    let up = Running::start(user.ethbus(&["up", "--stations", "2", "--format", "json"]), "");
    wait_until(PATIENCE, "the lab", || user.run(&["stats"]).status.success());
    up.signal("INT");
    let ended = up.wait().succeeded();
    assert!(!ended.stderr.contains("it adds up"), "{ended:#?}");
    let documents = serde_json::Deserializer::from_str(&ended.stdout).into_iter::<Value>();
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().expect("JSON and nothing else");
    assert_eq!(documents.len(), 2, "the lab, and its last results");
    assert_eq!((&documents[0]["state"], &documents[1]["stations"][1]["name"]), (&"up".into(), &"st2".into()));
    user.assert_nothing_left();
}

/// A line for a shell is no program: the answer has the line that works.
#[test]
fn a_line_for_a_shell_is_told_how_to_run() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let ended = run(lab.ethbus("exec", &["st1", "ls /; pwd"]));
    let right = format!("exec --name {} st1 sh -c 'ls /; pwd'`", lab.name);
    ended.failed_with(127, &["`ls /; pwd` is a line for a shell and no program", &right]);
    run(lab.ethbus("exec", &["st1", "no-such-program"])).failed_with(127, &["there is no such program"]);
}

/// On a full disk, which a limit of no octet is like, `init` leaves nothing that would be in the way later.
#[test]
fn init_leaves_no_empty_file_on_a_full_disk() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let within = |script: &str| {
        let mut command = program("sh", ["-c", script, ETHBUS]);
        command.current_dir(folder.path());
        run(command)
    };
    within("ulimit -f 0; \"$0\" init bus").failed_with(1, &["cannot write lab.toml", "File too large"]);
    assert_eq!(files(folder.path()), Vec::<String>::new());
    // What an older version left is no obstacle either.
    std::fs::write(folder.path().join("lab.toml"), "").expect("own folder");
    within("\"$0\" init bus").succeeded();
    within("\"$0\" init bus").failed_with(1, &["lab.toml", "it exists", "--out"]);
    assert_eq!(files(folder.path()), ["lab.toml"]);
}

/// `convert` that is interrupted leaves what was there before: nothing, or the former file.
#[test]
fn convert_that_is_interrupted_leaves_no_half_file() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (log, out) = (folder.path().join("run.events"), folder.path().join("run.vcd"));
    let [log_name, out_name] = [&log, &out].map(|path| path.to_str().expect("plain"));
    run(ethbus(["sim", "--duration", "1500ms", "--warmup", "0s", "--events", log_name])).succeeded();
    for former in [None, Some("$comment ethbus: a former one $end\n")] {
        former.iter().for_each(|text| std::fs::write(&out, text).expect("own folder"));
        let convert = Running::start(ethbus(["convert", log_name, "--to", "vcd", "--out", out_name]), "");
        let begun = |name: &String| name.starts_with("run.vcd.new");
        wait_until(PATIENCE, "the beginning", || files(folder.path()).iter().any(begun));
        convert.signal("INT");
        assert_eq!(convert.wait().code(), Some(130));
        assert_eq!(std::fs::read_to_string(&out).ok().as_deref(), former);
        assert_eq!(files(folder.path()).len(), 1 + usize::from(former.is_some()), "{:?}", files(folder.path()));
    }
    run(ethbus(["convert", log_name, "--to", "vcd", "--out", out_name])).succeeded();
    assert!(std::fs::read_to_string(&out).expect("whole").len() > 10_000);
}

/// The log of a short run, and a frame of it that collided.
fn log(folder: &Path, options: &[&str]) -> String {
    let log = folder.join("run.events").to_str().expect("plain").to_owned();
    run(ethbus([&["sim", "--duration", "300ms", "--warmup", "0s", "--events", &log], options].concat())).succeeded();
    log
}

/// A table for people has the letters of the locale, of one bus and of several. Data stay as they are.
#[test]
fn tables_have_the_letters_of_the_locale() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let scenario = folder.path().join("two.toml");
    std::fs::write(&scenario, "[run]\nduration = \"20ms\"\n[bus.a]\nstations = 3\n[bus.b]\nstations = 3\n")
        .expect("writable");
    let scenario = scenario.to_str().expect("plain");
    for arguments in [["sim", scenario], ["sim", "--duration=20ms"]] {
        let mut command = ethbus(arguments);
        command.env("LC_ALL", "C");
        let table = run(command).succeeded().stdout;
        assert!(table.contains("+-") && table.is_ascii(), "{table}");
    }
}

/// The life of a frame fits a terminal of 80 columns, with no line broken within a word, and is read in a pager.
#[test]
fn explain_fits_the_terminal_and_is_read_in_a_pager() {
    if skipped(&["tmux", "less"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let log = log(folder.path(), &[]);
    let explain = |before: &str| format!("{before} {ETHBUS} explain {log} --pick collisions=3; echo ENDED WITH $?");
    let terminal = Terminal::run("explain", (80, 24), &explain("PAGER=cat"));
    let shown = terminal.wait_for("THE END");
    assert!(shown.contains("Its whole life") && shown.contains("In short"), "{shown}");
    terminal.assert_nothing_wrapped();
    let terminal = Terminal::run("pager", (80, 24), &explain("env -u PAGER -u LESS"));
    wait_until(PATIENCE, "the pager", || terminal.screen().contains("Frame st"));
    assert!(!terminal.shown(&[]).contains("ENDED WITH"), "it waits for its reader: {}", terminal.shown(&[]));
    terminal.press(&["C-c"]);
    // What was typed before less is back from the interrupt is lost.
    wait_until(PATIENCE, "the pager's end", || {
        terminal.press(&["q"]);
        terminal.screen().contains("THE END")
    });
    assert!(terminal.wait_for("THE END").contains("ENDED WITH 0"), "{}", terminal.shown(&[]));
    let terminal = Terminal::run("chosen", (80, 24), &explain("PAGER='head -n 1'"));
    let shown = terminal.wait_for("THE END");
    assert!(shown.contains("Frame st") && !shown.contains("In short"), "{shown}");
    // What fits needs no pager, and a pipe gets none.
    let short = format!("PAGER=false {ETHBUS} explain {log} --pick collisions=3 --short; echo ENDED WITH $?");
    let shown = Terminal::run("short", (80, 24), &short).wait_for("THE END");
    assert!(shown.contains("In short: 4 attempts, 3 collisions") && shown.contains("ENDED WITH 0"), "{shown}");
    let mut piped = ethbus(["explain", &log, "--pick", "collisions=3"]);
    piped.env("PAGER", "false");
    assert!(run(piped).succeeded().stdout.contains("In short"));
}

/// `--short` has the frame's name and what its life comes to, whatever the access method.
#[test]
fn a_life_in_short_is_of_a_few_lines() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for method in ["csma-cd", "plca", "csma", "csma-ca", "aloha", "slotted-aloha", "tdma"] {
        let log = log(folder.path(), &["--access", method]);
        let told = run(ethbus(["explain", &log, "--frame", "st2#1", "--short"])).succeeded().stdout;
        let mut lines = told.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("Frame st2#1")), "{method}: {told}");
        assert!(lines.next().is_some_and(|line| line.starts_with("In short: ")), "{method}: {told}");
        assert!(told.lines().count() <= 6, "{method}: {told}");
    }
    let log = log(folder.path(), &[]);
    run(ethbus(["explain", &log, "--short"])).failed_with(2, &["--short", "--frame or --pick"]);
}

/// The error about a damaged log uses words of files, not of programs.
#[test]
fn a_damaged_log_is_told_of_without_words_of_programs() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let log = log(folder.path(), &[]);
    let text = std::fs::read_to_string(&log).expect("own folder");
    let line = text.lines().nth(2).expect("a third line").to_owned();
    for (damaged, words) in [
        ("hello".to_owned(), "line 3: this is no JSON"),
        (String::new(), "line 3: the line is empty"),
        (line[..line.len() - 1].to_owned(), "line 3: the line ends too early"),
        (line.replacen("\"t\":", "\"tt\":", 1), "line 3: `tt` is no key of such a line"),
        (line.replacen("\"t\":", "\"t\":-", 1), "stands where a whole number from 0 up belongs"),
    ] {
        std::fs::write(&log, text.replacen(&format!("{line}\n"), &format!("{damaged}\n"), 1)).expect("own folder");
        let ended = run(ethbus(["explain", &log, "--list"]));
        ended.failed_with(1, &[words, "the file was changed after it was written"]);
        assert!(!ended.stderr.contains("expected") && !ended.stderr.contains("EOF"), "{ended:#?}");
    }
    run(ethbus(["explain", "no-such.events"])).failed_with(1, &["no-such.events", "No such file or directory"]);
    assert!(!run(ethbus(["explain", "no-such.events"])).stderr.contains("os error"));
}
