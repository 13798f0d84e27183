//! Where a token's bytes are looked for in the table of a vocabulary. The build script that writes the table uses this file too.

/// A slot holds the number of its token plus one below this, and above it a mark that tells most other tokens apart.
pub(crate) const NUMBERS: u32 = (1 << 18) - 1;

/// The first slot of a token in a table of so many (a power of two), and its mark.
pub(crate) fn place(token: &[u8], slots: usize) -> (usize, u32) {
    let mut hash = (token.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for chunk in token.chunks(8) {
        let word = chunk
            .iter()
            .rev()
            .fold(0, |word: u64, byte| word << 8 | u64::from(*byte));
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    (hash as usize & (slots - 1), (hash >> 32) as u32 & !NUMBERS)
}

/// The slot to look at next.
pub(crate) fn next(slot: usize, slots: usize) -> usize {
    (slot + 1) & (slots - 1)
}
