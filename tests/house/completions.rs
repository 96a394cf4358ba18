//! Shells complete what only the program knows: names of labs and stations. Each shell is run as a person runs it, on a terminal.

use crate::common::lab::{Lab, fresh_name};
use crate::common::process::{ethbus, program, run};
use crate::common::terminal::Terminal;
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};
use std::path::Path;

/// A lab whose stations' names begin with different letters.
fn office(name: String) -> (Lab, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let scenario = folder.path().join("lab.toml");
    let stations = "[[station]]\nname = 'printer'\n[[station]]\nname = 'server'\n";
    std::fs::write(&scenario, stations).expect("own folder");
    (Lab::up_as(name, &[scenario.to_str().expect("plain")]), folder)
}

/// Writes the completions for a shell into a file.
fn completions(shell: &str, file: &Path) {
    let text = run(ethbus(["help", "completions", shell])).succeeded().stdout;
    std::fs::write(file, text).expect("own folder");
}

/// What bash would offer for these words, of which the last is being typed.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    let begun = words.last().expect("a word");
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let text = format!(
        "source '{}'; complete -p ethbus >&2; COMP_WORDS=('{ETHBUS}' {}); COMP_CWORD={}; \
         _ethbus_names '{ETHBUS}' '{begun}' 'x'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len()
    );
    let ended = run(program("bash", ["--norc", "--noprofile", "-c", &text])).succeeded();
    assert!(ended.stderr.contains("complete") && ended.stderr.contains("-F _ethbus_names"), "{ended:#?}");
    ended.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Every command that takes a station or a lab offers those that there are.
#[test]
fn bash_offers_names_of_labs_and_stations() {
    if skipped(&["bash"]) {
        return;
    }
    let _turn = Turn::shared();
    let (lab, folder) = office(fresh_name());
    let script = folder.path().join("ethbus.bash");
    completions("bash", &script);
    let offered = |words: &[&str]| offered(&script, words);
    let both = ["printer", "server"].map(str::to_owned);
    for command in ["exec", "plug", "unplug", "attach", "fault", "cut"] {
        assert_eq!(offered(&[command, "--name", &lab.name, ""]), both, "{command}");
    }
    assert_eq!(offered(&["exec", "--name", &lab.name, "pr"]), ["printer"]);
    assert_eq!(offered(&["send", "--name", &lab.name, "--from", "s"]), ["server"]);
    assert_eq!(offered(&["send", "--name", &lab.name, "--to", ""]), ["printer", "server", "broadcast"]);
    assert_eq!(
        offered(&["fault", "--name", &lab.name, "server", "ba"]),
        ["bad_fcs", "babble", "bad_beacon:10%", "bad_commit:10%"]
    );
    assert!(offered(&["exec", "--name", &lab.name, "server", "bas"]).contains(&"bash".to_owned()));
    for words in [["stats", ""], ["down", ""], ["mend", ""], ["watch", ""]] {
        assert!(offered(&words).contains(&lab.name), "{words:?}");
    }
    // What the program has no names for is completed as before.
    assert!(offered(&["sim", "--stat"]).contains(&"--stations".to_owned()));
    assert!(offered(&["unpl"]).contains(&"unplug".to_owned()));
}

