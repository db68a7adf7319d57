//! A table: footer, index and metaindex, and through them its blocks. If the footer or the index is damaged, blocks
//! are found by their checksums.

use std::path::Path;

use terrace_engine::UserComparator;
use terrace_engine::env::default_env;
use terrace_format::FormatErrorKind;
use terrace_format::block::{Block, BlockIter};
use terrace_format::block_scan::{BlockScan, ScannedBlock};
use terrace_format::filter::FilterBlockReader;
use terrace_format::hash_index::{HASH_INDEX_METAINDEX_KEY, HashIndexReader};
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::table::{
    BlockHandle, COUNTS_METAINDEX_KEY, Footer, NO_FILTER_METAINDEX_KEY, TableCounts, filter_metaindex_key,
};

use super::report::{Level, Report};
use super::table_blocks::Blocks;
use super::table_file::{TableFile, compression_name};
use crate::failure::{Failure, Problem};
use crate::progress::{Progress, Unit};
use crate::text::escape::escaped;
use crate::text::{Json, plural};

/// A data block, and its separator in the index.
type DataBlock = (BlockHandle, Vec<u8>);

/// A key and its value.
type OwnedEntry = (Vec<u8>, Vec<u8>);

/// Reports the table at `path`; checks the order of its keys if the comparator is known.
pub(super) fn inspect(
    path: &Path,
    comparator: Option<&UserComparator>,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let file = default_env().open_random(path).map_err(|error| error.source)?;
    let size_bytes = file.size_bytes().map_err(|error| error.source)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let members = vec![
        ("file", Json::from(name.as_str())),
        ("type", "table".into()),
        ("size_bytes", size_bytes.into()),
    ];
    report.item(
        Level::Summary,
        None,
        "file",
        format_args!("{name}: a table of {size_bytes} bytes"),
        members,
    )?;
    let table = TableFile { file, size_bytes };
    let progress = Progress::new(&name, Unit::Bytes, Some(size_bytes));
    let mut blocks = Blocks::new(&table, comparator, &progress);
    match read_footer(&table, report)? {
        Some(footer) => {
            if let Some(data) = read_index(&table, footer.index, report)? {
                // First, because every entry is checked against the filter.
                read_metaindex(&table, footer.metaindex, &mut blocks, report)?;
                for (handle, separator) in &data {
                    blocks.block(*handle, Some(separator), report)?;
                }
            } else {
                read_metaindex(&table, footer.metaindex, &mut blocks, report)?;
                scan_blocks(&table, &mut blocks, Some(footer), report)?;
            }
        }
        None => scan_blocks(&table, &mut blocks, None, report)?,
    }
    blocks.finish(report)
}

fn read_footer(table: &TableFile, report: &mut Report<'_>) -> Result<Option<Footer>, Failure> {
    let at = table.footer_at();
    let mut bytes = vec![0; FOOTER_SIZE_BYTES.min(table.size_bytes as usize)];
    table.file.read_exact_at(at, &mut bytes).map_err(|error| error.source)?;
    match Footer::decode(&bytes) {
        Ok(footer) => {
            let text = format!(
                "footer: index at {}, {} bytes; metaindex at {}, {} bytes",
                footer.index.offset, footer.index.size, footer.metaindex.offset, footer.metaindex.size
            );
            let handle = |handle: BlockHandle| {
                Json::Object(vec![("offset", handle.offset.into()), ("size_bytes", handle.size.into())])
            };
            let members = vec![("index", handle(footer.index)), ("metaindex", handle(footer.metaindex))];
            report.item(Level::Parts, Some(at), "footer", text, members)?;
            if footer.encode() != bytes[..] {
                report.damage(at, "the footer differs from what a writer writes")?;
            }
            Ok(Some(footer))
        }
        Err(error) if error.kind == FormatErrorKind::Unsupported => {
            Err(Problem::foreign(table.file.path(), error.problem))
        }
        Err(error) => {
            report.damage(at, error.to_string())?;
            Ok(None)
        }
    }
}

