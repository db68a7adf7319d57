//! What authors write, and how a consistent state looks.

use std::collections::BTreeMap;

/// Number of writing threads; there is also an author that ingests tables.
pub(super) const WRITERS: usize = 3;
pub(super) const AUTHORS: usize = WRITERS + 1;

/// Number of keys with the number of an author's last batch. They are far apart, so that they get into different
/// tables.
const COPIES: usize = 4;

/// This many of an author's last batches have their own keys; older ones are deleted.
const WINDOW: u64 = 40;

const LONGEST_PADDING_BYTES: u64 = 300;

/// The entire contents of a database or of one of its views.
pub(super) type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// The number of each author's last batch; 0 before the first.
pub(super) type Numbers = [u64; AUTHORS];

pub(super) fn copy_key(copy: usize, author: usize) -> Vec<u8> {
    format!("{copy} of {author}").into_bytes()
}

fn odd_key(author: usize) -> Vec<u8> {
    format!("odd {author}").into_bytes()
}

fn batch_key(author: usize, number: u64) -> Vec<u8> {
    format!("batch {author} {number:08}").into_bytes()
}

/// The number, and padding with one repeated byte, which reveals a mixture of two values.
fn value(author: usize, number: u64) -> Vec<u8> {
    let padding_bytes = (number * 37 + author as u64 * 11) % LONGEST_PADDING_BYTES;
    let mut value = number.to_le_bytes().to_vec();
    value.resize(value.len() + padding_bytes as usize, number as u8);
    value
}

/// The number in a value.
pub(super) fn number_in(author: usize, bytes: &[u8]) -> Result<u64, String> {
    let number = bytes.first_chunk().map(|number| u64::from_le_bytes(*number));
    match number {
        Some(number) if bytes == value(author, number) => Ok(number),
        _ => Err(format!("author {author} never wrote {:?}", bytes.escape_ascii().to_string())),
    }
}

/// The changes of an author's batch, by key; `None` deletes.
pub(super) fn changes(author: usize, number: u64) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    let mut changes = BTreeMap::new();
    for copy in 0..COPIES {
        changes.insert(copy_key(copy, author), Some(value(author, number)));
    }
    changes.insert(odd_key(author), (number % 2 == 1).then(|| value(author, number)));
    changes.insert(batch_key(author, number), Some(value(author, number)));
    if number > WINDOW {
        changes.insert(batch_key(author, number - WINDOW), None);
    }
    changes
}

/// The contents after an author's batches up to `number`.
fn expected(author: usize, number: u64) -> Entries {
    let first = number.saturating_sub(WINDOW) + 1;
    let mut entries: Entries =
        (first..=number).map(|number| (batch_key(author, number), value(author, number))).collect();
    if number > 0 {
        entries.extend((0..COPIES).map(|copy| (copy_key(copy, author), value(author, number))));
    }
    if number % 2 == 1 {
        entries.insert(odd_key(author), value(author, number));
    }
    entries
}

/// Which batches `entries` show. Fails if the entries are not exactly the result of some number of batches of each
/// author.
pub(super) fn numbers(entries: &Entries) -> Result<Numbers, String> {
    let mut numbers = Numbers::default();
    let mut whole = Entries::new();
    for (author, number) in numbers.iter_mut().enumerate() {
        if let Some(value) = entries.get(&copy_key(0, author)) {
            *number = number_in(author, value)?;
        }
        whole.extend(expected(author, *number));
    }
    if whole == *entries {
        return Ok(numbers);
    }
    let differs = |(key, value): &(&Vec<u8>, &Vec<u8>)| whole.get(*key) != Some(*value);
    let wrong = entries.iter().find(differs).map(|(key, _)| key);
    let key = wrong.or_else(|| whole.keys().find(|key| !entries.contains_key(*key)));
    let key = key.map(|key| key.escape_ascii().to_string()).unwrap_or_default();
    Err(format!("the last batches are {numbers:?} by the first copies, but {key:?} does not belong to that"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(batches: u64) -> Entries {
        let mut entries = Entries::new();
        for (key, value) in (1..=batches).flat_map(|number| changes(1, number)) {
            match value {
                Some(value) => entries.insert(key, value),
                None => entries.remove(&key),
            };
        }
        entries
    }

    #[test]
    fn batches_one_after_the_other_leave_what_is_expected() {
        for batches in [0, 1, 2, WINDOW, WINDOW + 1, 3 * WINDOW + 1] {
            assert_eq!(numbers(&after(batches)), Ok([0, batches, 0, 0]));
        }
    }

    #[test]
    fn half_a_batch_is_noticed() {
        let (before, mut entries) = (after(50), after(51));
        let key = copy_key(2, 1);
        entries.insert(key.clone(), before[&key].clone());
        assert!(numbers(&entries).unwrap_err().contains("2 of 1"));
        entries.remove(&key);
        assert!(numbers(&entries).unwrap_err().contains("2 of 1"));
    }
}
