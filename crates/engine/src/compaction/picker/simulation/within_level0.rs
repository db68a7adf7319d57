//! Merges within level 0.

use super::*;

/// Flushes come faster than compactions. Level 0 is merged within itself, and what writes that came meanwhile stays above.
#[test]
fn a_merge_within_level_0_keeps_the_order_of_age_and_its_tombstones() {
    let (mut simulation, mut random) = filled(13, |_| 100);
    let flushes = |simulation: &mut Simulation, random: &mut Random, count: u32| {
        for _ in 0..count {
            for _ in 0..60 {
                let value = (random.below(3) > 0).then_some(100);
                simulation.write(random.below(u64::from(KEYS)) as u32, value);
            }
            simulation.flush();
        }
    };
    simulation.options.level0_trigger = 1;
    simulation.run_due(false);
    flushes(&mut simulation, &mut random, 3);
    simulation.options.level0_merge_trigger = 3;
    let tombstones = simulation.tombstones();
    let job = simulation.pick(false).unwrap();
    assert_eq!((job.0.level, job.0.output_level, job.0.inputs[0].len()), (0, 0, 3));
    flushes(&mut simulation, &mut random, 3);
    assert!(simulation.pick(false).is_none_or(|(plan, _)| plan.level > 0), "level 0 is being merged");
    let newer: Vec<u64> = simulation.version.levels[0][..3].iter().map(|file| file.number).collect();
    simulation.run(job);
    assert_eq!(simulation.merges_within_level0, 1);
    let numbers: Vec<u64> = simulation.version.levels[0].iter().map(|file| file.number).collect();
    assert!(numbers.len() == 4 && numbers.starts_with(&newer) && numbers[3] < newer[2], "{numbers:?}");
    let merged = simulation.entries[&numbers[3]].iter().filter(|entry| entry.value_size_bytes.is_none());
    assert!(tombstones > 40 && merged.count() > tombstones * 9 / 10);
}

/// Every edit is followed by the check that no older entry lies above a newer one.
#[test]
fn level_0_is_merged_within_itself_again_only_with_new_tables() {
    let (mut simulation, mut random) = filled(14, |_| 100);
    for _ in 0..40 {
        for _ in 0..60 {
            simulation.write(random.below(u64::from(KEYS)) as u32, Some(100));
        }
        simulation.flush();
        while simulation.options.level0_merge_trigger <= simulation.version.levels[0].len() {
            let job = simulation.pick(false).unwrap();
            simulation.run(job);
        }
    }
    simulation.run_due(false);
    assert!(simulation.merges_within_level0 > 0 && simulation.version.levels[0].len() < 4);
}
