//! Recovery: what an open makes of the files that the last process left. Predecessor: `db/open`. Successors: the
//! version set and the sealed memtables. Only `synced_files` and, later, `kept_logs` write anything.
//!
//! ```text
//! CURRENT ─► version/recover ─► version/manifest       the tables, and which logs count
//! names ───► needed_logs, lost_edits                   whether all of these are there
//! logs ────► replay ─► log_replay ─► log_end           the writes in them, and where each log ends
//! ```
//!
//! The table lists each case, what is done about it, and where. A house test (`tests/rules/recovery.test.mjs`) checks
//! the table against the files. Modules are in this directory unless the table names another one; the tests are in
//! `crates/engine/tests/all` or beside the code.
//!
//! | case | what is done | where | which test shows it |
//! |---|---|---|---|
//! | clean end: after the last record, or in zeros | the log is read up to that point | `log_replay`, `recovered_logs` | `opening.rs`: `a_torn_log_keeps_what_is_whole` |
//! | a killed process left little in its logs | the logs stay; new files replace them before a sync counts; no table is made of them | `kept_logs` | `reopening.rs`: `what_a_killed_process_left_in_a_small_log_stays_there_and_a_new_file_makes_it_durable` |
//! | torn tail: the file ends within a record whose lengths agree | the record is left out; it was never acknowledged | `log_end` | `logs.rs`: `a_log_that_is_cut_off_anywhere_has_lost_nothing_that_was_acknowledged` |
//! | a killed process had not stored the record's header | the same | `log_end`, `block_signs` | `logs.rs`: `a_log_cut_anywhere_in_a_record_that_holds_a_log_opens_and_repair_creates_nothing` |
//! | lengths that lead beyond the end and do not agree | refused as damage | `log_end` | `logs.rs`: `a_log_does_not_end_at_a_record_whose_lengths_are_damaged` |
//! | hole: a sector or page in an older state | the log ends there; the rest, later logs included, goes to `lost` and is reported | `log_end`, `block_signs` | `opening.rs`: `a_log_ends_where_a_loss_of_power_took_records_and_the_rest_is_set_aside` |
//! | gap in the sequences | a hole, if something may be missing there; damage between two records | `log_replay` | `logs.rs`: `a_record_put_in_the_place_of_another_is_no_loss_of_power` |
//! | the next log continues with the next sequence | what the log before it ends in is left out | `replay` | `logs.rs`: `a_log_that_its_close_had_cut_and_the_power_cut_makes_longer_again_costs_no_later_write` |
//! | damage | refused, with file and offset; nothing is changed | `log_end`, `block_signs` | `logs.rs`: `a_flipped_bit_in_a_log_of_zeros_is_never_taken_for_a_loss_of_power` |
//! | anything wrong in a part that was synced | the same | `synced_files`, `log_replay` | `logs.rs`: `word_of_a_synced_log_does_not_outlive_the_database` |
//! | a LevelDB log that is missing because it was not copied | the rest is shown; the open reports it | `needed_logs`, `left_out` | `lost_edits.rs`: `a_log_of_leveldb_that_was_not_copied_is_reported_by_the_open_as_by_the_repair` |
//! | a LevelDB log that ends unfinished, before a gap and another log | all is shown, as by LevelDB; the open reports it | `log_replay`, `left_out` | `lost_edits.rs`: `an_unfinished_log_of_leveldb_before_a_gap_is_reported_and_either_sign_alone_is_not` |
//! | a missing log of ours | refused | `needed_logs` | `opening.rs`: `a_missing_log_is_reported_and_not_taken_for_an_empty_one` |
//! | a missing table, MANIFEST or CURRENT | refused | `version/recover` | `opening.rs`: `a_missing_table_is_reported_by_name`, `a_missing_current_is_not_taken_for_an_empty_directory` |
//! | a damaged MANIFEST or CURRENT | refused; a last record that is cut off is left out | `version/manifest`, `tail`, `lost_sectors` | `opening.rs`: `a_damaged_current_or_manifest_is_reported_with_its_file` |
//! | a MANIFEST of ours without its last records | refused, because a log that it needs is gone | `needed_logs` | `opening.rs`: `a_manifest_that_lost_its_last_edit_does_not_silently_lead_to_an_older_state` |
//! | a LevelDB MANIFEST without its last records | refused, if a newer table and a gap before the logs show it | `lost_edits` | `lost_edits.rs`: `a_manifest_of_leveldb_that_lost_its_tail_is_refused_and_repair_finds_what_it_forgot` |
//! | a MANIFEST that the last close left durable and that has not changed since | the session continues in it, and the open syncs nothing | `synced_files`, `db/finish_open` | `reopening.rs`: `reopening_a_database_in_which_nothing_was_written_syncs_nothing` |
//! | a live writer beside a reader | the log ends where it grows; nothing is written | `log_replay`, `log_end` | `opening.rs`: `a_read_only_open_beside_a_busy_writer_sees_a_state_that_existed` |
//!
//! Repair also uses `log_end` to judge how logs end, and keeps what is intact elsewhere (`repair/replay`,
//! `repair/log_salvage`).

pub(crate) mod block_signs;
pub(crate) mod kept_logs;
pub(crate) mod left_out;
pub(crate) mod log_end;
pub(crate) mod log_replay;
pub(crate) mod lost_edits;
pub(crate) mod lost_sectors;
pub(crate) mod needed_logs;
pub(crate) mod recovered_logs;
pub(crate) mod replay;
pub(crate) mod source;
pub(crate) mod synced_files;
pub(crate) mod tail;
