//! The expected contents of a database: the numbers whose keys were written and not deleted. Every count that a run
//! reports is compared with them.

/// A set of numbers, with one bit for each.
#[derive(Clone, Debug, Default)]
pub struct LiveKeys {
    words: Vec<u64>,
    count: u64,
}

impl LiveKeys {
    /// Adds `number`.
    pub fn insert(&mut self, number: u64) {
        let (word, bit) = place(number);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u64::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Removes `number`.
    pub fn remove(&mut self, number: u64) {
        let (word, bit) = place(number);
        if let Some(bits) = self.words.get_mut(word) {
            self.count -= u64::from(*bits & bit != 0);
            *bits &= !bit;
        }
    }

    /// Whether the set contains `number`.
    pub fn contains(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Memory that the set takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the set contains exactly the numbers below `end`.
    pub fn is_all_below(&self, end: u64) -> bool {
        self.count == end && (0..end).all(|number| self.contains(number))
    }

    /// How many of `numbers` are in the set, each counted as often as it occurs.
    pub fn count_of(&self, numbers: impl Iterator<Item = u64>) -> u64 {
        numbers.filter(|&number| self.contains(number)).count() as u64
    }
}

fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_number_once() {
        let mut live = LiveKeys::default();
        for number in [3, 3, 64, 0, 1000] {
            live.insert(number);
        }
        live.remove(64);
        live.remove(65);
        live.remove(1 << 40);
        assert_eq!(live.count(), 3);
        assert_eq!(live.count_of([3, 3, 64, 2000].into_iter()), 2);
        assert!(!live.is_all_below(3));
        live.insert(1);
        live.remove(3);
        live.remove(1000);
        assert!(live.is_all_below(2));
    }
}
