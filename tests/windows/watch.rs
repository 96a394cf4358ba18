//! The live view: screens as the golden files have them, keys on a real terminal, and a live bus that does not wait for
//! its viewer.
//!
//! One file above 500 lines because runs and labs are watched by the same keys and screens.

use crate::common::lab::Lab;
use crate::common::process::{ethbus, program, run, unwrapped};
use crate::common::results::check;
use crate::common::terminal::Terminal;
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};
use ethbus::watch::feeder::Feeder;
use ethbus::watch::keys::{self, KEYS};
use ethbus::watch::player::{Player, is_collision};
use ethbus::watch::screen::{Look, Screen, draw, station_at};
use medium::{BitTimes, FrameId, Kind, StationId};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sim::run::measure::run as measure;
use sim::run::view::View;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The beginning of a run, as the view gets it.
pub fn player(scenario: &str) -> (Player, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lab.toml");
    std::fs::write(&path, scenario).expect("own folder");
    let plan = Plan::read(Some(&path), &Overrides::default(), 1).expect("a scenario");
    let names = plan.stations.iter().map(|station| station.name.clone()).collect();
    let (mut feeder, source) = Feeder::new();
    let view = View::new(Arc::new(plan.medium.clone()));
    // Detached: it ends when the receiver is gone.
    std::thread::spawn(move || measure(&plan, plan.medium.seed, &mut feeder, |_| true).map(|_| ()).ok());
    (Player::new(view, source), names)
}

pub fn text(buffer: &Buffer) -> String {
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..buffer.area.height).map(|y| row(y) + "\n").collect()
}

pub fn screen(
    player: &Player,
    names: &[String],
    (width, height): (u16, u16),
    change: impl Fn(&mut Screen<'_>),
) -> String {
    let health = ["virtual time".to_owned()];
    let mut screen = Screen {
        view: player.view(),
        names,
        title: "a class",
        pace: "paused",
        health: &health,
        message: "",
        chosen: StationId::new(0),
        followed: None,
        row_bt: Some(4),
        help: None,
        look: Look { colour: false, unicode: false },
    };
    change(&mut screen);
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(&screen, area, &mut buffer);
    text(&buffer)
}

#[track_caller]
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/watch").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("a file");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, known, "{}: BLESS=1 rewrites it", path.display());
}

pub const CABLE: &str =
    "stations = 4\nseed = 1\n[medium]\ntopology = \"bus:500m\"\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\n";
const STAR: &str =
    "stations = 20\nseed = 3\n[medium]\ntopology = \"star:50bt\"\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\n";

const PLCA: &str = "stations = 8\nseed = 1\n[medium]\ntopology = \"bus:25m\"\n[access]\nmethod = \"plca\"\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\n";

/// 80×24 and 200×60, a cable, a star and nodes of PLCA, a collision as it is noticed, a frame that is followed, and help.
/// `BLESS=1 cargo test --test windows watch::` rewrites them.
#[test]
fn screens_are_as_the_golden_files_have_them() {
    for (name, scenario) in [("cable", CABLE), ("star", STAR), ("plca", PLCA)] {
        let (mut player, names) = player(scenario);
        assert!(player.forward_to(is_collision));
        player.forward(BitTimes::new(12));
        for (size, of) in [((80, 24), "80x24"), ((200, 60), "200x60")] {
            golden(&format!("{name}-{of}.txt"), &screen(&player, &names, size, |_| {}));
        }
        golden(&format!("{name}-projector.txt"), &screen(&player, &names, (56, 24), |_| {}));
        (0..400).for_each(|_| assert!(player.forward_to(|_| true)));
        golden(&format!("{name}-later.txt"), &screen(&player, &names, (100, 40), |_| {}));
    }
    let (mut player, names) = player(CABLE);
    assert!(player.forward_to(is_collision));
    let st3 = StationId::new(2);
    let followed = Some(FrameId { station: st3, serial: 1 });
    let follow = |screen: &mut Screen<'_>| (screen.chosen, screen.followed) = (st3, followed);
    golden("followed.txt", &screen(&player, &names, (80, 24), follow));
    golden("small.txt", &screen(&player, &names, (39, 10), |_| {}));
    let keys: &'static str = keys::help(false).leak();
    let help = |screen: &mut Screen<'_>| screen.help = Some(keys);
    golden("help.txt", &screen(&player, &names, (80, 24), help));
}

