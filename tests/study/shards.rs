//! Sweeps in array jobs: the shard from the scheduler, what is missing with the command that runs it, and the examples for
//! schedulers, read as those would read them.

use crate::common::process::{Finished, ethbus, program, run};
use crate::common::{ETHBUS, Turn, is_installed, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

/// Short, so that a test can run it.
const SHORT: [&str; 8] = ["--set", "stations=2..5", "--seeds", "2", "--duration", "10ms", "--warmup", "1ms"];

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `ethbus sweep` of the short grid in `folder`.
fn sweep(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = ethbus(["sweep"].iter().chain(&SHORT).chain(arguments));
    command.current_dir(folder.path());
    command
}

fn merge(folder: &TempDir, out: &str, shards: &[&str]) -> Finished {
    let mut command = ethbus(["sweep", "merge", "--out", out].iter().chain(shards));
    command.current_dir(folder.path());
    run(command)
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("a table")
}

/// Three tasks of a Kubernetes Indexed Job make what one sweep makes; each names the scheduler that gave its number.
#[test]
fn an_array_of_tasks_makes_what_one_sweep_makes() {
    let (_turn, folder) = (Turn::shared(), tempfile::tempdir().expect("a folder"));
    run(sweep(&folder, &["--out", "whole.csv"])).succeeded();
    for index in ["0", "1", "2"] {
        let mut task = sweep(&folder, &["--shard", "auto/3", "--out", "part-{shard}.csv"]);
        task.env("JOB_COMPLETION_INDEX", index);
        let said = run(task).succeeded().stderr;
        assert!(said.contains("/3, as told by Kubernetes, where JOB_COMPLETION_INDEX is"), "{said}");
    }
    merge(&folder, "runs.csv", &["part-3.csv", "part-1.csv", "part-2.csv"]).succeeded();
    assert_eq!(read(&folder, "runs.csv"), read(&folder, "whole.csv"));
}

/// A row that was edited is no result: `merge` and a sweep that goes on refuse the table.
#[test]
fn an_edited_row_is_refused() {
    let (_turn, folder) = (Turn::shared(), tempfile::tempdir().expect("a folder"));
    for shard in ["1", "2"] {
        let table = format!("part-{shard}.csv");
        run(sweep(&folder, &["--shard", &format!("{shard}/2"), "--out", &table])).succeeded();
    }
    let written = read(&folder, "part-2.csv");
    let (rest, last) = written.trim_end().rsplit_once(',').expect("columns");
    let edited = format!("{rest},{}\n", last.parse::<u64>().expect("a count") + 1);
    fs::write(folder.path().join("part-2.csv"), edited).expect("own folder");
    let refused = merge(&folder, "runs.csv", &["part-1.csv", "part-2.csv"]);
    refused.failed_with(1, &["part-2.csv: its rows are not those that the sweep wrote", "part-2.csv.grid.json"]);
    assert!(!folder.path().join("runs.csv").exists());
    run(sweep(&folder, &["--shard", "2/2", "--out", "part-2.csv"])).failed_with(1, &["part-2.csv: its rows are not"]);
    fs::write(folder.path().join("part-2.csv"), written).expect("own folder");
    merge(&folder, "runs.csv", &["part-1.csv", "part-2.csv"]).succeeded();
}

/// The command that `merge` names for a missing shard can be pasted into a shell, and makes just that shard.
#[test]
fn missing_shards_come_with_the_commands_that_run_them() {
    let (_turn, folder) = (Turn::shared(), tempfile::tempdir().expect("a folder"));
    fs::write(folder.path().join("my lab.toml"), "[medium]\ntopology = 'bus:100m'\n").expect("own folder");
    let grid = [
        "my lab.toml",
        "--rate",
        "20M",
        "--set",
        r#"traffic.frame_size="64:7,1518:1",64"#,
        "--out",
        "part-{shard}.csv",
    ];
    run(sweep(&folder, &[&grid[..], &["--shard", "1/3"]].concat())).succeeded();
    let missing = merge(&folder, "runs.csv", &["part-1.csv"]);
    missing.failed_with(1, &["shard 2/3, 3/3 of the grid are missing: give the table too, or run"]);
    let commands: Vec<&str> = missing.stderr.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(commands.len(), 2, "{missing:#?}");
    for line in commands {
        let mut shell = program("sh", ["-c", line]);
        shell.current_dir(folder.path());
        run(shell).succeeded();
    }
    merge(&folder, "runs.csv", &["part-1.csv", "part-2.csv", "part-3.csv"]).succeeded();
    run(sweep(&folder, &[&grid[..5], &["--out", "whole.csv"]].concat())).succeeded();
    assert_eq!(read(&folder, "runs.csv"), read(&folder, "whole.csv"));
}

/// Checks that arguments of an example are those of a sweep: run with a short time in place of its own, and a small grid.
#[track_caller]
fn runs(arguments: &[String], environment: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let short = |argument: &String| {
        argument.replace("=10s", "=1ms").replace("2..64*2", "2").replace("/tables/", "").replace("=20", "=1")
    };
    let arguments: Vec<String> =
        arguments.iter().map(short).map(|word| if word == "10s" { "1ms".into() } else { word }).collect();
    let mut command = ethbus(&arguments);
    command.current_dir(folder.path()).args(["--warmup", "0s"]).envs(environment.iter().copied());
    run(command).succeeded();
    let made = fs::read_dir(folder.path()).expect("own folder").flatten().map(|entry| entry.file_name());
    assert!(made.into_iter().any(|name| name.to_string_lossy().starts_with("part-")), "{arguments:?}");
}

fn strings(list: &Yaml) -> Vec<String> {
    list.as_vec().expect("a list").iter().map(|item| item.as_str().expect("text").to_owned()).collect()
}

/// The pod's arguments, with the index that Kubernetes gives it, are a sweep's; its count is the job's.
#[test]
fn the_example_for_kubernetes_is_an_indexed_job() {
    let _turn = Turn::shared();
    let documents = YamlLoader::load_from_str(&example("kubernetes-sweep.yaml")).expect("YAML");
    let [job] = &documents[..] else { panic!("one document") };
    assert_eq!((job["apiVersion"].as_str(), job["kind"].as_str()), (Some("batch/v1"), Some("Job")));
    assert_eq!(job["spec"]["completionMode"].as_str(), Some("Indexed"));
    let pod = &job["spec"]["template"]["spec"];
    let arguments = strings(&pod["containers"][0]["args"]);
    let completions = job["spec"]["completions"].as_i64().expect("a number");
    assert!(arguments.contains(&format!("--shard=auto/{completions}")), "{arguments:?}");
    let (mounts, volumes) = (&pod["containers"][0]["volumeMounts"][0]["name"], &pod["volumes"][0]["name"]);
    assert_eq!(mounts.as_str(), volumes.as_str());
    runs(&arguments, &[("JOB_COMPLETION_INDEX", "15")]);
}

/// `name = value` lines and `queue`, with macros as condor_submit(1) has them.
#[test]
fn the_example_for_htcondor_is_a_submit_file() {
    let _turn = Turn::shared();
    let text = example("htcondor.sub");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut keys = BTreeMap::new();
    let mut queue = None;
    for line in lines {
        match line.split_once('=') {
            Some((key, value)) => _ = keys.insert(key.trim(), value.trim()),
            None => queue = line.strip_prefix("queue ").map(str::to_owned),
        }
    }
    assert_eq!(queue.as_deref(), Some("$(shards)"));
    assert_eq!(keys["number"], "$(Process) + 1");
    assert!(keys["executable"].ends_with("/ethbus") && keys["transfer_executable"] == "false");
    for process in [0, 15] {
        let arguments = keys["arguments"].trim_matches('"').replace("$(shards)", keys["shards"]);
        let arguments = arguments.replace("$INT(number)", &(process + 1).to_string());
        assert!(!arguments.contains('$'), "{arguments}");
        let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        runs(&words, &[]);
    }
}

/// The shell commands of the rules, with wildcards filled in, are a sweep and a merge.
#[test]
fn the_example_for_snakemake_has_rules_that_run() {
    let _turn = Turn::shared();
    let text = example("Snakefile");
    let constant = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} = "))).expect(name);
        line.split_once(" = ").expect("a value").1.trim_matches('"').to_owned()
    };
    let shell = |rule: &str| {
        let from = text.split(&format!("rule {rule}:")).nth(1).expect(rule);
        from.split("shell:").nth(1).and_then(|rest| rest.split('"').nth(1)).expect("a command").to_owned()
    };
    let fill = |text: String| {
        text.replace("{GRID}", &constant("GRID"))
            .replace("{SHARDS}", &constant("SHARDS"))
            .replace("{threads}", "1")
            .replace("{wildcards.number}", "3")
            .replace("{output.table}", "part-3.csv")
    };
    let command = fill(shell("shard"));
    assert!(command.starts_with("ethbus sweep ") && !command.contains('{'), "{command}");
    runs(&command.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>(), &[]);
    assert_eq!(shell("merge"), "ethbus sweep merge --out {output.table} {input.tables}");
}

