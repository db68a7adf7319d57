//! Tests of whole tables: written, read back, damaged, and as other programs write them.

mod damage;
mod file;
mod foreign;
mod hash_index;
mod large_values;
mod layout;
mod memory_only;
mod model;
mod paging;
mod policy;
mod scan;
mod support;
mod writing;