/// One collision, told by the live view, by `explain` and in the log: same stations, same bit time, same words.
#[test]
fn a_collision_is_the_same_in_the_view_and_in_explain() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lab, log) = (folder.path().join("lab.toml"), folder.path().join("events"));
    std::fs::write(&lab, CABLE.replace("\"1s\"", "\"10ms\"")).expect("own folder");
    let (lab, log) = (lab.to_str().expect("UTF-8"), log.to_str().expect("UTF-8"));
    run(ethbus(["sim", lab, "--events", log])).succeeded();
    let (mut player, names) = player(CABLE);
    for _ in 0..8 {
        assert!(player.forward_to(is_collision));
        let event = *player.view().recent.back().expect("a collision");
        let told = player.view().sentence(&event, &names).replace('\u{a0}', " ");
        let frame = sim::words::sentences::frame_name(&names, event.frame);
        let explained = run(ethbus(["explain", log, "--frame", &frame])).succeeded().stdout;
        assert!(unwrapped(&explained).contains(&unwrapped(&told)), "{frame}: {told}\n{explained}");
        let t = sim::words::units::group(event.at.get());
        assert!(explained.lines().any(|line| line.trim_start().starts_with(&format!("{t} "))), "{t}: {explained}");
    }
}

/// Signals stay in the cells of the screen however long one looks: going forward and back draws the same.
#[test]
fn back_is_where_one_was() {
    let (mut player, names) = player(CABLE);
    (0..3000).for_each(|_| assert!(player.forward_to(|_| true)));
    let before = screen(&player, &names, (80, 24), |_| {});
    assert!(player.forward_to(is_collision));
    let there = screen(&player, &names, (80, 24), |_| {});
    assert_ne!(before, there);
    while player.view().now.get() > 1000 && player.back_to(|_| true) {}
    while screen(&player, &names, (80, 24), |_| {}) != there {
        assert!(player.forward_to(|_| true));
    }
}

/// Keys on a real terminal: pause, the next collision, follow, help, end. Then the results of the part that was run are
/// printed.
#[test]
fn keys_do_what_help_says() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    for (no_colour, columns, lines) in [("", 80, 24), ("NO_COLOR=1 ", 200, 60)] {
        let command = format!("{no_colour}{ETHBUS} sim --stations 4 --topology bus:500m --duration 2s --watch");
        let terminal = Terminal::run(&format!("watch{columns}"), (columns, lines), &command);
        // It waits at the beginning, so that the viewer does not miss the first collision.
        terminal.wait_for("Paused. Space: let time go on.");
        assert!(terminal.screen().contains("t = 0 BT"), "{}", terminal.screen());
        terminal.press(&["n"]);
        terminal.wait_for("Collision 1 on this medium (4.2.3.2.4)");
        terminal.press(&["Space"]);
        terminal.wait_for("BT/s, 1/");
        terminal.press(&["Space"]);
        terminal.wait_for("paused");
        let at =
            |screen: &str| screen.split("t = ").nth(1).and_then(|rest| rest.split(" BT").next().map(str::to_owned));
        let first = at(&terminal.screen());
        terminal.press(&["."]);
        wait_until(PATIENCE, "a bit time", || at(&terminal.screen()) != first);
        terminal.press(&[","]);
        wait_until(PATIENCE, "the bit time before", || at(&terminal.screen()) == first);
        terminal.press(&["f"]);
        terminal.wait_for("following ");
        terminal.press(&["?"]);
        terminal.wait_for("the next collision or the one before");
        let shown = terminal.shown(&["-e"]);
        let coloured = shown.contains("\u{1b}[38;5;");
        assert_eq!(coloured, no_colour.is_empty(), "colours where they are wanted");
        terminal.press(&["?", "q"]);
        let ended = terminal.wait_for("THE END");
        assert!(unwrapped(&ended).contains("the figures are of that part"), "{ended}");
    }
}

