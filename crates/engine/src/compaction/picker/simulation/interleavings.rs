//! Jobs that run at once and end in any order.

use super::*;

/// Mixes writes, deletions, snapshots, manual compactions and up to four jobs at a time, which end in any order.
#[test]
fn any_interleaving_of_jobs_keeps_the_invariants() {
    let mut merges_within_level0 = 0;
    for seed in 1..=12 {
        let mut random = Random(seed * 7919);
        let mut simulation = Simulation::new();
        simulation.options.level1_size_bytes = 3 * MAX_FILE_SIZE_BYTES;
        simulation.options.level_multiplier = 2;
        simulation.options.level0_merge_trigger = 2;
        let mut running: Vec<(CompactionPlan, ReservationId)> = Vec::new();
        let mut manual: Option<RangeCompaction> = None;
        let mut most_running = 0;
        for _ in 0..500 {
            match random.below(10) {
                0..=3 => {
                    for _ in 0..random.below(60) {
                        let key = random.below(3_000) as u32;
                        let value = (random.below(3) > 0).then(|| random.below(300) as u32);
                        simulation.write(key, value);
                    }
                }
                4..=6 if running.len() < 4 => {
                    let idle = random.below(2) == 0;
                    simulation.options.merges_within_level0 = manual.is_none();
                    running.extend(simulation.pick(idle));
                }
                7 if random.below(8) == 0 && simulation.snapshots.len() < 3 => simulation.snapshot(),
                7 if random.below(6) == 0 && !simulation.snapshots.is_empty() => {
                    simulation.release_snapshot(0)
                }
                8 => {
                    if manual.is_none() && random.below(10) == 0 {
                        let begin = random.below(3_000) as u32;
                        let range = (Some(user_key(begin)), Some(user_key(begin + 500)));
                        manual = Some(RangeCompaction::new(range.0, range.1, simulation.next_number));
                    }
                    if let Some(range) = &mut manual {
                        match range.next_step(&simulation.version, &simulation.busy, &simulation.options) {
                            RangeStep::Run(plan) => running.push(simulation.reserve(*plan)),
                            RangeStep::Wait => assert!(!running.is_empty(), "waits for nothing"),
                            RangeStep::Done => manual = None,
                        }
                    }
                }
                _ if !running.is_empty() => {
                    let job = running.swap_remove(random.below(running.len() as u64) as usize);
                    simulation.run(job);
                }
                _ => {}
            }
            most_running = most_running.max(running.len());
        }
        for job in running {
            simulation.run(job);
        }
        assert!(most_running > 1, "jobs never ran at once");
        merges_within_level0 += simulation.merges_within_level0;
        simulation.snapshots.clear();
        simulation.note_oldest_reader();
        simulation.idle();
        assert!(simulation.busy.is_empty());
        simulation.compact_range(None, None);
        assert_eq!((simulation.tombstones(), simulation.table_bytes()), (0, simulation.live_bytes()));
    }
    assert!(merges_within_level0 > 0, "level 0 was never merged within itself");
}