/// The data blocks that the index lists, with their separators; `None` if it is unreadable.
fn read_index(
    table: &TableFile,
    handle: BlockHandle,
    report: &mut Report<'_>,
) -> Result<Option<Vec<DataBlock>>, Failure> {
    let listed = table.read(handle).and_then(|block| {
        let compression = compression_name(block.id, handle.size, block.contents.len() as u64);
        let listed = entries_of(block.contents)?;
        let text = format!("index of {}, {compression}", plural(listed.len() as u64, "block"));
        let handles = listed.into_iter().map(|(separator, value)| {
            let (handle, _) = BlockHandle::decode(&value).map_err(|error| error.to_string())?;
            Ok((handle, separator))
        });
        Ok((handles.collect::<Result<Vec<_>, String>>()?, text))
    });
    match listed {
        Ok((data, text)) => {
            let members = vec![("blocks", data.len().into()), ("size_bytes", handle.size.into())];
            report.item(Level::Parts, Some(handle.offset), "index", text, members)?;
            Ok(Some(data))
        }
        Err(problem) => {
            report.damage(handle.offset, format!("the index cannot be read: {problem}"))?;
            Ok(None)
        }
    }
}

/// Keys and values of a block, read as a whole.
fn entries_of(contents: Vec<u8>) -> Result<Vec<OwnedEntry>, String> {
    let problem = |error: terrace_format::FormatError| error.to_string();
    let block = Block::new(contents).map_err(problem)?;
    block.verify().map_err(problem)?;
    let mut entries = Vec::new();
    let mut iterator = BlockIter::new(&block);
    iterator.seek_to_first().map_err(problem)?;
    while iterator.valid() {
        entries.push((iterator.key().to_vec(), iterator.value().to_vec()));
        iterator.next().map_err(problem)?;
    }
    Ok(entries)
}

fn read_metaindex(
    table: &TableFile,
    handle: BlockHandle,
    blocks: &mut Blocks<'_>,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let entries = match table.read(handle).and_then(|block| entries_of(block.contents)) {
        Ok(entries) => entries,
        Err(problem) => {
            report.damage(handle.offset, format!("the metaindex cannot be read: {problem}"))?;
            return Ok(());
        }
    };
    let text = format!("metaindex of {} entries", entries.len());
    report.item(
        Level::Parts,
        Some(handle.offset),
        "metaindex",
        text,
        vec![("entries", entries.len().into())],
    )?;
    for (name, value) in entries {
        meta_entry(table, &name, &value, handle.offset, blocks, report)?;
    }
    Ok(())
}

