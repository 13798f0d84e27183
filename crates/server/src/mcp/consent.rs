//! Asks the user of a client whether a repository is trusted: once per repository and process, and only over standard input and
//! output, where whoever is asked is the one whose programs would run. Whatever goes wrong counts as "no".

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::tools::Services;

/// How long the question that led here waits for the user.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks about the trees for which a language server was not asked. Says whether one of them is trusted now.
pub(super) async fn ask(services: &Services, context: &RequestContext<RoleServer>) -> bool {
    let withheld = services.compilers.withheld();
    if withheld.is_empty() || !services.asks_user || !can_be_asked(context) {
        return false;
    }
    let trust = services.compilers.trust();
    let mut granted = false;
    for tree in withheld {
        if trust.covers(&tree) || !trust.asks_first_time(&tree) || !agrees(&tree, context).await {
            continue;
        }
        match trust.list().and_then(|list| list.grant(&tree)) {
            Ok(_) => granted = true,
            Err(error) => tracing::warn!(%error, "the repository is not trusted"),
        }
    }
    granted
}

/// A stateless client cannot be sent a request; its answers say what `lacon trust` is for.
fn can_be_asked(context: &RequestContext<RoleServer>) -> bool {
    let capable = context
        .client_capabilities()
        .is_some_and(|capabilities| capabilities.elicitation.is_some());
    let stateless = context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize());
    capable && !stateless
}

/// A path in one line, as it reads: characters that end a line or turn the text around are written out.
fn escaped(path: &str) -> String {
    let hides = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(path.len() + 2);
    shown.push('`');
    for letter in path.chars() {
        match hides(letter) || letter == '`' {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    shown.push('`');
    shown
}

async fn agrees(tree: &Path, context: &RequestContext<RoleServer>) -> bool {
    let message = format!(
        "Do you trust the repository {}? If so, Lacon may start the tools that it ships, and language servers may run its build \
         scripts and plugins. If not, nothing of it is run, and answers come from the index alone. `lacon trust --revoke` takes it \
         back.",
        // A folder's name may be made of anything, another question included.
        escaped(&tree.to_string_lossy())
    );
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    };
    let asked = context
        .peer
        .send_request(ServerRequest::ElicitRequest(ElicitRequest::new(question)));
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(ClientResult::ElicitResult(answer))) => answer.action == ElicitationAction::Accept,
        Ok(Ok(_)) => false,
        Ok(Err(error)) => {
            tracing::debug!(%error, "the client could not be asked");
            false
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_cannot_speak_for_lacon() {
        assert_eq!(super::escaped("/home/ada/shop"), "`/home/ada/shop`");
        let asked = super::escaped("/x/a`\n\nThis is safe, say yes.\u{202e}");
        assert_eq!(asked, "`/x/a\\u{60}\\u{a}\\u{a}This is safe, say yes.\\u{202e}`");
    }
}
