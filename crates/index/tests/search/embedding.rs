//! The embedder against what the Python tokenizer that it was trained with makes of the same texts.
//!
//! `tests/data/embedding.json` was written by `models/code-embedding/vectors.py`: texts, their bags of tokens and their vectors.

use index::search::{DIMENSIONS, Embedder, built_in};

#[derive(serde::Deserialize)]
struct Sample {
    text: String,
    words: Vec<String>,
    vector: Vec<f32>,
}

#[derive(serde::Deserialize)]
struct Samples {
    texts: Vec<Sample>,
}

fn samples() -> Vec<Sample> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/embedding.json");
    let samples: Samples = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(samples.texts.len(), 12);
    samples.texts
}

#[test]
fn words_are_those_of_the_training() {
    for sample in samples() {
        assert_eq!(
            index::search::words(&sample.text)[..sample.words.len()],
            sample.words,
            "{}",
            sample.text
        );
    }
}

#[test]
fn vectors_are_those_of_the_training() {
    let samples = samples();
    let texts: Vec<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
    for (sample, vector) in samples.iter().zip(built_in().embed(&texts).unwrap()) {
        assert_eq!(sample.vector.len(), DIMENSIONS);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-9);
        for (ours, theirs) in vector.iter().zip(&sample.vector) {
            assert!(
                (ours / length - theirs).abs() < 1e-4,
                "{}: {ours} {theirs}",
                sample.text
            );
        }
    }
}
