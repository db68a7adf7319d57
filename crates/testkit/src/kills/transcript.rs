//! What a writer reports while it lives, line by line, and what follows from it.

use std::fmt;
use std::str::{FromStr, SplitWhitespace};

/// One line of a writer. It is written completely, by one call, when it is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The database is open and holds these numbers of batches of each lane.
    Opened(Vec<u64>),
    /// A lane begins to write a large batch.
    Large(usize),
    /// The write of a lane's batch has returned.
    Acknowledged(usize, u64),
    /// A lane's batch was refused because the disk is full. The lane retries it.
    Refused(usize),
    /// A flush or a compaction of everything begins.
    Chore,
    /// A checkpoint of that name begins.
    CheckpointBegins(String),
    /// That checkpoint is done.
    CheckpointDone(String),
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened(counts) => {
                f.write_str("opened")?;
                counts.iter().try_for_each(|count| write!(f, " {count}"))
            }
            Self::Large(lane) => write!(f, "large {lane}"),
            Self::Acknowledged(lane, number) => write!(f, "ack {lane} {number}"),
            Self::Refused(lane) => write!(f, "full {lane}"),
            Self::Chore => f.write_str("chore"),
            Self::CheckpointBegins(name) => write!(f, "checkpoint {name}"),
            Self::CheckpointDone(name) => write!(f, "checkpointed {name}"),
        }
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let kind = words.next();
        let line = match kind {
            Some("opened") => {
                words.by_ref().map(|word| word.parse().ok()).collect::<Option<_>>().map(Self::Opened)
            }
            Some("large") => next(&mut words).map(Self::Large),
            Some("ack") => {
                next(&mut words).zip(next(&mut words)).map(|(lane, number)| Self::Acknowledged(lane, number))
            }
            Some("full") => next(&mut words).map(Self::Refused),
            Some("chore") => Some(Self::Chore),
            Some("checkpoint") => next(&mut words).map(Self::CheckpointBegins),
            Some("checkpointed") => next(&mut words).map(Self::CheckpointDone),
            _ => None,
        };
        line.ok_or_else(|| format!("not a line of a writer: {text:?}"))
    }
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// A checkpoint that a writer began.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The name of its directory.
    pub name: String,
    /// Number of acknowledged batches of each lane when it began.
    pub at_least: Vec<u64>,
    /// Number of acknowledged batches of each lane when it was done, if it was.
    pub done_at: Option<Vec<u64>>,
}

/// Everything that a writer reported in its life.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Whether it had opened the database.
    pub opened: bool,
    /// The newest acknowledged batch of each lane; before the opening, of earlier lives.
    pub acknowledged: Vec<u64>,
    /// Number of batches acknowledged in this life.
    pub acknowledgements: u64,
    /// Number of batches that a full disk refused.
    pub refusals: u64,
    /// The checkpoints that it began.
    pub checkpoints: Vec<Checkpoint>,
}

impl Transcript {
    /// The transcript of a writer that has not reported anything; `counts` batches of each lane are known to be
    /// there.
    pub fn nothing(counts: Vec<u64>) -> Self {
        Self { acknowledged: counts, ..Self::default() }
    }

    /// Adds a line.
    ///
    /// # Errors
    ///
    /// If the line cannot follow the earlier ones.
    pub fn hear(&mut self, line: &Line) -> Result<(), String> {
        match line {
            Line::Opened(counts) => {
                if *counts != self.acknowledged {
                    return Err(format!(
                        "the writer found {counts:?} batches, those before it {:?}",
                        self.acknowledged
                    ));
                }
                self.opened = true;
            }
            Line::Acknowledged(lane, number) => {
                let newest = self.acknowledged.get_mut(*lane).ok_or("an unknown lane")?;
                if *number != *newest + 1 {
                    return Err(format!("batch {number} of lane {lane} came after {newest}"));
                }
                *newest = *number;
                self.acknowledgements += 1;
            }
            Line::Refused(_) => self.refusals += 1,
            Line::Large(_) | Line::Chore => {}
            Line::CheckpointBegins(name) => {
                let at_least = self.acknowledged.clone();
                self.checkpoints.push(Checkpoint { name: name.clone(), at_least, done_at: None });
            }
            Line::CheckpointDone(name) => {
                let begun = self.checkpoints.iter_mut().find(|checkpoint| checkpoint.name == *name);
                begun.ok_or("a checkpoint ended that never began")?.done_at = Some(self.acknowledged.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_reads_back() {
        let lines = [
            Line::Opened(vec![]),
            Line::Opened(vec![1, 20]),
            Line::Large(1),
            Line::Acknowledged(3, 17),
            Line::Refused(2),
            Line::Chore,
            Line::CheckpointBegins("5".into()),
            Line::CheckpointDone("5".into()),
        ];
        for line in lines {
            assert_eq!(line.to_string().parse(), Ok(line));
        }
        assert!("ack 1".parse::<Line>().is_err());
        assert!("".parse::<Line>().is_err());
    }

    #[test]
    fn a_checkpoint_is_between_what_was_acknowledged_when_it_began_and_when_it_was_done() {
        let mut transcript = Transcript::nothing(vec![0, 0]);
        for text in ["opened 0 0", "ack 1 1", "checkpoint 5", "ack 0 1", "checkpointed 5", "ack 0 2"] {
            transcript.hear(&text.parse().expect("a line")).expect("follows");
        }
        assert_eq!(transcript.acknowledged, [2, 1]);
        assert_eq!(transcript.checkpoints[0].at_least, [0, 1]);
        assert_eq!(transcript.checkpoints[0].done_at, Some(vec![1, 1]));
        assert!(transcript.hear(&Line::Acknowledged(0, 4)).is_err());
    }
}