/// The script is bash, and a task of its array runs the shard that Slurm names. `.ci/full` has a Slurm.
#[test]
fn a_task_of_the_example_for_slurm_runs_its_shard() {
    if !is_installed("bash") {
        skip("needs bash");
        return;
    }
    let (_turn, folder) = (Turn::shared(), tempfile::tempdir().expect("a folder"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/slurm-array.sh");
    let mut task = Command::new("bash");
    task.arg(script).arg(folder.path().join("runs.csv")).args(SHORT).env("ETHBUS", ETHBUS);
    let slurm = [("ID", "2"), ("MIN", "1"), ("MAX", "3"), ("STEP", "1"), ("COUNT", "3")];
    task.envs(slurm.map(|(name, value)| (format!("SLURM_ARRAY_TASK_{name}"), value)));
    let said = run(task).succeeded().stderr;
    assert!(said.contains("shard 2/3, as told by Slurm"), "{said}");
    assert!(folder.path().join("runs.csv.shard-2").is_file());
}

/// What docs/ci.md and packaging give to other programs is YAML, and its commands are this program's.
#[test]
fn workflow_and_compose_file_are_yaml() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path);
    let page = read("docs/ci.md");
    let workflow = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a workflow");
    let workflow = YamlLoader::load_from_str(workflow).expect("YAML");
    let steps = workflow[0]["jobs"]["lab"]["steps"].as_vec().expect("steps");
    assert!(steps.iter().all(|step| step["run"].as_str().is_some() || step["uses"].as_str().is_some()));
    let compose = YamlLoader::load_from_str(&read("packaging/compose.yaml")).expect("YAML");
    let command = strings(&compose[0]["services"]["bus"]["command"]);
    assert_eq!(command[0], "up", "{command:?}");
}
