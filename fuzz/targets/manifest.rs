//! The manifest beside a table: what it says of its runs, and the grid that it makes again.
use study::sweep::again;
use study::sweep::manifest::Manifest;
use std::path::Path;

pub fn run(data: &[u8]) {
    let Ok(manifest) = Manifest::of_json(data) else { return };
    let (runs, part) = (manifest.runs(), manifest.part());
    assert!(manifest.share() <= runs, "{manifest:?}");
    assert_eq!(manifest.difference(&manifest), None);
    for run in [0, runs / 2, runs.saturating_sub(1)] {
        assert!(manifest.seeds().contains(&manifest.seed(run)), "{manifest:?}");
        let _ = manifest.values(run);
    }
    let _ = again::command("ethbus", &manifest, Path::new("table.csv"), part);
    let _ = again::grid(&manifest);
}
