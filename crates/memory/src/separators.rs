//! The keys that divide the children of an inner node, end to end in one piece of memory, so that a search finds them in a few
//! lines of the processor's cache.

/// See the head of this file.
#[derive(Clone, Default)]
pub(crate) struct Separators {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Separators {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..self.ends[index]]
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    /// The number of separators at or before `key`: the child that has the key.
    #[inline]
    pub(crate) fn child_of(&self, key: &[u8]) -> usize {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = (start + end) / 2;
            if self.get(middle) <= key {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    pub(crate) fn insert(&mut self, index: usize, separator: &[u8]) {
        let start = self.start(index);
        self.bytes.splice(start..start, separator.iter().copied());
        self.ends.insert(index, start);
        self.ends[index..].iter_mut().for_each(|end| *end += separator.len());
    }

    pub(crate) fn remove(&mut self, index: usize) {
        let (start, end) = (self.start(index), self.ends[index]);
        self.bytes.drain(start..end);
        self.ends.remove(index);
        self.ends[index..].iter_mut().for_each(|later| *later -= end - start);
    }

    /// Splits off those after `index`, and takes out the one there.
    pub(crate) fn split_off(&mut self, index: usize) -> (Vec<u8>, Self) {
        let middle = self.get(index).to_vec();
        let (start, end) = (self.start(index), self.ends[index]);
        let later = Self {
            bytes: self.bytes[end..].to_vec(),
            ends: self.ends[index + 1..].iter().map(|later| later - end).collect(),
        };
        self.bytes.truncate(start);
        self.ends.truncate(index);
        (middle, later)
    }

    pub(crate) fn extend(&mut self, later: &Self) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&later.bytes);
        self.ends.extend(later.ends.iter().map(|end| end + start));
    }
}

/// The shortest key that is after `before` and at or before `after`, which are in this order.
pub(crate) fn shortest_between<'a>(before: &[u8], after: &'a [u8]) -> &'a [u8] {
    &after[..common_bytes(before, after) + 1]
}

/// How many bytes two keys share at their beginning.
pub(crate) fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
