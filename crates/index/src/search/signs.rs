//! The approximate scan for large trees: one bit of each dimension says which vectors are worth comparing exactly.
//!
//! A vector's signs take 32 bytes instead of 128. They lie in blocks of 32 vectors, the first byte of all, then the second of all, so
//! that one instruction looks up four dimensions of 32 vectors at once in a table of sixteen sums made from the question.
//! What comes out estimates the cosine; the best [`REFINED`] are then compared exactly. Signs need no training and depend on their
//! vector alone, so an index that was updated is the same as one made anew.

use super::vector::{Asked, PACKED};

/// Chunks from which on the signs are scanned first. Vectors of Linux 6.1 (1,136,097 chunks; 210 questions, least time on one core):
///
/// | chunks | every vector | signs, then the best exactly |
/// |---|---|---|
/// | 100,000 | 0.7 ms | 0.9 ms |
/// | 300,000 | 2.5 ms | 1.7 ms |
/// | 1,000,000 | 11.7 ms | 4.1 ms |
///
/// Both cost the same at about 200,000; at 400,000 comparing every vector takes most of the five milliseconds that a whole search
/// may take. In between, signs are not worth the 32 bytes a chunk that they take on disk until here.
pub(crate) const APPROXIMATE_FROM: usize = 250_000;

/// Chunks that are compared exactly after the scan of the signs. Of the ten nearest of a million they hold 99.4 in a hundred; 500
/// hold 98.8, 250 hold 97.6. (Without weighing the question, as the distance of Hamming does, 1000 hold 94.8; the first 64 dimensions in four
/// bits each, which are as many bytes, 93.3.)
pub(crate) const REFINED: usize = 1000;

/// Vectors of a block.
const LANES: usize = 32;
/// Bytes of a vector's signs, eight dimensions each.
const BYTES: usize = super::vector::DIMENSIONS / 8;
/// Bytes of a block.
pub(crate) const BLOCK: usize = LANES * BYTES;
/// Largest entry of a table: two of them still fit into a byte.
const LARGEST: f32 = 127.0;
/// The cosine over what the signs alone say of it, for numbers that are distributed normally: √(π/2).
const SLOPE: f32 = 1.253;

/// Blocks that hold the signs of so many vectors.
pub(crate) fn blocks(vectors: usize) -> usize {
    vectors.div_ceil(LANES)
}

/// The signs of vectors that are added one after the other, in blocks.
#[derive(Default)]
pub(crate) struct Signs {
    bytes: Vec<u8>,
    count: usize,
}

impl Signs {
    /// Adds packed vectors.
    pub(crate) fn add(&mut self, packed: &[u8]) {
        for vector in packed.as_chunks::<PACKED>().0 {
            let lane = self.count % LANES;
            if lane == 0 {
                self.bytes.resize(self.bytes.len() + BLOCK, 0);
            }
            let start = self.bytes.len() - BLOCK;
            let places = self.bytes[start..].iter_mut().skip(lane).step_by(LANES);
            for (place, byte) in places.zip(signs(vector)) {
                *place = byte;
            }
            self.count += 1;
        }
    }

    /// Whole blocks; what is behind the last vector is zero.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Hands over the blocks that are full, for a writer that does not hold them all.
    pub(crate) fn take_full(&mut self) -> std::vec::Drain<'_, u8> {
        let begun = if self.count.is_multiple_of(LANES) { 0 } else { BLOCK };
        self.bytes.drain(..self.bytes.len() - begun)
    }
}

/// One bit for each dimension, set where it is negative. Byte `2m` has dimensions `8m..8m + 8`, byte `2m + 1` those 128 further.
fn signs(vector: &[u8; PACKED]) -> [u8; BYTES] {
    let mut signs = [0; BYTES];
    for (pair, eight) in signs.as_chunks_mut::<2>().0.iter_mut().zip(vector.as_chunks::<8>().0) {
        let steps = u64::from_le_bytes(*eight);
        *pair = [lowest_bits(steps >> 3), lowest_bits(steps >> 7)];
    }
    signs
}

