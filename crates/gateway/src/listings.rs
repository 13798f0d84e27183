//! Listings remembered between runs, so that the first question is answered before any upstream has started.
//!
//! A remembered listing is only ever a head start: the upstream's own replaces it as soon as it arrives.

use std::path::{Path, PathBuf};

use crate::config::UpstreamConfig;
use crate::upstream::Listing;

/// A larger file than this is not read: no catalog is worth a slow start.
const LARGEST_FILE: u64 = 64 << 20;

/// Where listings are kept, if anywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listings {
    directory: Option<PathBuf>,
}

impl Listings {
    pub(crate) fn new(state_directory: Option<&Path>) -> Listings {
        Listings {
            directory: state_directory.map(|directory| directory.join("listings")),
        }
    }

    pub(crate) fn load(&self, name: &str, config: &UpstreamConfig) -> Option<Listing> {
        let path = self.path(name, config)?;
        if std::fs::metadata(&path).ok()?.len() > LARGEST_FILE {
            return None;
        }
        // A damaged file is as good as none: it is written anew.
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    pub(crate) fn save(&self, name: &str, config: &UpstreamConfig, listing: &Listing) {
        let Some(path) = self.path(name, config) else { return };
        let Ok(text) = serde_json::to_vec(listing) else { return };
        let write = || -> std::io::Result<()> {
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            let partial = path.with_extension(format!("partial{}", std::process::id()));
            std::fs::write(&partial, text)?;
            std::fs::rename(partial, &path)
        };
        if let Err(error) = write() {
            tracing::debug!(%error, upstream = name, "cannot remember its tools");
        }
    }

    /// One file for each upstream as it is reached: another command or address is another upstream.
    fn path(&self, name: &str, config: &UpstreamConfig) -> Option<PathBuf> {
        let reached = serde_json::json!([name, config.command, config.args, config.cwd, config.url, config.env]);
        let digest = blake3::hash(reached.to_string().as_bytes()).to_hex();
        Some(self.directory.as_ref()?.join(format!("{}.json", &digest[..24])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_found_again_only_for_the_same_server() {
        let directory = tempfile::tempdir().unwrap();
        let listings = Listings::new(Some(directory.path()));
        let config = UpstreamConfig {
            command: Some("a".into()),
            ..UpstreamConfig::default()
        };
        let listing = Listing {
            tools: vec![serde_json::json!({"name": "t"})],
            ..Listing::default()
        };
        listings.save("x", &config, &listing);
        assert_eq!(listings.load("x", &config), Some(listing));
        let other = UpstreamConfig {
            command: Some("b".into()),
            ..UpstreamConfig::default()
        };
        assert_eq!(listings.load("x", &other), None);
        assert_eq!(listings.load("y", &config), None);
        assert_eq!(Listings::default().load("x", &config), None);
    }
}
