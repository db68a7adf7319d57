//! The engines by name.

use clap::ValueEnum;
use terrace_bench::{Engine, Result, Settings, TerraceEngine};

use crate::leveldb::LevelDb;

/// An engine that this program was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    Terrace,
    #[value(name = "leveldb")]
    LevelDb,
    /// Another build of LevelDB, which `--leveldb-head` names.
    #[value(name = "leveldb-head")]
    LevelDbHead,
    #[cfg(feature = "rocksdb")]
    #[value(name = "rocksdb")]
    RocksDb,
    #[cfg(feature = "lmdb")]
    Lmdb,
    #[cfg(feature = "fjall")]
    Fjall,
    #[cfg(feature = "redb")]
    Redb,
}

impl EngineName {
    /// All engines except Terrace, and except what only an option provides.
    pub(crate) fn rivals() -> Vec<Self> {
        let is_rival = |name: &Self| !matches!(name, Self::Terrace | Self::LevelDbHead);
        Self::value_variants().iter().copied().filter(is_rival).collect()
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The engine with the options of a run.
    pub(crate) fn engine(self, settings: &Settings) -> Result<Box<dyn Engine>> {
        Ok(match self {
            Self::Terrace => Box::new(TerraceEngine::new(settings)),
            Self::LevelDb => Box::new(LevelDb::new("leveldb", settings)),
            Self::LevelDbHead => Box::new(LevelDb::new("leveldb-head", settings)),
            #[cfg(feature = "rocksdb")]
            Self::RocksDb => Box::new(crate::rocksdb::RocksDb::new(settings)),
            #[cfg(feature = "lmdb")]
            Self::Lmdb => Box::new(crate::lmdb::Lmdb::new(settings)),
            #[cfg(feature = "fjall")]
            Self::Fjall => Box::new(crate::fjall::FjallEngine::new(settings)),
            #[cfg(feature = "redb")]
            Self::Redb => Box::new(crate::redb::RedbEngine::new(settings)),
        })
    }
}
