//! Building the kernel of virtual labs, by the script that packaging/kernel has.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// The files of packaging/kernel: their names, and what they hold.
const FILES: [(&str, &str); 5] = [
    ("build.sh", include_str!("../../packaging/kernel/build.sh")),
    ("kernel.config", include_str!("../../packaging/kernel/kernel.config")),
    ("patches/1-clock-cost.patch", include_str!("../../packaging/kernel/patches/1-clock-cost.patch")),
    ("patches/2-seed.patch", include_str!("../../packaging/kernel/patches/2-seed.patch")),
    ("patches/3-registers.patch", include_str!("../../packaging/kernel/patches/3-registers.patch")),
];

/// Builds the kernel into `folder`. `told` gets each line of progress; the last one names the kernel.
///
/// # Errors
/// The script could not be started; or `Ok(Err)`: it failed, and this is what it said.
pub fn build(folder: &Path, mut told: impl FnMut(&str)) -> io::Result<Result<(), String>> {
    let own = folder.join(format!("script.{}", std::process::id()));
    fs::create_dir_all(own.join("patches"))?;
    let built = (|| {
        FILES.iter().try_for_each(|(name, text)| fs::write(own.join(name), text))?;
        let mut command = Command::new("bash");
        command.arg(own.join("build.sh")).arg(folder).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let lines = child.stdout.take().map(BufReader::new);
        for line in lines.into_iter().flat_map(BufRead::lines) {
            told(&line?);
        }
        let ended = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.trim().rsplit("error: ").next().unwrap_or_default().to_owned();
        Ok(if ended.status.success() { Ok(()) } else { Err(said) })
    })();
    fs::remove_dir_all(&own)?;
    built
}
