//! The tests of the format from outside, in one program: most of the time to build a test goes into linking.

mod chromium;
mod doc_examples;
mod doc_examples_table;
mod support;