/// The lowest bit of each byte, side by side: the factor moves bit `8i` to bit `56 + i`.
fn lowest_bits(bytes: u64) -> u8 {
    ((bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// A question as sums over four dimensions, for each combination of their signs.
pub(crate) struct Estimate {
    /// For each byte of a vector's signs: of its low half, of its high half. Scaled to `0..=127`.
    tables: [[[u8; 16]; 2]; BYTES],
    /// From a sum of entries to a cosine.
    factor: f32,
    surplus: f32,
}

impl Estimate {
    pub(crate) fn new(asked: &Asked) -> Estimate {
        let steps = asked.steps();
        // As the signs lie: see `signs`.
        let first = |byte: usize, half: usize| (byte / 2) * 8 + (byte % 2) * PACKED + half * 4;
        let span = |byte: usize, half: usize| {
            let four = &steps[first(byte, half)..first(byte, half) + 4];
            four.iter().map(|step| i32::from(step.unsigned_abs())).sum::<i32>()
        };
        let spans = (0..BYTES).flat_map(|byte| [span(byte, 0), span(byte, 1)]);
        let (widest, all) = spans.fold((1, 0), |(widest, all), span| (widest.max(span), all + span));
        let scale = LARGEST / (2 * widest) as f32;
        let tables = std::array::from_fn(|byte| {
            std::array::from_fn(|half| {
                std::array::from_fn(|signs| {
                    let four = &steps[first(byte, half)..first(byte, half) + 4];
                    let signed = four.iter().enumerate().map(|(at, &step)| match signs >> at & 1 {
                        0 => i32::from(step),
                        _ => -i32::from(step),
                    });
                    ((signed.sum::<i32>() + span(byte, half)) as f32 * scale).round() as u8
                })
            })
        });
        let to_cosine = SLOPE / (asked.norm() * (super::vector::DIMENSIONS as f32).sqrt());
        Estimate {
            tables,
            factor: to_cosine / scale,
            surplus: all as f32 * to_cosine,
        }
    }

    /// The estimated cosine of each vector whose signs are in these blocks, into `scores`.
    pub(crate) fn compare(&self, signs: &[u8], scores: &mut [f32]) {
        let blocks = signs.as_chunks::<BLOCK>().0;
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            for (block, scores) in blocks.iter().zip(scores.chunks_mut(LANES)) {
                #[expect(unsafe_code, reason = "the processor was just asked whether it has the feature")]
                // SAFETY: AVX2 is there.
                let sums = unsafe { self.sums_avx2(block) };
                self.put(&sums, scores);
            }
            return;
        }
        for (block, scores) in blocks.iter().zip(scores.chunks_mut(LANES)) {
            self.put(&self.sums_plain(block), scores);
        }
    }

    fn put(&self, sums: &[u16; LANES], scores: &mut [f32]) {
        for (score, &sum) in scores.iter_mut().zip(sums) {
            *score = f32::from(sum) * self.factor - self.surplus;
        }
    }

    fn sums_plain(&self, block: &[u8; BLOCK]) -> [u16; LANES] {
        let mut sums = [0; LANES];
        for ([low, high], bytes) in self.tables.iter().zip(block.as_chunks::<LANES>().0) {
            for (sum, &byte) in sums.iter_mut().zip(bytes) {
                *sum += u16::from(low[usize::from(byte & 15)]) + u16::from(high[usize::from(byte >> 4)]);
            }
        }
        sums
    }

    /// The same sums: sixteen entries are a register, and looking up 32 of them at once one instruction.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sums_avx2(&self, block: &[u8; BLOCK]) -> [u16; LANES] {
        use std::arch::x86_64::{
            __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_and_si256,
            _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256,
            _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
        };
        #[target_feature(enable = "avx2")]
        fn load(bytes: &[u8; LANES]) -> __m256i {
            #[expect(unsafe_code, reason = "there is no safe load")]
            // SAFETY: the array has the 32 bytes that are read, and the load asks for no alignment.
            unsafe {
                _mm256_loadu_si256(bytes.as_ptr().cast())
            }
        }
        #[target_feature(enable = "avx2")]
        fn table(entries: &[u8; 16]) -> __m256i {
            #[expect(unsafe_code, reason = "there is no safe load")]
            // SAFETY: the array has the 16 bytes that are read, and the load asks for no alignment.
            let entries: __m128i = unsafe { _mm_loadu_si128(entries.as_ptr().cast()) };
            _mm256_broadcastsi128_si256(entries)
        }
        let (half, low_byte) = (_mm256_set1_epi8(15), _mm256_set1_epi16(255));
        // Sums of the vectors with even and with odd numbers.
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for ([low, high], bytes) in self.tables.iter().zip(block.as_chunks::<LANES>().0) {
            let bytes = load(bytes);
            let lower = _mm256_shuffle_epi8(table(low), _mm256_and_si256(bytes, half));
            let upper = _mm256_shuffle_epi8(table(high), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half));
            let both = _mm256_add_epi8(lower, upper);
            even = _mm256_add_epi16(even, _mm256_and_si256(both, low_byte));
            odd = _mm256_add_epi16(odd, _mm256_srli_epi16::<8>(both));
        }
        let (mut evens, mut odds) = ([0u16; LANES / 2], [0u16; LANES / 2]);
        #[expect(unsafe_code, reason = "there is no safe store")]
        // SAFETY: each array has the 32 bytes that are written, and the store asks for no alignment.
        unsafe {
            _mm256_storeu_si256(evens.as_mut_ptr().cast(), even);
            _mm256_storeu_si256(odds.as_mut_ptr().cast(), odd);
        }
        std::array::from_fn(|at| if at % 2 == 0 { evens[at / 2] } else { odds[at / 2] })
    }
}

