//! Why a virtual lab fails.

use super::image::ImageError;
use kernel::{RunError, StartError};
use medium::ConfigError;
use std::io;
use std::path::PathBuf;

/// Why a virtual lab could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError<E: std::error::Error + 'static> {
    /// The medium cannot be made.
    #[error(transparent)]
    Medium(#[from] ConfigError),
    /// Kernels could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A program never yields.
    #[error(
        "{why}; it computes, or polls something other than the clock{}: virtual time cannot pass meanwhile; let it wait or sleep, or leave it out",
        begun(programs)
    )]
    NeverYields {
        /// The station and the instant.
        why: RunError,
        /// The programs that have begun there.
        programs: Vec<String>,
    },
    /// A kernel failed otherwise.
    #[error(transparent)]
    Run(RunError),
    /// The lab went on to its end without some kernels.
    #[error("{}", ends.join("\nethbus: "))]
    Killed {
        /// How each of these kernels ended, in a sentence.
        ends: Vec<String>,
    },
    /// A root file system lacks something.
    #[error("the root file system {} of {station} {what}", root.display())]
    Root {
        /// The folder or image.
        root: PathBuf,
        /// The station.
        station: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// The image of a container gives no root file system.
    #[error("the root file system {} of {station} {why}", root.display())]
    Image {
        /// The image's file.
        root: PathBuf,
        /// The station.
        station: String,
        /// What is wrong, and what would be right.
        why: ImageError,
    },
    /// What a station is to have in its `/tmp/in` is no folder.
    #[error("the files of {station}: {} is no folder: write one, like `files = \"data\"`", files.display())]
    Files {
        /// What was named.
        files: PathBuf,
        /// The station.
        station: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// Its name.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What the run's observer could not keep.
    #[error(transparent)]
    Observer(E),
}

fn begun(programs: &[String]) -> String {
    if programs.is_empty() { String::new() } else { format!(" (it has begun: {})", programs.join("; ")) }
}
