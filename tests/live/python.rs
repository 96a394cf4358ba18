//! The package for Python (docs/python.md), installed into an environment of its own as its users have it: its suite brings
//! labs up, and one test of that fails on purpose.

use crate::common::process::{program, run_for};
use crate::common::{ETHBUS, Turn, skip, skipped};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Debian's, which has the Debian packages that the environment uses: no network is needed.
const PYTHON: &str = "/usr/bin/python3";
/// Longer than the suite takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// The package's source with the version of the program, as packaging/python/build.sh has it.
fn source(folder: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/python");
    let ended = run_for(program("cp", ["-r".as_ref(), from.as_os_str(), folder.as_os_str()]), LIMIT);
    ended.succeeded();
    fs::write(folder.join("VERSION"), env!("CARGO_PKG_VERSION")).expect("own folder");
    // The setuptools of Debian 12 takes no SPDX expression.
    let project = fs::read_to_string(folder.join("pyproject.toml")).expect("the package");
    let kept: String =
        project.lines().filter(|line| !line.starts_with("license =")).flat_map(|line| [line, "\n"]).collect();
    fs::write(folder.join("pyproject.toml"), kept).expect("own folder");
}

#[test]
fn the_suite_of_the_package_passes_in_an_environment_of_its_own() {
    if skipped(&["ping"]) {
        return;
    }
    let has =
        |modules: &str| Path::new(PYTHON).exists() && run_for(program(PYTHON, ["-c", modules]), LIMIT).status.success();
    if !has("import ensurepip, pytest, setuptools, wheel") {
        return skip("needs python3-venv, python3-pytest, python3-setuptools, python3-wheel");
    }
    let _turn = Turn::shared();
    let own = tempfile::tempdir().expect("a folder");
    let (tree, venv) = (own.path().join("python"), own.path().join("venv"));
    source(&tree);
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    run_for(program(PYTHON, ["-m", "venv", "--system-site-packages", &path(&venv)]), LIMIT).succeeded();
    let python = path(&venv.join("bin/python"));
    let install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", &path(&tree)];
    run_for(program(&python, install), LIMIT).succeeded();
    // The source is out of the way: the suite meets what was installed.
    fs::remove_dir_all(tree.join("src")).expect("own folder");
    let mut suite = program(&python, ["-m", "pytest", "-q", "-p", "no:cacheprovider", &path(&tree.join("tests"))]);
    suite.env("ETHBUS", ETHBUS).current_dir(own.path());
    let ended = run_for(suite, LIMIT).succeeded();
    assert!(ended.stdout.contains(" passed"), "{ended:#?}");
}
