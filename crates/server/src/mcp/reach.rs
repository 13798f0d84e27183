//! Which project a server answers about that was started without the name of one. In this order: what the client says (`roots`, in the
//! protocols that have them), the project around the place the server was started in, and a path in the call: `root`, or any
//! absolute path, where no project is known otherwise.
//!
//! Only over standard input and output, where the client is the user's own. Over HTTP a client would choose which folders of this
//! machine are read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};
use serde_json::{Map, Value};
use wire::protocol::Refusal;

use super::resources::decoded;
use super::server::QuestionServer;
use crate::project::{NoProject, around};
use crate::tools::trees::Trees;
use crate::tools::{lsp, refusal};

/// The argument by which a call names its project.
const ROOT: &str = "root";
/// How long the client has to say its roots.
const PATIENCE: Duration = Duration::from_secs(2);
/// Projects besides its own that a server answers about at once.
const MOST_ELSEWHERE: usize = 3;

/// How a server finds its project.
#[derive(Default)]
pub struct Reach {
    follows: Option<Follows>,
    is_settled: tokio::sync::Mutex<bool>,
    /// Projects that calls named, the latest last.
    elsewhere: Mutex<Vec<(PathBuf, Arc<Trees>)>>,
}

/// Whether indexes are built and kept up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// They are.
    Changes,
    /// They are read as they are.
    Nothing,
}

impl Reach {
    /// The project is the client's to say.
    pub fn of_client(follows: Follows) -> Reach {
        Reach {
            follows: Some(follows),
            ..Reach::default()
        }
    }

    /// The roots have changed: they are asked for again.
    pub(super) async fn unsettle(&self) {
        *self.is_settled.lock().await = false;
    }
}

impl QuestionServer {
    /// Settles which project is meant, once; begins to build its index.
    pub(super) async fn settle(&self, peer: &Peer<RoleServer>) {
        let Some(follows) = self.reach.follows else { return };
        let mut is_settled = self.reach.is_settled.lock().await;
        if *is_settled {
            return;
        }
        *is_settled = true;
        let said = folders_of(peer).await;
        if !said.is_empty() {
            let trees = self.trees.clone();
            let adopted = tokio::task::spawn_blocking(move || adopt_all(&trees, &said)).await;
            if let Err(error) = adopted {
                tracing::warn!(%error, "the client's roots are not used");
            }
        }
        self.begin(&self.trees, follows);
    }

    fn begin(&self, trees: &Arc<Trees>, follows: Follows) {
        if follows == Follows::Changes {
            trees.keep_up_to_date();
        }
        if let Some(directory) = trees.directory() {
            self.services.memory.ledger.open(&directory);
        }
        lsp::enrich_in_background(trees, &self.services);
    }

    /// The trees that a call is about, and its arguments without the word that says so.
    pub(super) fn trees_of(&self, arguments: &mut Map<String, Value>) -> Result<Arc<Trees>, Refusal> {
        let named = match arguments.remove(ROOT) {
            None | Some(Value::Null) => None,
            Some(Value::String(path)) if Path::new(&path).is_absolute() => Some(PathBuf::from(path)),
            Some(_) => {
                return Err(refusal(
                    "invalid_argument",
                    "argument `root`: expected an absolute path",
                ));
            }
        };
        let known = self.trees.roots();
        let named = match named {
            Some(path) => path,
            // Where nothing is known, any path will do.
            None if known.is_empty() && self.reach.follows.is_some() => match path_in(arguments) {
                Some(path) => path,
                None => return Ok(self.trees.clone()),
            },
            None => return Ok(self.trees.clone()),
        };
        let refused = |why: NoProject| refusal("no_project", format!("{why}: {}", why.remedy()));
        let project = around(&named).map_err(refused)?;
        if known.contains(&project) {
            return Ok(self.trees.clone());
        }
        let Some(follows) = self.reach.follows else {
            let known: Vec<String> = known.iter().map(|root| root.display().to_string()).collect();
            let message = format!(
                "this server answers about {}, and not about `{}`",
                known.join(", "),
                project.display()
            );
            return Err(refusal("not_permitted", message));
        };
        if known.is_empty() {
            self.trees.adopt(&[project]).map_err(unusable)?;
            self.begin(&self.trees, follows);
            return Ok(self.trees.clone());
        }
        let mut elsewhere = self.reach.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, trees)) = elsewhere.iter().find(|(root, _)| *root == project) {
            return Ok(trees.clone());
        }
        let trees = Arc::new(Trees::open(std::slice::from_ref(&project), None).map_err(unusable)?);
        if follows == Follows::Changes {
            trees.keep_up_to_date();
        }
        elsewhere.push((project, trees.clone()));
        if elsewhere.len() > MOST_ELSEWHERE {
            let (_, oldest) = elsewhere.remove(0);
            oldest.stop();
        }
        Ok(trees)
    }
}

