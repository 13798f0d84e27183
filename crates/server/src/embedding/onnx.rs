//! An embedding model in an ONNX file, run here: nothing is downloaded and nothing is sent.
//!
//! ```text
//! LACON_EMBEDDING_ONNX   directory/model.onnx   beside it tokenizer.json or vocab.txt, and config.json if it is there
//! ```
//!
//! The model takes `input_ids` and, if it wants them, `attention_mask` and `token_type_ids`. Where it gives a vector for each token
//! their mean is taken. Texts are run in the order of their lengths, so that little but text is computed.

use std::borrow::Cow;
use std::path::Path;

use anyhow::{Context, bail};
use index::search::{DIMENSIONS, EmbedError, Embedder};
use rten::{Model, NodeId, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

use super::word_piece::WordPiece;

/// Texts that are run at once.
const BATCH: usize = 16;
/// Most tokens of a text, unless the model has room for fewer.
const MOST_TOKENS: usize = 256;

/// A model that was loaded.
pub(super) struct OnnxModel {
    /// What was read: the name and a hash of the bytes, so that another model of the same name is told apart.
    name: String,
    model: Model,
    tokenizer: WordPiece,
    most_tokens: usize,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
}

#[derive(Clone, Copy)]
enum Input {
    Tokens,
    Mask,
    Types,
}

impl OnnxModel {
    pub(super) fn load(path: &Path) -> anyhow::Result<OnnxModel> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let hash = blake3::hash(&bytes).to_hex();
        let directory = path.parent().unwrap_or(Path::new("."));
        let tokenizer = WordPiece::beside(directory)?;
        let model =
            Model::load_file(path).with_context(|| format!("{} is no model that can be run", path.display()))?;
        let mut inputs = Vec::new();
        for &input in model.input_ids() {
            let name = model.node_info(input).and_then(|node| node.name().map(str::to_string));
            inputs.push((
                input,
                match name.as_deref().unwrap_or_default() {
                    "input_ids" => Input::Tokens,
                    "attention_mask" => Input::Mask,
                    "token_type_ids" => Input::Types,
                    other => bail!("{} wants an input that is not known: `{other}`", path.display()),
                },
            ));
        }
        let Some(&output) = model.output_ids().first() else {
            bail!("{} has no output", path.display());
        };
        let config = std::fs::read_to_string(directory.join("config.json")).unwrap_or_default();
        let config: serde_json::Value = serde_json::from_str(&config).unwrap_or_default();
        let room = config["max_position_embeddings"].as_u64().unwrap_or(u64::MAX);
        let onnx = OnnxModel {
            name: format!("{}#{}", path.file_name().unwrap_or_default().display(), &hash[..16]),
            model,
            tokenizer,
            most_tokens: MOST_TOKENS.min(usize::try_from(room).unwrap_or(MOST_TOKENS)).max(2),
            inputs,
            output,
        };
        // What cannot embed one word is found out now, not in the middle of an index.
        onnx.run(&[onnx.tokenizer.numbers("word", onnx.most_tokens)])
            .with_context(|| format!("{} does not run", path.display()))?;
        Ok(onnx)
    }

    /// The vectors of texts, given by the numbers of their tokens.
    fn run(&self, texts: &[Vec<i32>]) -> anyhow::Result<Vec<[f32; DIMENSIONS]>> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let shape = [texts.len(), longest];
        let (mut tokens, mut mask) = (NdTensor::<i32, 2>::zeros(shape), NdTensor::<i32, 2>::zeros(shape));
        for (row, text) in texts.iter().enumerate() {
            for (column, &number) in text.iter().enumerate() {
                tokens[[row, column]] = number;
                mask[[row, column]] = 1;
            }
        }
        let types = NdTensor::<i32, 2>::zeros(shape);
        let inputs: Vec<(NodeId, ValueOrView)> = self
            .inputs
            .iter()
            .map(|&(node, input)| {
                let value = match input {
                    Input::Tokens => tokens.view(),
                    Input::Mask => mask.view(),
                    Input::Types => types.view(),
                };
                (node, value.into())
            })
            .collect();
        let mut outputs = self.model.run(inputs, &[self.output], None)?;
        let output: Tensor<f32> = outputs.remove(0).try_into()?;
        let mut vectors = vec![[0.0; DIMENSIONS]; texts.len()];
        match *output.shape() {
            [rows, columns, _] if rows == texts.len() && columns == longest => {
                let output: NdTensor<f32, 3> = output.try_into().map_err(|_| anyhow::anyhow!("the shape changed"))?;
                for (row, (text, vector)) in texts.iter().zip(&mut vectors).enumerate() {
                    // The length does not matter, so the sum is as good as the mean.
                    for column in 0..text.len() {
                        let width = output.size(2).min(DIMENSIONS);
                        for (at, sum) in vector[..width].iter_mut().enumerate() {
                            *sum += output[[row, column, at]];
                        }
                    }
                }
            }
            [rows, width] if rows == texts.len() => {
                let output: NdTensor<f32, 2> = output.try_into().map_err(|_| anyhow::anyhow!("the shape changed"))?;
                for (row, vector) in vectors.iter_mut().enumerate() {
                    for (at, value) in vector[..width.min(DIMENSIONS)].iter_mut().enumerate() {
                        *value = output[[row, at]];
                    }
                }
            }
            ref other => bail!("the model gives a tensor of {other:?}, which is no vector for each text or token"),
        }
        Ok(vectors)
    }
}