#[cfg(test)]
mod tests {
    use super::super::vector::{DIMENSIONS, pack};
    use super::*;

    fn sample(seed: u32) -> [f32; DIMENSIONS] {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        })
    }

    #[test]
    fn a_bit_is_the_sign_of_its_dimension() {
        let vector = sample(3);
        let packed = pack(&vector);
        let signs = signs(&packed);
        for dimension in 0..DIMENSIONS {
            let within = dimension % PACKED;
            let byte = within / 8 * 2 + dimension / PACKED;
            let step = match dimension < PACKED {
                true => (packed[within] << 4) as i8 >> 4,
                false => packed[within] as i8 >> 4,
            };
            assert_eq!(
                signs[byte] >> (dimension % 8) & 1 == 1,
                step < 0,
                "dimension {dimension}"
            );
        }
    }

    /// Added at once or one by one, in the middle of a block or not.
    #[test]
    fn blocks_depend_on_the_vectors_alone() {
        let packed: Vec<u8> = (0..77).flat_map(|seed| pack(&sample(seed))).collect();
        let mut once = Signs::default();
        once.add(&packed);
        let mut parts = Signs::default();
        let (left, right) = packed.split_at(40 * PACKED);
        parts.add(left);
        parts.add(&[]);
        right.chunks(PACKED).for_each(|vector| parts.add(vector));
        assert_eq!(once.bytes(), parts.bytes());
        assert_eq!(once.bytes().len(), blocks(77) * BLOCK);
    }

    #[test]
    fn wide_registers_count_the_same() {
        let mut signs = Signs::default();
        (0..32).for_each(|seed| signs.add(&pack(&sample(seed))));
        let block = signs.bytes().as_chunks::<BLOCK>().0[0];
        for asked in [sample(7), [1.0; DIMENSIONS], [-1.0; DIMENSIONS]] {
            let estimate = Estimate::new(&Asked::new(&asked).unwrap());
            let (mut scores, mut plain) = ([0.0; LANES], [1.0; LANES]);
            estimate.compare(&block, &mut scores);
            estimate.put(&estimate.sums_plain(&block), &mut plain);
            assert_eq!(scores, plain);
        }
    }

    /// Of the ten nearest of some texts to each question, how many are in the first hundredth by estimate; and the mean error of the
    /// estimates.
    fn kept(texts: &[&str], questions: &[&str]) -> (usize, f32) {
        use super::super::embed::{Embedder, built_in};
        let packed: Vec<u8> = built_in().embed(texts).unwrap().iter().flat_map(pack).collect();
        let squares: Vec<zerocopy::little_endian::U16> = packed
            .chunks_exact(PACKED)
            .map(|vector| zerocopy::little_endian::U16::new(super::super::vector::squares(vector) as u16))
            .collect();
        let mut signs = Signs::default();
        signs.add(&packed);
        let nearest = |scores: &[f32], count: usize| {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]));
            order.truncate(count);
            order
        };
        let (mut kept, mut off) = (0, 0f32);
        for vector in built_in().embed(questions).unwrap() {
            let asked = Asked::new(&vector).unwrap();
            let (mut exact, mut estimated) = (vec![0.0; texts.len()], vec![0.0; texts.len()]);
            asked.compare(&packed, &squares, &mut exact);
            Estimate::new(&asked).compare(signs.bytes(), &mut estimated);
            let errors = exact
                .iter()
                .zip(&estimated)
                .map(|(exact, estimated)| (exact - estimated).abs());
            off += errors.sum::<f32>() / texts.len() as f32 / questions.len() as f32;
            let likely = nearest(&estimated, texts.len() / 100);
            let best = nearest(&exact, 10);
            kept += best.iter().filter(|chunk| likely.contains(chunk)).count();
        }
        (kept, off)
    }

    /// Estimates are near the cosines. The texts are generated: each has words of one of some topics and a few of any, so that a
    /// question of a topic's words has near and far neighbours, as questions about code have.
    #[test]
    fn the_nearest_are_among_the_likely() {
        const VOCABULARY: &str = "read write delete sort encrypt parse compress validate copy merge render send count find resize \
            rename schedule cancel translate lock invoice image password temperature sample json matrix account log graph packet \
            email calendar database row audio url cart date tree header configuration disk memory network queue customer command \
            line parallel timeout name recursive shutdown browser backup test token signature tax price order stock shipping \
            refund window button menu colour font layout pixel camera light shadow texture mesh vector angle distance route map \
            station train ticket seat flight hotel room guest weather rain wind sensor motor valve pump pressure voltage battery \
            charge signal filter noise frequency tone song album artist playlist volume speaker microphone voice word sentence \
            grammar dictionary page chapter author library loan member vote election party law court judge case evidence crime \
            police fire doctor patient nurse drug dose allergy blood heart bone muscle cell gene protein virus plant seed soil \
            water river lake fish bird nest egg farm milk bread oven recipe spoon plate kitchen garden";
        let words: Vec<&str> = VOCABULARY.split_whitespace().collect();
        let mut state = 1u64;
        let mut pick = |count: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % count
        };
        let topics: Vec<Vec<&str>> = (0..600)
            .map(|_| (0..12).map(|_| words[pick(words.len())]).collect())
            .collect();
        let mut text = |topic: &[&str], own: usize, any: usize| {
            let mut text: Vec<&str> = (0..own).map(|_| topic[pick(topic.len())]).collect();
            text.extend((0..any).map(|_| words[pick(words.len())]));
            text.join(" ")
        };
        let texts: Vec<String> = (0..6000)
            .map(|number| text(&topics[number % topics.len()], 8, 8))
            .collect();
        let questions: Vec<String> = topics.iter().take(30).map(|topic| text(topic, 4, 1)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        let (kept, off) = kept(&texts, &questions);
        assert!(kept >= 288, "{kept} of 300");
        assert!(off < 0.05, "{off}");
    }

    /// The same for functions that people wrote and questions that they asked.
    #[test]
    fn the_nearest_of_cosqa_are_among_the_likely() {
        let Some(folder) = testkit::shared("bench/search") else {
            return;
        };
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let functions: std::collections::BTreeMap<String, u64> =
            serde_json::from_str(&read("code_idx_map.txt")).unwrap();
        let questions: Vec<serde_json::Value> = serde_json::from_str(&read("cosqa-dev.json")).unwrap();
        let texts: Vec<&str> = functions.keys().map(String::as_str).collect();
        let asked = questions.iter().step_by(10);
        let asked: Vec<&str> = asked.map(|question| question["doc"].as_str().unwrap()).collect();
        assert_eq!(asked.len(), 50);
        let (kept, off) = kept(&texts, &asked);
        assert!(kept >= 490, "{kept} of 500");
        assert!(off < 0.05, "{off}");
    }
}
