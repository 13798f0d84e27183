//! Fits the weights of the token estimate by least squares: `cargo run --release -p wire --example calibrate_tokens -- FILE…`.
//! Every file is cut into pieces of about 2 kB; JSON files are also encoded as GCX1 and GCF, which is what is estimated.

use wire::tokens::{FEATURES, Tokenizer, features};

fn main() {
    let mut pieces: Vec<String> = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let json = text
            .find(['[', '{'])
            .and_then(|at| serde_json::from_str::<serde_json::Value>(&text[at..]).ok());
        match json {
            Some(value) => {
                pieces.push(value.to_string());
                pieces.extend(wire::gcx::to_string("calibrate", &value).ok());
                pieces.extend(wire::gcf::to_string(&value).ok());
            }
            None => pieces.extend(
                text.as_bytes()
                    .chunks(2048)
                    .map(|chunk| String::from_utf8_lossy(chunk).into_owned()),
            ),
        }
    }
    for tokenizer in Tokenizer::ALL {
        let rows: Vec<([f64; 8], f64)> = pieces
            .iter()
            .map(|piece| (features(piece), tokenizer.count(piece) as f64))
            .collect();
        let weights = least_squares(&rows);
        eprintln!("{}: {weights:.3?} for {FEATURES:?}", tokenizer.name());
    }
}

/// Solves the normal equations with relative weighting: being off by a tenth is as bad for a short piece as for a long one.
fn least_squares(rows: &[([f64; 8], f64)]) -> [f64; 8] {
    let mut system = [[0.0; 9]; 8];
    for (x, y) in rows {
        let weight = 1.0 / (y * y).max(1.0);
        for i in 0..8 {
            for j in 0..8 {
                system[i][j] += weight * x[i] * x[j];
            }
            system[i][8] += weight * x[i] * y;
        }
    }
    for pivot in 0..8 {
        system[pivot][pivot] += 1e-6;
        for row in 0..8 {
            if row != pivot {
                let factor = system[row][pivot] / system[pivot][pivot];
                let above = system[pivot];
                for (cell, over) in system[row].iter_mut().zip(above).skip(pivot) {
                    *cell -= factor * over;
                }
            }
        }
    }
    std::array::from_fn(|at| system[at][8] / system[at][at])
}
