//! Vectors of a text in 128 bytes: 256 dimensions of four bits, compared by exact integer products.
//!
//! Four bits for 256 dimensions keep more than eight bits for the first 128 of them: MRR .451 against .422 on CoSQA's
//! development questions, .453 without any rounding. A dimension is rounded to -7..7 at [`CLIP`] times the vector's mean size.

/// Dimensions of a vector.
pub const DIMENSIONS: usize = 256;
/// Bytes of a packed vector: dimension `i` is the low half of byte `i`, dimension `i + 128` its high half.
pub(crate) const PACKED: usize = DIMENSIONS / 2;

/// What is rounded to the largest step, in units of the root mean square.
const CLIP: f32 = 2.5;
/// The largest step.
const STEPS: f32 = 7.0;

/// A question's vector, unpacked.
pub(crate) struct Asked {
    low: [i8; PACKED],
    high: [i8; PACKED],
    norm: f32,
}

/// Rounds and packs; all zeros for a text without a known word.
pub(crate) fn pack(vector: &[f32; DIMENSIONS]) -> [u8; PACKED] {
    let steps = rounded(vector);
    let mut packed = [0; PACKED];
    for (at, byte) in packed.iter_mut().enumerate() {
        *byte = (steps[at] as u8 & 15) | (steps[at + PACKED] as u8) << 4;
    }
    packed
}

fn rounded(vector: &[f32; DIMENSIONS]) -> [i8; DIMENSIONS] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the processor was just asked whether it has the feature")]
        // SAFETY: AVX2 is there.
        return unsafe { rounded_avx2(vector) };
    }
    rounded_plain(vector)
}

/// The same loop, compiled for a processor that rounds without a call.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rounded_avx2(vector: &[f32; DIMENSIONS]) -> [i8; DIMENSIONS] {
    rounded_plain(vector)
}

#[inline(always)]
fn rounded_plain(vector: &[f32; DIMENSIONS]) -> [i8; DIMENSIONS] {
    let squares: f32 = vector.iter().map(|value| value * value).sum();
    let mut steps = [0; DIMENSIONS];
    if squares > 0.0 && squares.is_finite() {
        let scale = STEPS / (CLIP * (squares / DIMENSIONS as f32).sqrt());
        for (step, value) in steps.iter_mut().zip(vector) {
            *step = (value * scale).round().clamp(-STEPS, STEPS) as i8;
        }
    }
    steps
}

/// Sum of the squares of a packed vector.
pub(crate) fn squares(packed: &[u8]) -> u32 {
    let square = |step: i8| u32::from(step.unsigned_abs()).pow(2);
    packed.iter().map(|&byte| square(low(byte)) + square(high(byte))).sum()
}

fn low(byte: u8) -> i8 {
    ((byte << 4) as i8) >> 4
}

fn high(byte: u8) -> i8 {
    (byte as i8) >> 4
}

