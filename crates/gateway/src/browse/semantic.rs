//! Ranking by meaning beside ranking by words. The vectors come from outside through a trait; the two rankings are fused by
//! rank, so that their scores need no common scale.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

/// Turns text into a vector. Vectors of one embedder have one length; their length as vectors does not matter.
pub trait Embedder: Send + Sync {
    fn embed(&self, text: &str) -> Vec<f32>;
}

impl std::fmt::Debug for dyn Embedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Embedder")
    }
}

/// One normalised vector per definition, in the order of the shelf it was made for.
#[derive(Clone)]
pub struct VectorTable {
    embedder: Arc<dyn Embedder>,
    dimensions: usize,
    values: Vec<f32>,
    /// By text, so that a rebuild embeds only what is new.
    row_of: HashMap<String, u32>,
    rows: Vec<u32>,
}

impl std::fmt::Debug for VectorTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("VectorTable")
            .field("dimensions", &self.dimensions)
            .field("rows", &self.rows.len())
            .finish()
    }
}

impl VectorTable {
    /// Embeds `texts`, taking from `previous` what it already holds.
    pub fn build(
        embedder: Arc<dyn Embedder>,
        texts: impl Iterator<Item = String>,
        previous: Option<&VectorTable>,
    ) -> VectorTable {
        let mut table = VectorTable {
            embedder,
            dimensions: 0,
            values: Vec::new(),
            row_of: HashMap::new(),
            rows: Vec::new(),
        };
        for text in texts {
            let row = match table.row_of.get(&text) {
                Some(row) => *row,
                None => {
                    let known = previous.and_then(|previous| previous.vector(*previous.row_of.get(&text)?));
                    let vector = known.map_or_else(|| normalised(table.embedder.embed(&text)), <[f32]>::to_vec);
                    table.push(text, vector)
                }
            };
            table.rows.push(row);
        }
        table
    }

    fn push(&mut self, text: String, mut vector: Vec<f32>) -> u32 {
        if self.values.is_empty() {
            self.dimensions = vector.len();
        }
        vector.resize(self.dimensions, 0.0);
        let row = self.row_of.len() as u32;
        self.values.extend_from_slice(&vector);
        self.row_of.insert(text, row);
        row
    }

    fn vector(&self, row: u32) -> Option<&[f32]> {
        let start = row as usize * self.dimensions;
        self.values.get(start..start + self.dimensions)
    }

    /// Cosine similarity of the query to every definition.
    pub(crate) fn similarities(&self, query: &str) -> Vec<f32> {
        let query = normalised(self.embedder.embed(query));
        let similarity = |row: &u32| {
            let vector = self.vector(*row).unwrap_or_default();
            dot(vector, &query)
        };
        self.rows.iter().map(similarity).collect()
    }
}

/// Eight sums side by side, which the compiler turns into vector instructions; one sum would have to keep its order.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (left_parts, right_parts) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f32 = left_parts
        .remainder()
        .iter()
        .zip(right_parts.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in left_parts.zip(right_parts) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
    vector
}

/// The usual constant of reciprocal rank fusion.
const FUSION_CONSTANT: f32 = 60.0;
/// How deep each ranking is looked at.
const FUSION_DEPTH: usize = 100;

/// Adds up reciprocal ranks of both rankings; zero for what is in the head of neither.
pub(crate) fn fuse(lexical: &[f32], semantic: &[f32]) -> Vec<f32> {
    let mut fused = vec![0.0; lexical.len()];
    for scores in [lexical, semantic] {
        let mut ranked: Vec<u32> = (0..scores.len() as u32)
            .filter(|document| scores[*document as usize] > 0.0)
            .collect();
        let by_score = |left: &u32, right: &u32| {
            scores[*right as usize]
                .total_cmp(&scores[*left as usize])
                .then_with(|| left.cmp(right))
        };
        if ranked.len() > FUSION_DEPTH {
            ranked.select_nth_unstable_by(FUSION_DEPTH, by_score);
            ranked.truncate(FUSION_DEPTH);
        }
        ranked.sort_unstable_by(by_score);
        for (rank, document) in ranked.into_iter().enumerate() {
            fused[document as usize] += 1.0 / (FUSION_CONSTANT + 1.0 + rank as f32);
        }
    }
    fused
}