impl Embedder for OnnxModel {
    fn model(&self) -> Cow<'_, str> {
        self.name.as_str().into()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<[f32; DIMENSIONS]>, EmbedError> {
        let mut numbered: Vec<(usize, Vec<i32>)> = texts
            .iter()
            .map(|text| self.tokenizer.numbers(text, self.most_tokens))
            .enumerate()
            .collect();
        numbered.sort_by_key(|(_, numbers)| numbers.len());
        let mut vectors = vec![[0.0; DIMENSIONS]; texts.len()];
        for batch in numbered.chunks_mut(BATCH) {
            let tokens: Vec<Vec<i32>> = batch.iter_mut().map(|(_, numbers)| std::mem::take(numbers)).collect();
            let found = self.run(&tokens).map_err(|error| EmbedError(format!("{error:#}")))?;
            for ((at, _), vector) in batch.iter().zip(found) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny-bert")
    }

    /// The model was trained and run elsewhere; what came out there must come out here.
    #[test]
    fn tokens_and_vectors_are_those_of_the_model() {
        let onnx = OnnxModel::load(&fixture().join("model.onnx")).unwrap();
        let samples: Vec<serde_json::Value> =
            serde_json::from_str(&std::fs::read_to_string(fixture().join("samples.json")).unwrap()).unwrap();
        assert_eq!(samples.len(), 6);
        let texts: Vec<&str> = samples.iter().map(|sample| sample["text"].as_str().unwrap()).collect();
        for (sample, text) in samples.iter().zip(&texts) {
            let ids: Vec<i64> = onnx.tokenizer.numbers(text, 128).into_iter().map(i64::from).collect();
            assert_eq!(serde_json::json!(ids), sample["ids"], "{text}");
        }
        for (sample, vector) in samples.iter().zip(onnx.embed(&texts).unwrap()) {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            let expected = sample["vector"].as_array().unwrap();
            assert_eq!(expected.len(), 48);
            for (ours, theirs) in vector.iter().zip(expected) {
                assert!(
                    (ours / length - theirs.as_f64().unwrap() as f32).abs() < 1e-3,
                    "{}",
                    sample["text"]
                );
            }
            assert!(vector[48..].iter().all(|value| *value == 0.0));
        }
    }

    #[test]
    fn a_long_text_is_cut_where_the_model_ends() {
        let onnx = OnnxModel::load(&fixture().join("model.onnx")).unwrap();
        assert_eq!(onnx.most_tokens, 128);
        let long = "read a file and close it ".repeat(5_000);
        let hostile = format!(
            "{}\u{0}\u{fffd}\u{301}{}",
            "x".repeat(100_000),
            "\u{4e2d}".repeat(1_000)
        );
        let vectors = onnx.embed(&[&long, "", &hostile, "read a file"]).unwrap();
        assert!(vectors.iter().all(|vector| vector.iter().any(|value| *value != 0.0)));
        assert_eq!(vectors[3], onnx.embed(&["read a file"]).unwrap()[0]);
    }

    #[test]
    fn what_is_no_model_is_said_so() {
        let directory = tempfile::tempdir().unwrap();
        let model = directory.path().join("model.onnx");
        let problem = |path: &Path| format!("{:#}", OnnxModel::load(path).err().unwrap());
        assert!(problem(&model).starts_with("cannot read "), "{}", problem(&model));
        std::fs::write(&model, "no model").unwrap();
        assert!(problem(&model).contains("no tokenizer"), "{}", problem(&model));
        std::fs::copy(
            fixture().join("tokenizer.json"),
            directory.path().join("tokenizer.json"),
        )
        .unwrap();
        assert!(
            problem(&model).contains("is no model that can be run"),
            "{}",
            problem(&model)
        );
        std::fs::write(
            directory.path().join("tokenizer.json"),
            "{\"model\":{\"type\":\"BPE\"}}",
        )
        .unwrap();
        assert!(problem(&model).contains("WordPiece"), "{}", problem(&model));
    }
}
