//! Numbers of which a few occur very often: Zipf's distribution with YCSB's constant.
//!
//! The method is that of Gray, Sundaresan, Englert, Baclawski and Weinberger, "Quickly Generating Billion-Record
//! Synthetic Databases" (SIGMOD 1994), which YCSB also uses (Cooper et al., SoCC 2010).

use crate::random::{SplitMix, scatter};

/// YCSB's constant.
const THETA: f64 = 0.99;
/// Number of terms of the sum that are added one by one.
const EXACT_TERMS: u64 = 1000;

/// Draws ranks: 0 is the most frequent.
pub(super) struct Zipfian {
    count: u64,
    zeta: f64,
    eta: f64,
}

impl Zipfian {
    /// Ranks below `count`.
    pub(super) fn new(count: u64) -> Self {
        let zeta = zeta(count);
        let share = 2.0 / count as f64;
        let eta = (1.0 - share.powf(1.0 - THETA)) / (1.0 - zeta_of_two() / zeta);
        Self { count, zeta, eta }
    }

    /// The next rank.
    pub(super) fn rank(&self, random: &mut SplitMix) -> u64 {
        let fraction = random.fraction();
        let scaled = fraction * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < zeta_of_two() {
            return 1.min(self.count - 1);
        }
        let rank = self.count as f64 * (self.eta * fraction - self.eta + 1.0).powf(1.0 / (1.0 - THETA));
        (rank as u64).min(self.count - 1)
    }

    /// The next number, with the frequent ones scattered over all numbers below `count`.
    pub(super) fn scattered(&self, random: &mut SplitMix) -> u64 {
        scatter(self.rank(random) + 1) % self.count
    }
}

fn zeta_of_two() -> f64 {
    1.0 + 0.5f64.powf(THETA)
}

/// The sum of 1 / i^THETA for i from 1 to `count`: the tail by the Euler–Maclaurin formula, so that a hundred million
/// terms take no time.
fn zeta(count: u64) -> f64 {
    let exact = count.min(EXACT_TERMS);
    let head: f64 = (1..=exact).map(|i| (i as f64).powf(-THETA)).sum();
    if count == exact {
        return head;
    }
    let (from, to) = (exact as f64, count as f64);
    let integral = (to.powf(1.0 - THETA) - from.powf(1.0 - THETA)) / (1.0 - THETA);
    head + integral + (to.powf(-THETA) - from.powf(-THETA)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_sum_is_the_long_one() {
        let long: f64 = (1..=50_000u64).map(|i| (i as f64).powf(-THETA)).sum();
        assert!((zeta(50_000) - long).abs() < 1e-6);
    }

    #[test]
    fn ranks_come_as_often_as_zipf_says() {
        const DRAWS: u64 = 200_000;
        let zipfian = Zipfian::new(10_000);
        let mut random = SplitMix::new(1);
        let mut counts = vec![0u64; 10_000];
        (0..DRAWS).for_each(|_| counts[zipfian.rank(&mut random) as usize] += 1);
        for rank in [0usize, 1] {
            let expected = DRAWS as f64 * ((rank + 1) as f64).powf(-THETA) / zipfian.zeta;
            assert!((counts[rank] as f64 / expected - 1.0).abs() < 0.05, "rank {rank}: {}", counts[rank]);
        }
        assert!(counts[0] > counts[10] && counts[10] > counts[1000]);
    }

    #[test]
    fn few_items_work() {
        for count in 1..4 {
            let zipfian = Zipfian::new(count);
            let mut random = SplitMix::new(2);
            assert!((0..1000).all(|_| zipfian.scattered(&mut random) < count));
        }
    }
}