fn meta_entry(
    table: &TableFile,
    name: &[u8],
    value: &[u8],
    metaindex_at: u64,
    blocks: &mut Blocks<'_>,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let shown = escaped(name);
    if name == COUNTS_METAINDEX_KEY {
        match TableCounts::decode(value) {
            Ok(counts) => {
                blocks.expect(counts);
                let text =
                    format!("{shown}: {} entries, {} of them deletions", counts.entries, counts.deletions);
                let members =
                    vec![("entries", counts.entries.into()), ("deletions", counts.deletions.into())];
                report.item(Level::Parts, None, "counts", format_args!("{:>12}{text}", ""), members)?;
            }
            Err(error) => report.damage(metaindex_at, format!("{shown}: {error}"))?,
        }
        return Ok(());
    }
    if name == NO_FILTER_METAINDEX_KEY {
        let text = format!("{:>12}{shown}: the table has no filter", "");
        return Ok(report.item(Level::Parts, None, "no filter", text, vec![("name", Json::bytes(name))])?);
    }
    let Ok((handle, _)) = BlockHandle::decode(value) else {
        let text = format!("{:>12}{shown}: {} bytes of unknown meaning", "", value.len());
        return Ok(report.item(Level::Parts, None, "unknown", text, vec![("name", Json::bytes(name))])?);
    };
    let block = match table.read(handle) {
        Ok(block) => block,
        Err(problem) => {
            report.damage(handle.offset, format!("{shown} cannot be read: {problem}"))?;
            return Ok(());
        }
    };
    let size = block.contents.len();
    let (kind, text) = if name == filter_metaindex_key() {
        match FilterBlockReader::new(block.contents) {
            Ok(filter) => {
                let covers = if filter.covers_whole_file(table.size_bytes) {
                    "one for the whole file"
                } else {
                    "one for each stretch of the file"
                };
                blocks.check_against(filter);
                ("filter", format!("Bloom filter of {size} bytes, {covers}"))
            }
            Err(error) => {
                report.damage(handle.offset, format!("the filter cannot be read: {error}"))?;
                return Ok(());
            }
        }
    } else if name == HASH_INDEX_METAINDEX_KEY {
        if let Err(error) = HashIndexReader::new(&block.contents, handle.offset) {
            report.damage(handle.offset, format!("the hash index cannot be read: {error}"))?;
            return Ok(());
        }
        ("hash index", format!("Terrace's hash index of {size} bytes"))
    } else {
        ("unknown", format!("a block of {size} bytes"))
    };
    let members = vec![("name", Json::bytes(name)), ("size_bytes", size.into())];
    Ok(report.item(Level::Parts, Some(handle.offset), kind, format_args!("{shown}: {text}"), members)?)
}

/// Reports blocks that are found without the index.
fn scan_blocks(
    table: &TableFile,
    blocks: &mut Blocks<'_>,
    footer: Option<Footer>,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let end = if footer.is_some() {
        table.footer_at()
    } else {
        table.file.end_of_data().map_err(|error| error.source)?
    };
    let text = "searching for blocks by their checksums, from the beginning of the file";
    report.item(Level::Summary, None, "scan", text, vec![])?;
    let mut scan = BlockScan::new(
        |offset, buffer: &mut [u8]| table.file.read_at(offset, buffer).map_err(|error| error.source),
        end,
    );
    let mut found_to = 0;
    while let Some(ScannedBlock { handle, follows }) = scan.next()? {
        if !follows {
            report.damage(found_to, format!("{} bytes are not a block", handle.offset - found_to))?;
        }
        found_to = handle.offset + handle.size + BLOCK_TRAILER_SIZE_BYTES as u64;
        let is_known = footer.is_some_and(|footer| handle == footer.metaindex || handle == footer.index);
        if is_known || !holds_entries(table, handle) {
            let size = handle.size + BLOCK_TRAILER_SIZE_BYTES as u64;
            let text = format!("a block of {size} bytes that holds no entries: filter, index or metaindex");
            let members = vec![("size_bytes", handle.size.into())];
            report.item(Level::Parts, Some(handle.offset), "other block", text, members)?;
        } else {
            blocks.block(handle, None, report)?;
        }
    }
    // The footer itself was already reported.
    let reported_bytes = if footer.is_none() { FOOTER_SIZE_BYTES as u64 } else { 0 };
    if end - found_to > reported_bytes {
        report.damage(found_to, format!("{} bytes up to the end are not blocks", end - found_to))?;
    }
    Ok(())
}

/// Whether a block holds entries of the database, not handles or filter bits.
fn holds_entries(table: &TableFile, handle: BlockHandle) -> bool {
    let Ok(block) = table.read(handle) else { return false };
    let Ok(entries) = entries_of(block.contents) else { return false };
    let is_internal = |key: &[u8]| terrace_format::internal_key::parse_internal_key(key).is_ok();
    let is_index = entries.iter().all(|(_, value)| {
        BlockHandle::decode(value).is_ok_and(|(listed, rest)| {
            rest.is_empty() && listed.sealed_range(handle.offset).is_ok() && table.read(listed).is_ok()
        })
    });
    !entries.is_empty() && entries.iter().all(|(key, _)| is_internal(key)) && !is_index
}
