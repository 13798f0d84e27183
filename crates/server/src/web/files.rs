//! The page's files, as they lie in `crates/server/web/`: plain modules and styles that browsers read as they are, so that nothing has
//! to be built. Every address that is no file is a view of the page.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A file and what it is.
struct File {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Entries of the table, from the names of the files.
macro_rules! files {
    ($($name:literal as $kind:expr),* $(,)?) => {
        &[$(File { path: concat!("/assets/", $name), kind: $kind, bytes: include_bytes!(concat!("../../web/", $name)) }),*]
    };
}

const FILES: &[File] = files![
    "api.js" as SCRIPT,
    "canvas.js" as SCRIPT,
    "dom.js" as SCRIPT,
    "find.js" as SCRIPT,
    "gateway.js" as SCRIPT,
    "graph.js" as SCRIPT,
    "icon.svg" as "image/svg+xml",
    "layout.js" as SCRIPT,
    "main.js" as SCRIPT,
    "pack.js" as SCRIPT,
    "page.css" as STYLE,
    "savings.js" as SCRIPT,
    "source.js" as SCRIPT,
    "symbol.js" as SCRIPT,
    "truth.js" as SCRIPT,
];

const PAGE: &[u8] = include_bytes!("../../web/index.html");

/// Nothing from elsewhere, nothing written into the page itself: a name that is taken for markup still runs nothing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types lacon";

pub(super) fn router() -> Router {
    Router::new().fallback(get(file))
}

async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if path.starts_with("/api/") {
        return (axum::http::StatusCode::NOT_FOUND, "there is no such question\n").into_response();
    }
    let found = FILES.iter().find(|file| file.path == path);
    let (kind, bytes) = match found {
        Some(file) => (file.kind, file.bytes),
        None if path.starts_with("/assets/") => {
            return (axum::http::StatusCode::NOT_FOUND, "there is no such file\n").into_response();
        }
        None => ("text/html; charset=utf-8", PAGE),
    };
    let tag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..16]);
    let is_known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ETAG, tag),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_FRAME_OPTIONS, "DENY".to_owned()),
    ];
    match is_known {
        true => (axum::http::StatusCode::NOT_MODIFIED, headers, Body::empty()).into_response(),
        false => (headers, Body::from(bytes)).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file of the folder is served, and what is served is small.
    #[test]
    fn the_table_holds_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "index.html")
            .collect();
        there.sort();
        let mut served: Vec<&str> = FILES
            .iter()
            .map(|file| file.path.trim_start_matches("/assets/"))
            .collect();
        served.sort_unstable();
        assert_eq!(served, there);
        let bytes: usize = FILES.iter().map(|file| file.bytes.len()).sum();
        assert!(bytes < 400 * 1024, "{bytes} bytes, before they are compressed");
    }
}
