//! `ethbus plot` from outside: figures of a table that `ethbus sweep` wrote, and what makes none (issue 4).

use crate::common::process::{Finished, ethbus, run};
use crate::common::{PATIENCE, Turn};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FAILURE: i32 = 1;
const WRONG_USE: i32 = 2;

/// A table of three sizes of media with two frame sizes, two seeds each.
struct Table {
    folder: TempDir,
    _turn: Turn,
}

impl Table {
    fn new() -> Table {
        let table = Table { folder: tempfile::tempdir().expect("a folder for temporary files"), _turn: Turn::shared() };
        let grid =
            "sweep --set stations=2,4,8 --set traffic.frame_size=64,512 --seeds 2 --duration 20ms --warmup 0 --out";
        let mut sweep = ethbus(grid.split_whitespace());
        sweep.arg(table.path("runs.csv"));
        run(sweep).succeeded();
        table
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn plot(&self, out: &Path, arguments: &str) -> Finished {
        let mut plot = ethbus(["plot".as_ref(), self.path("runs.csv").as_os_str(), "--out".as_ref(), out.as_os_str()]);
        plot.args(arguments.split_whitespace());
        run(plot)
    }
}

/// The texts of an SVG.
fn texts(svg: &str) -> Vec<&str> {
    svg.split("<text").skip(1).map(texts_of).collect()
}

/// What the text is whose element goes on like this.
fn texts_of(element: &str) -> &str {
    let text = element.split_once('>').and_then(|(_, text)| text.split_once("</text>"));
    text.map_or("", |(text, _)| text.trim())
}

#[test]
fn a_figure_names_its_axes_with_units_its_lines_and_its_band() {
    let table = Table::new();
    let out = table.path("figure.svg");
    table.plot(&out, "--x stations --y access_delay_mean_bt --by traffic.frame_size --log x").succeeded();
    let svg = std::fs::read_to_string(&out).expect("a figure");
    let texts = texts(&svg);
    let wanted = [
        "Stations",
        "Access delay, mean (BT)",
        "Frame size (octets)",
        "64",
        "512",
        "mean of 2 seeds",
        "band: 95 % confidence",
        "2",
        "4",
        "8",
    ];
    for text in wanted {
        assert!(texts.contains(&text), "no `{text}` in {texts:?}");
    }
    assert!(svg.contains("width=\"800\" height=\"480\" viewBox=\"0 0 3200 1920\""), "its size on a page");
    let end_of = |text: &str| {
        let field = |name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name} in {text}"));
            rest.split_once('"').and_then(|(number, _)| number.parse().ok()).expect("a number")
        };
        // Anchored at its begin; others are at the axes.
        if text.contains("text-anchor=\"start\"") { field("x") + field("textLength") } else { field("textLength") }
    };
    let ends: Vec<f64> = svg.split("<text").skip(1).map(|text| end_of(&format!(" {text}"))).collect();
    assert!(ends.iter().all(|end| *end < 3200.0), "each text fits in whatever font there is: {ends:?}");
    assert_eq!(svg.find("</svg>"), Some(svg.trim_end().len() - "</svg>".len()), "everything is in the picture");
    // A picture has its own name in it, as a part of the command that made it.
    table.plot(&table.path("again.svg"), "--x stations --y access_delay_mean_bt --by traffic.frame_size --log x");
    let again = std::fs::read_to_string(table.path("again.svg")).expect("a figure").replace("again.svg", "figure.svg");
    assert_eq!(svg, again, "the same figure, the same octets");
}

/// The signature and the header's place are those of the PNG specification, 5.2 and 11.2.2.
#[test]
fn a_png_has_its_size_and_something_drawn() {
    let table = Table::new();
    let out = table.path("figure.png");
    table.plot(&out, "--x stations --y utilization_frame,utilization_wire --where traffic.frame_size=64").succeeded();
    let file = std::fs::File::open(&out).expect("a figure");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut pixels).expect("whole");
    assert_eq!((info.width, info.height), (1600, 960));
    let blue = pixels.chunks_exact(3).filter(|pixel| *pixel == [0, 114, 178]).count();
    let vermilion = pixels.chunks_exact(3).filter(|pixel| *pixel == [213, 94, 0]).count();
    assert!(blue > 100 && vermilion > 100, "{blue} pixels of the first line, {vermilion} of the second");
}

