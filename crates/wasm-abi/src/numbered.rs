//! Numbers for what the host keeps in a module.

/// Things by number. Numbers begin at 1, and those of things that were removed are given again.
#[derive(Debug)]
pub struct Numbered<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Numbered<T> {
    /// Nothing, at first.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Keeps a thing. Returns its number.
    pub fn add(&mut self, thing: T) -> i32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(thing);
        slot as i32 + 1
    }

    /// The thing with a number, if there is one.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slots.get_mut((number as usize).wrapping_sub(1))?.as_mut()
    }

    /// Removes a thing, if there is one.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let removed = self.slots.get_mut((number as usize).wrapping_sub(1))?.take()?;
        self.free.push(number - 1);
        Some(removed)
    }
}
