//! Other embedding models than the built-in table, for those who configure one: an ONNX file, or an OpenAI-compatible endpoint. Without
//! the latter nothing is ever sent.
//!
//! ```text
//! LACON_EMBEDDING_ONNX   path/to/model.onnx     run here, see `onnx`
//! LACON_EMBEDDING_URL    https://host/v1        asked at <url>/embeddings
//! LACON_EMBEDDING_MODEL  name of the model
//! LACON_EMBEDDING_KEY    sent as a bearer token, if set
//! ```
//!
//! 256 dimensions are asked for. A longer vector is cut, which is right for models trained for it (Matryoshka), and a shorter one is
//! filled up with zeros. After a failure nothing is asked for a while, so that an index is not held up by a dead host.

#[cfg(feature = "onnx")]
mod onnx;
#[cfg(feature = "onnx")]
mod word_piece;

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use index::search::{DIMENSIONS, EmbedError, Embedder};
use serde_json::{Value, json};

/// Texts of one request.
const BATCH: usize = 64;
/// Characters of a text that are sent: models cut what is longer.
const LONGEST: usize = 8_000;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long nothing is asked after a failure.
const PAUSE: Duration = Duration::from_secs(30);

struct Endpoint {
    url: String,
    model: String,
    key: Option<String>,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    failed: Mutex<Option<Instant>>,
}

/// Uses the model that the environment names, if it names one.
pub fn configure() -> anyhow::Result<()> {
    let said = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(path) = said("LACON_EMBEDDING_ONNX") {
        if said("LACON_EMBEDDING_URL").is_some() {
            anyhow::bail!("LACON_EMBEDDING_ONNX and LACON_EMBEDDING_URL are both set: choose one model");
        }
        return configure_onnx(&path);
    }
    let Some(url) = said("LACON_EMBEDDING_URL") else {
        return Ok(());
    };
    let Some(model) = said("LACON_EMBEDDING_MODEL") else {
        anyhow::bail!("LACON_EMBEDDING_URL is set and LACON_EMBEDDING_MODEL is not: name the model to ask for");
    };
    let endpoint = Endpoint {
        url: format!("{}/embeddings", url.trim_end_matches('/')),
        model,
        key: said("LACON_EMBEDDING_KEY"),
        client: reqwest::Client::builder().timeout(TIMEOUT).build()?,
        runtime: tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?,
        failed: Mutex::new(None),
    };
    index::search::choose_embedder(Box::new(endpoint));
    Ok(())
}

#[cfg(feature = "onnx")]
fn configure_onnx(path: &str) -> anyhow::Result<()> {
    let model = onnx::OnnxModel::load(std::path::Path::new(path))?;
    index::search::choose_embedder(Box::new(model));
    Ok(())
}

#[cfg(not(feature = "onnx"))]
fn configure_onnx(_path: &str) -> anyhow::Result<()> {
    anyhow::bail!("LACON_EMBEDDING_ONNX is set, and this build runs no ONNX models: build it with the feature `onnx`")
}

impl Embedder for Endpoint {
    fn model(&self) -> Cow<'_, str> {
        self.model.as_str().into()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<[f32; DIMENSIONS]>, EmbedError> {
        let failed = || self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if failed().is_some_and(|when| when.elapsed() < PAUSE) {
            return Err(EmbedError("the embedding endpoint failed a moment ago".to_string()));
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            match self.runtime.block_on(self.ask(batch)) {
                Ok(found) => vectors.extend(found),
                Err(error) => {
                    tracing::warn!(url = self.url, "the embedding endpoint does not answer: {error:#}");
                    *failed() = Some(Instant::now());
                    return Err(EmbedError(format!("{error:#}")));
                }
            }
        }
        Ok(vectors)
    }
}

impl Endpoint {
    async fn ask(&self, texts: &[&str]) -> anyhow::Result<Vec<[f32; DIMENSIONS]>> {
        // Some servers refuse an empty text.
        let input: Vec<String> = texts
            .iter()
            .map(|text| match text.trim() {
                "" => "-".to_string(),
                text => text.chars().take(LONGEST).collect(),
            })
            .collect();
        let body = json!({"model": self.model, "input": input, "dimensions": DIMENSIONS, "encoding_format": "float"});
        let mut request = self.client.post(&self.url).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let answer: Value = request.send().await?.error_for_status()?.json().await?;
        let rows = answer["data"]
            .as_array()
            .ok_or_else(|| anyhow::anyhow!("the answer has no `data`"))?;
        let mut vectors = vec![None; texts.len()];
        for (at, row) in rows.iter().enumerate() {
            let at = row["index"].as_u64().map_or(at, |index| index as usize);
            let values = row["embedding"].as_array().filter(|values| !values.is_empty());
            if let (Some(place), Some(values)) = (vectors.get_mut(at), values) {
                let mut vector = [0.0; DIMENSIONS];
                for (to, value) in vector.iter_mut().zip(values) {
                    *to = value.as_f64().unwrap_or_default() as f32;
                }
                *place = Some(vector);
            }
        }
        let whole: Option<Vec<_>> = vectors.into_iter().collect();
        whole.ok_or_else(|| anyhow::anyhow!("the answer lacks the vector of a text"))
    }
}

/// The built-in table, for ranking tools by meaning.
pub struct ToolEmbedder;

impl gateway::browse::Embedder for ToolEmbedder {
    fn embed(&self, text: &str) -> Vec<f32> {
        // The table is in the binary: it always answers.
        let vectors = index::search::built_in().embed(&[text]).unwrap_or_default();
        vectors.first().map(|vector| vector.to_vec()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gateway::bench::{Query, Scorecard, measure, own};
    use gateway::catalog::{Source, source_from_file};

    use super::ToolEmbedder;

    fn score(sources: &[Source], queries: &[Query]) -> Scorecard {
        let embedder: Arc<dyn gateway::browse::Embedder> = Arc::new(ToolEmbedder);
        measure(sources, queries, &Default::default(), Some(&embedder), 1).unwrap()
    }

    /// The gateway as it is served: the floor under ranking by words and meaning together.
    #[test]
    fn tools_are_found_by_meaning() {
        let sources = own::sources().unwrap();
        let queries = own::queries().unwrap();
        for (half, queries, recall, rank) in [
            ("tuning", queries.tuning, 0.66, 0.615),
            ("held out", queries.held_out, 0.63, 0.615),
        ] {
            let score = score(&sources, &queries);
            assert!(score.recall_at_5 >= recall, "{half}: {}", score.recall_at_5);
            assert!(
                score.mean_reciprocal_rank >= rank,
                "{half}: {}",
                score.mean_reciprocal_rank
            );
        }
    }

    #[test]
    fn tools_of_a_larger_catalog_are_found_by_meaning() {
        let Some(folder) = testkit::shared("bench/gateway") else {
            return;
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let source = source_from_file(serde_json::from_str(&read("catalog_1000.json")).unwrap());
        let queries: Vec<Query> = serde_json::from_str(&read("queries.json")).unwrap();
        let score = score(&[source], &queries);
        assert!(score.recall_at_5 >= 0.84, "{}", score.recall_at_5);
        assert!(score.mean_reciprocal_rank >= 0.77, "{}", score.mean_reciprocal_rank);
    }
}