/// While a run is young, rows are so short that the picture fills its part of a large window.
#[test]
fn the_picture_uses_the_window() {
    let (mut player, names) = player(CABLE);
    assert!(player.forward_to(is_collision));
    player.forward(BitTimes::new(12));
    for width in [200, 56] {
        let shown = screen(&player, &names, (width, 60), |screen| screen.row_bt = None);
        let end = shown.lines().position(|line| line.starts_with("1 BT a row")).expect(&shown);
        let used = shown.lines().take(end).skip(2).filter(|line| !line.is_empty()).count();
        assert!(used * 2 > end - 2, "{used} of {} rows: {shown}", end - 2);
    }
}

/// Many stations have one place: a mark at it is that of any of them.
#[test]
fn a_collision_is_marked_at_a_place_of_several_stations() {
    let (mut player, names) = player(&CABLE.replace("stations = 4", "stations = 254"));
    for _ in 0..400 {
        assert!(player.forward_to(is_collision));
        let told = player.view().recent.back().expect("a collision").station;
        let shown = screen(&player, &names, (110, 34), |screen| screen.chosen = told);
        let row = |number| shown.lines().nth(number).expect(&shown);
        let name = &names[told.index()];
        let before = row(1).split_once(&format!("{name} ")).map(|(before, _)| before).or(row(1).strip_suffix(name));
        // Names of neighbours are cut by a letter of three octets.
        let column = before.expect(&shown).chars().count();
        let now = shown.lines().find(|line| line.trim_start().starts_with("now")).expect(&shown);
        // The last name is cut off at the edge, and not over its place.
        let own = now.chars().nth(column + name.len() / 2).filter(|_| column + name.len() < 108);
        assert!(own.is_none_or(|mark| mark == 'X'), "{name}: {shown}");
    }
}

/// A logical collision, which is on no medium, has a mark of its own in its node's lane.
#[test]
fn a_logical_collision_is_marked() {
    let (mut player, names) = player(PLCA);
    assert!(player.forward_to(|event| matches!(event.kind, Kind::Collision { episode: 0, .. })));
    let told = player.view().recent.back().expect("it").station;
    let shown = screen(&player, &names, (100, 40), |screen| screen.chosen = told);
    let now = shown.lines().find(|line| line.trim_start().starts_with("now")).expect(&shown);
    let names = shown.lines().nth(1).expect("names");
    let lane = names.find(&format!("st{}", told.index() + 1)).expect("its lane");
    assert!(now.find(" o ").is_some_and(|mark| mark.abs_diff(lane) < 3), "{shown}");
}

/// The page has the keys that the view has. `BLESS=1 cargo test --test windows watch::` rewrites the table.
#[test]
fn the_page_has_all_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/watch.md");
    let page = std::fs::read_to_string(&path).expect("docs/watch.md is part of the source tree");
    let head = "| key | what it does |\n|---|---|\n";
    let row = |key: &keys::Key| {
        let live = if key.live { "on a live bus: " } else { "" };
        format!("| {} | {live}{} |\n", key.key, key.does)
    };
    let (before, after) = page.split_once(head).expect("a table of keys");
    let after = &after[after.find("\n\n").expect("text below the table") + 1..];
    let wanted = format!("{before}{head}{}{after}", KEYS.iter().map(row).collect::<String>());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("own folder");
    }
    assert_eq!(page, wanted, "BLESS=1 rewrites it");
}