fn unusable(failure: terminal::failure::Failure) -> Refusal {
    refusal("no_project", format!("{:#}", failure.error))
}

/// Takes the projects that the client's folders lie in; where all are such as are never meant, none.
fn adopt_all(trees: &Trees, folders: &[PathBuf]) {
    let mut projects: Vec<PathBuf> = Vec::new();
    let mut why = None;
    for folder in folders {
        match around(folder) {
            Ok(project) if !projects.contains(&project) => projects.push(project),
            Ok(_) => {}
            Err(refused) => why = Some(refused),
        }
    }
    let adopted = match (projects.is_empty(), why) {
        (false, _) => trees.adopt(&projects).map(drop),
        (true, Some(why)) => {
            trees.give_up(&why);
            Ok(())
        }
        (true, None) => Ok(()),
    };
    if let Err(failure) = adopted {
        tracing::warn!("the client's roots are not used: {:#}", failure.error);
    }
}

/// The folders that the client works in, as far as its protocol lets it say so.
async fn folders_of(peer: &Peer<RoleServer>) -> Vec<PathBuf> {
    let Some(client) = peer.peer_info() else {
        return Vec::new();
    };
    if client.capabilities.roots.is_none() || !client.protocol_version.has_initialize() {
        return Vec::new();
    }
    #[expect(deprecated, reason = "most clients still speak a protocol that has roots")]
    let asked = async { tokio::time::timeout(PATIENCE, peer.list_roots()).await.ok()?.ok() };
    let listed = asked.await;
    #[expect(deprecated, reason = "as above")]
    let folders = listed.map(|listed| listed.roots.iter().filter_map(|root| folder(&root.uri)).collect());
    folders.unwrap_or_default()
}

/// The folder that a `file:` address names.
fn folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // An address may name the machine, which is this one.
    let path = match rest.find('/')? {
        0 => rest,
        at => &rest[at..],
    };
    let path = decoded(path)?;
    let path = match cfg!(windows) {
        true => path.trim_start_matches('/').to_string(),
        false => path,
    };
    Path::new(&path).is_absolute().then(|| PathBuf::from(path))
}

/// The folder of the first absolute path among the arguments that leads somewhere.
fn path_in(arguments: &Map<String, Value>) -> Option<PathBuf> {
    let texts = arguments.values().flat_map(|value| match value {
        Value::String(text) => vec![text.as_str()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    texts.filter(|text| Path::new(text).is_absolute()).find_map(|text| {
        // A place in a file ends with its line.
        let path = text.split(':').next().map(Path::new)?;
        let folder = path.ancestors().find(|above| above.is_dir())?;
        folder.parent().is_some().then(|| folder.to_path_buf())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn addresses_of_files_are_folders() {
        assert_eq!(
            folder("file:///home/ada/my%20shop"),
            Some(PathBuf::from("/home/ada/my shop"))
        );
        assert_eq!(folder("file://localhost/srv/x"), Some(PathBuf::from("/srv/x")));
        assert_eq!(folder("https://example.org/x"), None);
        assert_eq!(folder("file://"), None);
    }

    #[test]
    fn a_path_in_a_call_leads_to_its_folder() {
        let base = tempfile::tempdir().unwrap();
        std::fs::write(base.path().join("a.py"), "").unwrap();
        let call = |text: String| serde_json::json!({"limit": 3, "what": ["x", text]});
        let at = |text: String| path_in(call(text).as_object().unwrap());
        assert_eq!(
            at(format!("{}/a.py:3-9", base.path().display())).as_deref(),
            Some(base.path())
        );
        assert_eq!(at("a.py:3".to_string()), None);
        assert_eq!(at("/".to_string()), None);
    }
}
