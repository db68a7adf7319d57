//! The tests of the map from outside, in one program.

mod model;
mod same;