/// Of 254 stations the view shows those of the event that it tells, and any other that its user asks for.
#[test]
fn the_selection_follows_the_event_among_many_stations() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let command =
        format!("{ETHBUS} sim --stations 254 --topology star:50bt --seed 4 --duration 1s --warmup 0s --watch");
    let terminal = Terminal::run("many", (80, 24), &command);
    terminal.wait_for("Paused. Space: let time go on.");
    terminal.press(&["n"]);
    let screen = terminal.wait_for("Collision 1 on this medium (4.2.3.2.4)");
    let told = screen.lines().rev().find_map(|line| line.split_once(" BT  ")?.1.split_once('#')).expect("a frame");
    assert!(screen.lines().any(|line| line.starts_with(&format!("{} ", told.0))), "{}: {screen}", told.0);
    terminal.press(&["/"]);
    terminal.wait_for("station: _");
    terminal.press(&["st200", "Enter"]);
    wait_until(PATIENCE, "the row of st200", || terminal.screen().lines().any(|line| line.starts_with("st200 ")));
    terminal.press(&["PageDown"]);
    wait_until(PATIENCE, "the row of st210", || terminal.screen().lines().any(|line| line.starts_with("st210 ")));
    terminal.press(&["/", "st999", "Enter"]);
    terminal.wait_for("no station's name begins with `st999`");
    terminal.press(&["g"]);
    terminal.wait_for("instant in bit times: _");
    terminal.press(&["12,345", "Enter"]);
    terminal.wait_for("t = 12,345 BT");
    terminal.press(&["g", "12000", "Enter"]);
    terminal.wait_for("t = 12,000 BT");
    terminal.press(&["g", "5ms", "Enter"]);
    terminal.wait_for("`5ms` is no instant in bit times");
    terminal.press(&["q"]);
    terminal.wait_for("THE END");
}

/// A click on a row of the table, or on a lane, is on the station that is drawn there.
#[test]
fn a_place_of_the_screen_is_a_station() {
    let (player, names) = player(STAR);
    let area = Rect::new(0, 0, 80, 24);
    let shown = screen(&player, &names, (80, 24), |screen| {
        let text = |y: u16| {
            let mut buffer = Buffer::empty(area);
            draw(screen, area, &mut buffer);
            (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>()
        };
        let rows: Vec<u16> = (0..24).filter(|y| text(*y).starts_with("st")).collect();
        assert!(rows.len() >= 5, "{rows:?}");
        for y in rows.into_iter().filter(|y| !text(*y).starts_with("station")) {
            let station = station_at(screen, area, 3, y).expect("a row");
            assert!(text(y).starts_with(&format!("{} ", names[station.index()])), "{}", text(y));
        }
        let lane = text(1).find("st7 ").expect("a lane") as u16;
        assert_eq!(station_at(screen, area, lane + 1, 4), Some(StationId::new(6)));
        assert_eq!(station_at(screen, area, 3, 23), None, "keys");
    });
    assert!(shown.contains("st7"));
}

/// A terminal that is closed ends the view, and leaves nothing running.
#[test]
fn a_terminal_that_is_closed_ends_the_view() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("closed.events");
    let command = format!("{ETHBUS} sim --duration 2s --watch --events {}", mark.display());
    let terminal = Terminal::run("closed", (80, 24), &command);
    terminal.wait_for("Paused. Space");
    let running = || {
        let mark = mark.to_str().expect("UTF-8");
        let own = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let all = std::fs::read_dir("/proc").expect("/proc is mounted").flatten().map(own);
        all.filter(|line| line.starts_with(ETHBUS.as_bytes()) && String::from_utf8_lossy(line).contains(mark)).count()
    };
    assert_eq!(running(), 1);
    drop(terminal);
    wait_until(PATIENCE, "the view's end", || running() == 0);
}

