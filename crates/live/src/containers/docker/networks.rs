//! Which network has which lab, and which endpoint which station: a file for each network. The daemon keeps its networks
//! over its own restarts and those of the machine, so the driver does so too.

use crate::lab::owner::make_own_folders;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// A network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its lab.
    pub lab: String,
    /// Options of `ethbus up` for it.
    pub options: BTreeMap<String, String>,
    /// Its endpoints by their identifiers.
    #[serde(default)]
    pub endpoints: BTreeMap<String, Wanted>,
}

impl Network {
    /// Whether a container is on it, as far as is known.
    pub fn has_stations(&self) -> bool {
        self.endpoints.values().any(|wanted| wanted.station.is_some())
    }
}

/// An endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Its MAC address; the lab gives one if there is none.
    pub mac: Option<String>,
    /// The ports of this machine that were to lead to it, as with `-p`.
    #[serde(default)]
    pub ports: Option<String>,
    /// Its station, while it has one.
    #[serde(default)]
    pub station: Option<String>,
}

/// All networks.
pub struct Networks {
    folder: PathBuf,
}

impl Networks {
    /// The networks that `folder` has. Makes the folder if it is missing.
    pub fn of(folder: PathBuf) -> io::Result<Networks> {
        make_own_folders(&folder)?;
        Ok(Networks { folder })
    }

    fn file(&self, network: &str) -> PathBuf {
        self.folder.join(format!("{network}.json"))
    }

    /// The identifiers of all.
    pub fn ids(&self) -> Vec<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect()
    }

    /// A network, if there is one of this identifier.
    pub fn get(&self, network: &str) -> io::Result<Option<Network>> {
        match fs::read(self.file(network)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a network: an old file stays until the new one is whole.
    pub fn keep(&self, id: &str, network: &Network) -> io::Result<()> {
        let (file, new) = (self.file(id), self.folder.join(".new"));
        fs::write(&new, serde_json::to_vec(network)?)?;
        fs::rename(new, file)
    }

    /// Forgets a network.
    pub fn forget(&self, network: &str) -> io::Result<()> {
        match fs::remove_file(self.file(network)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