#[test]
fn what_makes_no_figure_is_named_and_nothing_is_written() {
    let table = Table::new();
    let cases: [(&str, &str, &[&str]); 8] = [
        ("a.svg", "--x station --y fairness", &["--x", "no column `station`", "stations"]),
        ("a.svg", "--x stations --y fairnes", &["--y", "no column `fairnes`", "fairness"]),
        ("a.svg", "--x stations --y fairness", &["traffic.frame_size", "64, 512", "--by"]),
        ("a.svg", "--x stations --y fairness --where traffic.frame_size=65", &["--where", "64, 512"]),
        ("a.svg", "--x stations --y fairness --where traffic.frame_size", &["--where", "write it like"]),
        ("a.pdf", "--x stations --y fairness --by traffic.frame_size", &["a.pdf", ".svg or .png"]),
        ("a.svg", "--x stations --y fairness,mac_delay_max_bt --by traffic.frame_size", &["--y", "unit", "BT"]),
        ("a.svg", "--x stations --y late_collisions --by traffic.frame_size --log y", &["--log", "logarithmic"]),
    ];
    for (out, arguments, words) in cases {
        let ended = table.plot(&table.path(out), arguments);
        ended.failed_with(WRONG_USE, words);
        assert!(!ended.stderr.contains("panicked") && ended.took < PATIENCE / 2, "{ended:#?}");
        assert!(!table.path(out).exists());
    }
    let wanted = "--x stations --y fairness --by traffic.frame_size";
    table.plot(&table.path("no-such-folder/a.svg"), wanted).failed_with(FAILURE, &["no-such-folder/a.svg"]);
    if Path::new("/dev/full").exists() {
        let full = table.path("full.svg");
        std::os::unix::fs::symlink("/dev/full", &full).expect("own folder");
        table.plot(&full, wanted).failed_with(FAILURE, &["full.svg", "a device", "regular file"]);
    }
    std::fs::write(table.path("runs.csv"), "a,b\n1\n").expect("own folder");
    table.plot(&table.path("a.svg"), "--x a --y b").failed_with(FAILURE, &["runs.csv", "line 2", "changed"]);
    std::fs::remove_file(table.path("runs.csv")).expect("own table");
    table.plot(&table.path("a.svg"), wanted).failed_with(FAILURE, &["runs.csv", "No such file"]);
}

/// Delay in microseconds over carried load, a line for each number of stations, with a title, within ranges.
#[test]
fn one_metric_over_another_in_another_unit() {
    let table = Table::new();
    let out = table.path("figure.svg");
    let mut plot = ethbus(["plot".as_ref(), table.path("runs.csv").as_os_str(), "--out".as_ref(), out.as_os_str()]);
    let wanted = "--x utilization_frame --y access_delay_p50_bt --by stations --unit us --range x=0.1..1";
    plot.args(wanted.split_whitespace()).args(["--title", "Delay & load"]);
    run(plot).succeeded();
    let svg = std::fs::read_to_string(&out).expect("a figure");
    let texts = texts(&svg);
    for text in ["Utilization, frames (part of the rate)", "Access delay, median (\u{b5}s)", "Delay &amp; load", "8"] {
        assert!(texts.contains(&text), "no `{text}` in {texts:?}");
    }
    for (option, word) in [("--range x=1..0", "--range"), ("--range y=5..6", "nothing to draw")] {
        let ended = table.plot(&table.path("no.svg"), &format!("{wanted} {option}").replace("--range x=0.1..1 ", ""));
        ended.failed_with(WRONG_USE, &[word]);
    }
}

/// A sweep that was interrupted: the figure is drawn from the existing runs, and the command for the rest can be
/// pasted.
#[test]
fn a_figure_of_a_part_of_a_sweep_says_so() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let table = folder.path().join("runs.csv");
    let path = table.to_str().expect("plain");
    run(ethbus(["sweep", "--set", "stations=1,2", "--seeds", "2", "--duration", "10ms", "--out", path])).succeeded();
    let whole = std::fs::read_to_string(&table).expect("a table");
    let plot = || {
        let out = folder.path().join("figure.svg");
        let arguments = ["plot", path, "--x", "stations", "--y", "utilization_total", "--out"];
        run(ethbus(arguments.iter().map(|argument| argument.as_ref()).chain([out.as_os_str()]))).succeeded().stderr
    };
    assert_eq!(plot(), "");
    let part: String = whole.split_inclusive('\n').take(4).collect();
    std::fs::write(&table, part).expect("own folder");
    let told = plot();
    assert!(told.contains("has 3 of the 4 runs of its sweep"), "{told}");
    let command = told.lines().nth(1).expect("a command").trim();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", command]);
    run(shell).succeeded();
    assert_eq!(std::fs::read_to_string(&table).expect("a table"), whole);
    assert_eq!(plot(), "");
    std::fs::write(&table, "").expect("own folder");
    let out = folder.path().join("none.svg");
    let arguments = ["plot", path, "--x", "stations", "--y", "utilization_total", "--out"];
    run(ethbus(arguments.iter().map(|argument| argument.as_ref()).chain([out.as_os_str()])))
        .failed_with(2, &["runs.csv is empty"]);
}

