//! The random number generator of the GNU C library, `random` with its default state of 31 words.
//!
//! The reference compiler draws the places of jittered lights from it; only the same sequence gives the same light.
//! Recurrence as documented in the library's manual and by Peter Selinger ("The GLIBC random number generator", 2007):
//! 31 words from a multiplicative generator, then rᵢ = rᵢ₋₃ + rᵢ₋₃₁ modulo 2³², the first 310 results of which are dropped.

const DEGREE: usize = 31;
const SEPARATION: usize = 3;
const DROPPED: usize = 310;

/// One sequence; every draw takes the next number.
#[derive(Clone, Debug)]
pub struct CRandom {
    words: [u32; DEGREE],
    /// Which word is the oldest and replaced next.
    oldest: usize,
}

impl CRandom {
    /// The sequence after `srand(seed)`; 0 counts as 1.
    pub fn new(seed: u32) -> Self {
        let mut words = [seed.max(1); DEGREE];
        for i in 1..DEGREE {
            // The word before as a signed number; the remainder is made positive.
            let before = i64::from(words[i - 1].cast_signed());
            words[i] = (16_807 * before).rem_euclid(2_147_483_647) as u32;
        }
        // The first three words count as the three that follow the 31.
        let mut random = Self {
            words,
            oldest: SEPARATION,
        };
        for _ in 0..DROPPED {
            random.next_word();
        }
        random
    }

    /// The next number in \[0, 1\], both ends possible: a whole number below 2³¹ over 2³¹ − 1, in single precision.
    pub fn unit(&mut self) -> f32 {
        (self.next_word() >> 1) as f32 / 2_147_483_647_u32 as f32
    }

    fn next_word(&mut self) -> u32 {
        let lagged = self.words[(self.oldest + DEGREE - SEPARATION) % DEGREE];
        let word = self.words[self.oldest].wrapping_add(lagged);
        self.words[self.oldest] = word;
        self.oldest = (self.oldest + 1) % DEGREE;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The well-known first results of a program that never calls `srand`.
    #[test]
    fn first_numbers_of_the_library() {
        let mut random = CRandom::new(1);
        let drawn: Vec<u32> = (0..5).map(|_| random.next_word() >> 1).collect();
        assert_eq!(
            drawn,
            [
                1_804_289_383,
                846_930_886,
                1_681_692_777,
                1_714_636_915,
                1_957_747_793
            ]
        );
    }

    #[test]
    fn seeds_differ_and_zero_is_one() {
        let first = |seed| CRandom::new(seed).unit();
        assert!((first(0) - first(1)).abs() < f32::EPSILON);
        assert!((first(1) - first(2)).abs() > 1e-6);
    }
}