/// Values come from the parsers: topologies, traffic, methods, keys of a scenario, and what a log has.
#[test]
fn bash_offers_values_of_options() {
    if skipped(&["bash"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let script = folder.path().join("ethbus.bash");
    completions("bash", &script);
    let offered = |words: &[&str]| offered(&script, words);
    assert_eq!(offered(&["sim", "--topology", ""]), ["star:50bt", "bus:500m"]);
    assert_eq!(offered(&["sim", "--topology", "b"]), ["bus:500m"]);
    assert_eq!(offered(&["sim", "--topology=b"]), ["bus:500m"]);
    assert!(offered(&["sim", "--traffic", ""]).contains(&"poisson:0.4".to_owned()));
    assert_eq!(offered(&["up", "--access", ""]), ["csma-cd", "plca", "csma", "tdma"]);
    assert!(offered(&["sweep", "--access", "slotted"]).contains(&"slotted-aloha".to_owned()));
    assert_eq!(offered(&["sweep", "--set", "medium.topo"]), ["medium.topology="]);
    assert_eq!(
        offered(&["sweep", "--set", "access.method=csma-c"]),
        ["access.method=csma-cd", "access.method=csma-ca"]
    );
    let log = folder.path().join("run.events").to_str().expect("plain").to_owned();
    run(ethbus(["sim", "--duration", "10ms", "--stations", "2", "--events", &log])).succeeded();
    assert_eq!(offered(&["explain", &log, "--pick", "station="]), ["station=st1", "station=st2"]);
    assert_eq!(offered(&["explain", &log, "--pick", "e"]), ["end=transmitted", "end=discarded"]);
}

/// Commands and options that are not for people are offered in no shell.
#[test]
fn no_shell_offers_what_is_hidden() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = run(ethbus(["help", "completions", shell])).succeeded().stdout;
        for hidden in ["__bus", "in-background"] {
            assert!(!text.contains(hidden), "{shell} offers {hidden}");
        }
        let is_own = |line: &str| line.contains("__names ");
        let offers = |line: &&str| line.contains("__names") && !line.contains("ethbus_names") && !is_own(line);
        assert_eq!(text.lines().find(offers), None, "{shell} offers __names");
        assert!(text.contains("unplug"), "{shell} offers the others");
    }
}

/// If the lab that is meant is not up, there is nothing to offer, and no message comes in the middle of the user's
/// typing.
#[test]
fn no_lab_offers_nothing_and_says_nothing() {
    let ended = run(ethbus(["__names", "ethbus", "exec", "--name", "no-such-lab", ""])).succeeded();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
}

/// The Tab key in each shell, on a terminal.
#[test]
fn the_tab_key_completes_a_stations_name() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    // No other lab's name begins so.
    let (lab, folder) = office(format!("tab{}", std::process::id()));
    let path = Path::new(ETHBUS).parent().expect("a folder").display();
    for (shell, file, start, load) in [
        ("bash", "ethbus.bash", "bash --norc --noprofile -i", "source FOLDER/ethbus.bash"),
        ("zsh", "_ethbus", "zsh -f -i", "fpath=(FOLDER $fpath); autoload -U compinit; compinit -u -D"),
        ("fish", "ethbus.fish", "fish --no-config -i", "source FOLDER/ethbus.fish"),
    ] {
        if skipped(&[shell]) {
            continue;
        }
        completions(shell, &folder.path().join(file));
        let home = folder.path().display().to_string();
        let command = format!("HOME={home} PATH={path}:$PATH {start}");
        let terminal = Terminal::run(&format!("tab-{shell}"), (100, 24), &command);
        terminal.press(&[&format!("{}; echo is LOADED", load.replace("FOLDER", &home)), "Enter"]);
        wait_until(PATIENCE, shell, || terminal.screen().lines().any(|line| line.trim_end() == "is LOADED"));
        terminal.press(&[&format!("ethbus exec --name {} serv", lab.name), "Tab"]);
        let whole = format!("ethbus exec --name {} server", lab.name);
        wait_until(PATIENCE, shell, || terminal.screen().contains(&whole));
        for (begun, whole) in [
            ("ethbus sim --topology bu", "ethbus sim --topology bus:500m"),
            ("ethbus sim --topology=st", "ethbus sim --topology=star:50bt"),
            ("ethbus sweep --set medium.topo", "ethbus sweep --set medium.topology="),
            ("ethbus sweep --set access.method=pl", "ethbus sweep --set access.method=plca"),
        ] {
            terminal.press(&["C-u", begun, "Tab"]);
            wait_until(PATIENCE, &format!("{shell}: {whole}"), || terminal.screen().contains(whole));
        }
        terminal.press(&["C-u", &format!("ethbus down {}", &lab.name[..lab.name.len() - 1]), "Tab"]);
        wait_until(PATIENCE, shell, || terminal.screen().contains(&format!("ethbus down {}", lab.name)));
    }
}