/// A terminal that is too small, or none: one sentence.
#[test]
fn a_terminal_too_small_or_none_is_told_in_a_sentence() {
    let none = run(ethbus(["sim", "--duration", "10ms", "--watch"]));
    none.failed_with(1, &["the live view needs a terminal"]);
    assert_eq!(none.stderr.lines().count(), 1, "{none:#?}");
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let terminal = Terminal::run("dumb", (80, 24), &format!("TERM=dumb {ETHBUS} sim --duration 1s --watch"));
    let ended = terminal.wait_for("THE END");
    assert!(unwrapped(&ended).contains("with TERM=dumb, use another terminal"), "{ended}");
    let terminal = Terminal::run("small", (40, 10), &format!("{ETHBUS} sim --duration 1s --watch"));
    terminal.wait_for("The live view needs 40 columns");
    terminal.press(&["q"]);
    terminal.wait_for("THE END");
}

/// A terminal of 0 columns and 0 lines, as containers and serial lines have it, is drawn on as if it had 80 and 24. Every
/// way out gives the terminal back.
#[test]
fn a_terminal_without_a_size_is_drawn_on_and_given_back() {
    if skipped(&["tmux", "stty", "kill"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let pid = folder.path().join("pid").to_str().expect("UTF-8").to_owned();
    let lab = Lab::up(&["--stations", "2"]);
    let (watch, stats) = (format!("watch {}", lab.name), format!("stats {} --watch", lab.name));
    for (view, words) in [("sim --duration 1s --watch", "Paused. Space"), (&watch, "live"), (&stats, "q ends")] {
        for end in ["q", "TERM", "HUP"] {
            let command = format!("stty rows 0 cols 0; sh -c 'echo $$ > {pid}; exec {ETHBUS} {view}'");
            let terminal = Terminal::run("zero", (100, 30), &command);
            terminal.wait_for(words);
            // Longer than the view takes to notice that a terminal is gone.
            std::thread::sleep(Duration::from_millis(1500));
            match end {
                "q" => terminal.press(&["q"]),
                signal => {
                    let number = std::fs::read_to_string(&pid).expect("the shell's");
                    run(program("kill", ["-s", signal, number.trim()])).succeeded();
                }
            }
            terminal.wait_for("THE END");
            terminal.assert_given_back();
        }
    }
}

/// A record and a log are watched like the run itself, to their end.
#[test]
fn a_record_and_a_log_are_watched() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [record, log] = ["record", "log"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
    run(ethbus([
        "sim",
        "--duration",
        "1ms",
        "--warmup",
        "0s",
        "--events",
        &record,
        "--events-level",
        "inputs",
        "--events",
        &log,
    ]))
    .succeeded();
    for (name, command, last) in [
        ("record", format!("{ETHBUS} replay {record} --watch"), "the same as in the recorded run"),
        ("log", format!("{ETHBUS} watch {log}"), "THE END"),
    ] {
        let terminal = Terminal::run(name, (80, 24), &command);
        terminal.wait_for("Paused. Space");
        terminal.press(&["Space"]);
        terminal.wait_for("BT/s, 1/");
        terminal.press(&["+"; 12]);
        terminal.wait_for("the end");
        terminal.press(&["q"]);
        terminal.wait_for(last);
    }
}

/// A log is shown from a chosen instant, written as tables write instants, and the view reports its end.
#[test]
fn a_log_is_shown_from_an_instant_on() {
    if skipped(&["tmux"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log").to_str().expect("UTF-8").to_owned();
    let sim = ["sim", "--topology", "bus:500m", "--duration", "100ms", "--warmup", "0s", "--events", &log];
    run(ethbus(sim)).succeeded();
    let listed = run(ethbus(["explain", &log, "--pick", "collisions=2", "--format", "json"])).succeeded().json();
    let collision = listed["steps"].as_array().expect("steps").iter().find(|step| step["kind"] == "collision");
    let at = collision.and_then(|step| step["t_bt"].as_u64()).expect("a collision");
    let told = sim::words::units::group(at);
    for written in [told.clone(), at.to_string()] {
        let terminal = Terminal::run("log-at", (80, 24), &format!("{ETHBUS} watch {log} --at {written}"));
        let screen = terminal.wait_for("Paused. Space");
        assert!(screen.contains(&format!("t = {told} BT")) && screen.contains("on this medium"), "{screen}");
        terminal.press(&["q"]);
        terminal.wait_for("THE END");
    }
    let terminal = Terminal::run("log-at", (80, 24), &format!("{ETHBUS} watch {log} --at 999,999,999"));
    terminal.wait_for("the run ends before t = 999,999,999 BT");
    terminal.press(&["q"]);
    terminal.wait_for("THE END");
    let none = run(ethbus(["watch", "--at", "5"]));
    none.failed_with(2, &["--at: a lab that is up has no past to go to: name a trace"]);
    run(ethbus(["watch", "nothing.events", "--at", "5"])).failed_with(2, &["there is no trace `nothing.events`"]);
    run(ethbus(["watch", &log, "--at", "5ms"])).failed_with(2, &["`5ms` is no instant in bit times"]);
}

/// A lab: what its stations send is drawn; frames are injected, stations unplugged, the cable cut, all from the view.
#[test]
fn a_live_bus_is_watched_and_changed() {
    if skipped(&["tmux", "ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3", "--topology", "bus:500m"]);
    let command = format!("{ETHBUS} watch {}", lab.name);
    let terminal = Terminal::run("live-view", (100, 30), &command);
    terminal.wait_for("live");
    terminal.wait_for("lost 0");
    terminal.press(&["i"]);
    terminal.wait_for("st1 has offered a frame to all stations");
    terminal.wait_for("st2 receives the frame whole (4.2.4).");
    terminal.press(&["u"]);
    terminal.wait_for("st1 is unplugged");
    terminal.wait_for("off the medium");
    terminal.press(&["u"]);
    terminal.wait_for("st1 is plugged in again");
    terminal.press(&["c"]);
    terminal.wait_for("the cable is cut between st1 and st2");
    terminal.wait_for("the cable is cut (/)");
    terminal.press(&["c"]);
    terminal.wait_for("the cable is mended");
    terminal.press(&["q"]);
    terminal.wait_for("THE END");
}

/// A viewer that does not read is not waited for: the bus carries what it is offered, and loses nothing.
#[test]
fn a_viewer_that_is_stopped_holds_nothing_up() {
    if skipped(&["tmux", "ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3"]);
    let terminal = Terminal::run("stopped", (80, 24), &format!("{ETHBUS} watch {}", lab.name));
    terminal.wait_for("live");
    // Paused, it takes no further batches, and what comes meanwhile is counted.
    terminal.press(&["Space"]);
    terminal.wait_for("paused");
    let arguments = ["send", "--name", &lab.name, "--from", "st1", "--to", "st2", "--rate", "max", "--duration", "3s"];
    let sent = run(ethbus(arguments)).succeeded();
    // Among thousands of events that it will not see.
    run(ethbus(["unplug", "st3", "--name", &lab.name])).succeeded();
    run(ethbus(arguments)).succeeded();
    assert!(sent.stdout.contains("st1"), "{sent:#?}");
    let stats = lab.settled_stats();
    check(&stats);
    assert!(stats["stations"][0]["frames_transmitted_ok"].as_u64().is_some_and(|frames| frames > 1000), "{stats}");
    for lost in ["ring_drops", "overload_drops", "events_skipped", "reports_skipped"] {
        assert_eq!(stats["emulator"][lost], 0, "{lost}: {stats}");
    }
    terminal.press(&["l"]);
    terminal.wait_for("events not seen");
    terminal.wait_for("st3       off the medium");
    terminal.press(&["Down", "Down", "u"]);
    terminal.wait_for("st3 is plugged in again");
    terminal.press(&["q"]);
    terminal.wait_for("THE END");
}
