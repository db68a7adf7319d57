//! The tests of the engine from outside, in one program: most of the time to build a test goes into linking.

mod basics;
mod beside_writer;
mod destroying;
mod failing_device;
mod few_descriptors;
mod forked;
mod full_disk;
mod given_files;
mod hostile_tables;
mod large_values;
mod larger_than_memory;
mod level0_order;
mod logs;
mod lost_edits;
mod maintenance;
mod moved_directory;
mod no_order;
mod opening;
mod pooled;
mod reopening;
mod repair;
mod seeks;
mod support;
mod threads;
mod unreadable_parents;
mod without_waiting;