impl Asked {
    /// The vector of a question; `None` where it is zero.
    pub(crate) fn new(vector: &[f32; DIMENSIONS]) -> Option<Asked> {
        let largest = vector.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return None;
        }
        let mut asked = Asked {
            low: [0; PACKED],
            high: [0; PACKED],
            norm: 0.0,
        };
        for (at, value) in vector.iter().enumerate() {
            let step = (value / largest * 127.0).round() as i8;
            asked.norm += f32::from(step) * f32::from(step);
            match at < PACKED {
                true => asked.low[at] = step,
                false => asked.high[at - PACKED] = step,
            }
        }
        asked.norm = asked.norm.sqrt();
        Some(asked)
    }

    /// The steps of all dimensions.
    pub(crate) fn steps(&self) -> [i8; DIMENSIONS] {
        std::array::from_fn(|at| match at < PACKED {
            true => self.low[at],
            false => self.high[at - PACKED],
        })
    }

    /// The length of the vector that the steps are.
    pub(crate) fn norm(&self) -> f32 {
        self.norm
    }

    /// The cosine with each packed vector, whose squares are given, into `scores`.
    pub(crate) fn compare(&self, packed: &[u8], squares: &[zerocopy::little_endian::U16], scores: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the processor was just asked whether it has the feature")]
            // SAFETY: AVX2 is there.
            unsafe {
                self.compare_avx2(packed, squares, scores);
            }
            return;
        }
        self.compare_plain(packed, squares, scores);
    }

    /// The same sums, 32 bytes at a time. Steps are taken as 0..15 instead of -8..7, because the instruction that multiplies bytes wants one
    /// side without a sign; eight times the sum of the question's steps is then too much.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn compare_avx2(&self, packed: &[u8], squares: &[zerocopy::little_endian::U16], scores: &mut [f32]) {
        use std::arch::x86_64::{
            __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi16, _mm256_and_si256,
            _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
            _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_srli_epi16,
            _mm256_xor_si256,
        };
        const WIDTH: usize = 32;
        #[target_feature(enable = "avx2")]
        fn load<T>(bytes: &[T; WIDTH]) -> __m256i {
            const { assert!(size_of::<T>() == 1) };
            #[expect(unsafe_code, reason = "there is no safe load")]
            // SAFETY: the array has the 32 bytes that are read, and the load asks for no alignment.
            unsafe {
                _mm256_loadu_si256(bytes.as_ptr().cast())
            }
        }
        let (low, _) = self.low.as_chunks::<WIDTH>();
        let (high, _) = self.high.as_chunks::<WIDTH>();
        let asked: [(__m256i, __m256i); PACKED / WIDTH] = std::array::from_fn(|at| (load(&low[at]), load(&high[at])));
        let steps = self.low.iter().chain(&self.high).map(|step| i32::from(*step));
        let surplus = 8 * steps.sum::<i32>();
        let (signs, half, ones) = (_mm256_set1_epi8(-0x78), _mm256_set1_epi8(15), _mm256_set1_epi16(1));
        for ((vector, square), score) in packed.chunks_exact(PACKED).zip(squares).zip(scores) {
            let (pieces, _) = vector.as_chunks::<WIDTH>();
            // Eight products of at most 15 · 127 · 2 fit into sixteen bits.
            let mut sums = _mm256_setzero_si256();
            for (piece, (low, high)) in pieces.iter().zip(&asked) {
                let bytes = _mm256_xor_si256(load(piece), signs);
                let lower = _mm256_maddubs_epi16(_mm256_and_si256(bytes, half), *low);
                let upper = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half), *high);
                sums = _mm256_add_epi16(sums, _mm256_add_epi16(lower, upper));
            }
            let eight = _mm256_madd_epi16(sums, ones);
            let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            *score = self.cosine(_mm_cvtsi128_si32(one) - surplus, *square);
        }
    }

    fn cosine(&self, sum: i32, square: zerocopy::little_endian::U16) -> f32 {
        let norm = self.norm * f32::from(square.get()).sqrt();
        if norm > 0.0 { sum as f32 / norm } else { 0.0 }
    }

    fn compare_plain(&self, packed: &[u8], squares: &[zerocopy::little_endian::U16], scores: &mut [f32]) {
        for ((vector, square), score) in packed.chunks_exact(PACKED).zip(squares).zip(scores) {
            let mut sum = 0i32;
            for ((&byte, &asked_low), &asked_high) in vector.iter().zip(&self.low).zip(&self.high) {
                // Sixteen bits hold both products: 127 × 8 × 2 is far below the limit.
                let products =
                    i16::from(asked_low) * i16::from(low(byte)) + i16::from(asked_high) * i16::from(high(byte));
                sum += i32::from(products);
            }
            *score = self.cosine(sum, *square);
        }
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::little_endian::U16;

    use super::*;

    fn sample(seed: u32) -> [f32; DIMENSIONS] {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        })
    }

    fn cosine(left: &[f32; DIMENSIONS], right: &[f32; DIMENSIONS]) -> f32 {
        let dot = |a: &[f32; DIMENSIONS], b: &[f32; DIMENSIONS]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(left, right) / (dot(left, left).sqrt() * dot(right, right).sqrt())
    }

    #[test]
    fn rounding_keeps_the_cosine() {
        for seed in 0..50 {
            let (left, right) = (sample(seed), sample(seed + 100));
            let mixed: [f32; DIMENSIONS] = std::array::from_fn(|at| left[at] + right[at] * 0.7);
            let packed = pack(&mixed);
            let mut score = [0.0];
            Asked::new(&left)
                .unwrap()
                .compare(&packed, &[U16::new(squares(&packed) as u16)], &mut score);
            assert!(
                (score[0] - cosine(&left, &mixed)).abs() < 0.03,
                "{} {}",
                score[0],
                cosine(&left, &mixed)
            );
        }
    }

    /// The sums are of integers: both ways must give the very same.
    #[test]
    fn wide_registers_count_the_same() {
        let mut packed: Vec<u8> = (0..200).flat_map(|seed| pack(&sample(seed))).collect();
        // The lowest step is never written, but a damaged file may hold it.
        packed.extend([0x88; PACKED]);
        packed.extend([0x77; PACKED]);
        let squares: Vec<U16> = packed
            .chunks_exact(PACKED)
            .map(|vector| U16::new(squares(vector) as u16))
            .collect();
        for asked in [sample(7), [1.0; DIMENSIONS], [-1.0; DIMENSIONS]] {
            let asked = Asked::new(&asked).unwrap();
            let (mut plain, mut wide) = (vec![0.0; squares.len()], vec![1.0; squares.len()]);
            asked.compare_plain(&packed, &squares, &mut plain);
            asked.compare(&packed, &squares, &mut wide);
            assert_eq!(plain, wide);
        }
    }

    #[test]
    fn nothing_is_near_nothing() {
        let zero = [0.0; DIMENSIONS];
        assert!(Asked::new(&zero).is_none());
        let packed = pack(&zero);
        assert_eq!(packed, [0; PACKED]);
        let mut score = [1.0];
        Asked::new(&sample(1))
            .unwrap()
            .compare(&packed, &[U16::new(0)], &mut score);
        assert_eq!(score, [0.0]);
    }
}
