//! Many values on their way to JavaScript as one array: the entries of an iterator, or the answers for many keys.
//!
//! Setting an array's elements one by one costs more than creating them, so they are passed as the arguments of one
//! call to a function that JavaScript has provided, `(...parts) => parts`. And creating a `Buffer` costs more than
//! ten strings, so all parts that become buffers go into one, and each is represented by its length. JavaScript takes
//! the pieces, in order.

use std::ptr;

use napi_sys as sys;

use crate::environment::Environment;
use crate::error::{Fallible, check};
use crate::value::{Env, Value};

/// More arguments may not fit on V8's stack.
const MAX_ARGUMENTS: usize = 4096;

/// An array under construction.
pub struct Parts {
    env: Env,
    values: Vec<sys::napi_value>,
    /// The parts that become buffers, end to end.
    bytes: Vec<u8>,
    /// The index of the buffer of all of them.
    bytes_place: Option<usize>,
}

impl Parts {
    /// Creates an array without parts; `count` will come.
    pub fn new(env: Env, count: usize) -> Self {
        Self { env, values: Vec::with_capacity(count), bytes: Vec::new(), bytes_place: None }
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.values.push(value.raw());
    }

    /// Puts a value in the place of one that was added.
    pub fn replace(&mut self, index: usize, value: Value) {
        self.values[index] = value.raw();
    }

    /// Adds a placeholder for the buffer of the parts that become buffers; undefined if there are none.
    pub fn push_place_of_buffer(&mut self) -> Fallible<()> {
        self.bytes_place = Some(self.values.len());
        let undefined = self.env.undefined()?;
        self.push(undefined);
        Ok(())
    }

    /// Adds bytes as a string, or as the length of a piece of the buffer.
    #[inline]
    pub fn push_bytes(&mut self, bytes: &[u8], as_buffer: bool) -> Fallible<()> {
        let part = if as_buffer {
            self.bytes.extend_from_slice(bytes);
            self.env.number(bytes.len() as f64)?
        } else {
            self.env.string(bytes)?
        };
        self.push(part);
        Ok(())
    }

    /// The array.
    pub fn into_array(mut self, environment: &Environment) -> Fallible<Value> {
        if let Some(place) = self.bytes_place
            && !self.bytes.is_empty()
        {
            self.values[place] = self.env.buffer(&self.bytes)?.raw();
        }
        match environment.collector(self.env) {
            Some(collector) if self.values.len() <= MAX_ARGUMENTS => self.collect(collector),
            _ => self.set_elements(),
        }
    }

    fn collect(&self, collector: Value) -> Fallible<Value> {
        let this = self.env.undefined()?;
        let mut array = ptr::null_mut();
        // SAFETY: all values belong to the running callback, and exactly that many are passed.
        check(unsafe {
            sys::napi_call_function(
                self.env.raw(),
                this.raw(),
                collector.raw(),
                self.values.len(),
                self.values.as_ptr(),
                &mut array,
            )
        })?;
        Ok(Value::new(array))
    }

    fn set_elements(&self) -> Fallible<Value> {
        let array = self.env.array(self.values.len())?;
        for (index, value) in self.values.iter().enumerate() {
            self.env.set_element(array, index, Value::new(*value))?;
        }
        Ok(array)
    }
}
