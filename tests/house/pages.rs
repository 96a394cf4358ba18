//! Pages for readers: their links hold, and each block of commands is run by a test or says why not.

use crate::tidy::files_below;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Pages that GitHub shows, without those of other projects' text.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> =
        ["docs", "crates", "packaging", "examples"].into_iter().flat_map(files_below).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)));
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page outside its fenced blocks, with their numbers.
fn lines_of_prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_block = false;
    let mut outside = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    };
    text.lines().enumerate().filter(|(_, line)| outside(line)).collect()
}

/// The anchors that GitHub makes of a page's headings.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for (_, line) in lines_of_prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let anchor: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        anchors.insert(anchor.replace(' ', "-"));
    }
    anchors
}

/// The targets of the links in a line, `[text](target)`, without pages of GitHub's own and of others.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let is_own = |target: &&str| !target.contains("://") && !target.starts_with("../../actions/");
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(is_own)
}

/// Why a link leads nowhere, if it does.
fn broken(page: &Path, text: &str, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let other = page.parent().expect("a folder").join(file);
    if !file.is_empty() && !other.exists() {
        return Some(format!("{target}: no such file"));
    }
    let has_anchor = match file {
        _ if anchor.is_empty() => true,
        "" => anchors(text).contains(anchor),
        _ => anchors(&read(&other)).contains(anchor),
    };
    (!has_anchor).then(|| format!("{target}: no such heading"))
}

#[test]
fn links_hold() {
    let mut followed = 0;
    let mut found = Vec::new();
    for page in pages() {
        let text = read(&page);
        for (number, line) in lines_of_prose(&text) {
            // What is between backticks is no link.
            let plain = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            for target in links(&plain) {
                followed += 1;
                found.extend(
                    broken(&page, &text, target).map(|why| format!("{}:{}: {why}", page.display(), number + 1)),
                );
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(followed > 200, "only {followed} links");
}

/// Blocks of a page: the words after the three backticks (`None`: indented), and the lines.
fn blocks(text: &str) -> Vec<(Option<&str>, Vec<&str>)> {
    let mut blocks: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    let mut in_block = false;
    let mut before = "";
    for line in text.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(words) if !in_block => blocks.push((Some(words), Vec::new())),
            Some(_) => {}
            None if in_block => blocks.last_mut().expect("it was begun").1.push(line),
            None if line.starts_with("    ") && before.is_empty() => blocks.push((None, vec![line])),
            None => {}
        }
        in_block ^= line.trim_start().starts_with("```");
        before = line.trim();
    }
    blocks
}

/// `.ci/blocks` runs what is after "```sh" alone. Another block of commands says who runs it, or why nothing does.
#[test]
fn each_block_of_commands_is_run_or_says_why_not() {
    const COMMANDS: [&str; 6] = ["ethbus ", "sudo ethbus ", "ethbus-verify ", "cargo ", "docker ", "sudo docker "];
    // The first words of the view are those of a command.
    let is_view = |line: &str| line.trim_start().starts_with("ethbus seed ");
    let begins = |line: &str| COMMANDS.iter().any(|command| line.trim_start().starts_with(command));
    let is_command = |line: &&str| begins(line) && !is_view(line);
    let mut run = 0;
    let mut found = Vec::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for page in pages().into_iter().filter(|page| page.starts_with(&docs)) {
        for (words, lines) in blocks(&read(&page)) {
            let Some(command) = lines.iter().find(|line| is_command(line)) else { continue };
            match words {
                Some("sh") => run += 1,
                // `tests/study/shards.rs` reads the workflow.
                Some("yaml") => {}
                Some(words) if words.starts_with("sh not run: ") || words.starts_with("sh run by ") => {}
                _ => found.push(format!("{}: {command}", page.display())),
            }
        }
    }
    assert!(found.is_empty(), "write \"```sh\", or \"```sh not run: WHY\": {found:#?}");
    assert!(run > 40, "only {run} blocks");
}

#[test]
fn what_is_looked_for_is_found() {
    assert_eq!(links("[a](b.md#c), and [d](https://e)").collect::<Vec<_>>(), ["b.md#c"]);
    assert!(anchors("## `[plca]`, and `plca.…` of a station\n").contains("plca-and-plca-of-a-station"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    assert!(broken(&page, "# A\n", "#b").is_some() && broken(&page, "# A\n", "no.md").is_some());
    let text = "    one\n\n```sh\ntwo\n```\n";
    assert_eq!(blocks(text), [(None, vec!["    one"]), (Some("sh"), vec!["two"])]);
}