/// Lines over a numeric key: each name has room beside its line's end, a utilization's axis ends where a utilization can be,
/// and more lines than there is room for are an error.
#[test]
fn many_lines_have_their_names_at_their_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = |lines: u32| {
        let row = |line: u32, x: u32, seed: u32| {
            let utilization = f64::from(line * x + seed % 2) / f64::from(lines * 3 + 1);
            format!("{},{line},{seed},{x},{utilization}\n", line * 100 + x * 10 + seed)
        };
        let rows =
            (1..=lines).rev().flat_map(|line| (1..=3).flat_map(move |x| (1..=2).map(move |seed| (line, x, seed))));
        let rows: String = rows.map(|(line, x, seed)| row(line, x, seed)).collect();
        let path = folder.path().join(format!("{lines}.csv"));
        std::fs::write(&path, format!("run,stations,seed,traffic.frame_size,utilization_total\n{rows}"))
            .expect("own folder");
        path
    };
    let plot = |lines: u32, out: &Path| {
        let mut plot = ethbus(["plot".as_ref(), table(lines).as_os_str(), "--out".as_ref(), out.as_os_str()]);
        plot.args(["--x", "traffic.frame_size", "--y", "utilization_total", "--by", "stations"]);
        run(plot)
    };
    let out = folder.path().join("many.svg");
    plot(24, &out).succeeded();
    let svg = std::fs::read_to_string(&out).expect("a figure");
    let place = |text: &str| -> f64 {
        let (_, y) = text.split_once(" y=\"").expect("a place");
        y.split('"').next().and_then(|y| y.parse().ok()).expect("a number")
    };
    let all: Vec<(&str, f64)> = svg
        .split("<text")
        .skip(1)
        .filter(|text| text.contains("text-anchor=\"start\""))
        .map(|text| (texts_of(text), place(text)))
        .collect();
    let names: Vec<&(&str, f64)> = all.iter().filter(|(text, _)| text.parse::<u32>().is_ok()).collect();
    assert_eq!(names.len(), 24, "{all:?}");
    assert!(names.windows(2).all(|pair| pair[1].1 - pair[0].1 >= 13.0 * 4.0), "names lie on each other: {names:?}");
    assert_eq!((names[0].0, names[23].0), ("24", "1"), "in the order of the lines' ends");
    assert!(all.iter().all(|(_, y)| *y < 1920.0), "in the picture: {all:?}");
    let ticks = texts(&svg);
    assert!(ticks.contains(&"1.0") && !ticks.contains(&"1.2") && !ticks.contains(&"\u{2212}0.2"), "{ticks:?}");
    plot(40, &folder.path().join("more.svg")).failed_with(WRONG_USE, &["--by: ", "of 40 lines", "--where"]);
    assert!(!folder.path().join("more.svg").exists());
}

/// A method has the same colour beside others as beside few.
#[test]
fn a_method_keeps_its_colour() {
    let folder = tempfile::tempdir().expect("a folder");
    let colour = |methods: &[&str], of: &str| {
        let rows: String = methods
            .iter()
            .flat_map(|method| [2, 4].map(|stations| format!("{stations},{method},1,{stations},0.5\n")))
            .collect();
        let (table, out) = (folder.path().join("runs.csv"), folder.path().join("a.svg"));
        std::fs::write(&table, format!("run,access.method,seed,stations,fairness\n{rows}")).expect("own folder");
        let mut plot = ethbus(["plot".as_ref(), table.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        plot.args(["--x", "stations", "--y", "fairness", "--by", "access.method"]);
        run(plot).succeeded();
        let svg = std::fs::read_to_string(&out).expect("a figure");
        // The mark of a series is before its name.
        let (before, _) = svg.split_once(&format!("\n{of}\n")).expect("its name");
        before.rsplit("stroke=\"").next().and_then(|rest| rest.split('"').next()).expect("a colour").to_owned()
    };
    assert_eq!(colour(&["csma-cd", "plca", "aloha"], "aloha"), colour(&["aloha", "tdma"], "aloha"));
    assert_ne!(colour(&["aloha", "tdma"], "tdma"), colour(&["aloha", "tdma"], "aloha"));
}
