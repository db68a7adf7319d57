#!/usr/bin/python3
"""Writes testdata/leveldb-1.23-* with LevelDB 1.23, through Debian's python3-plyvel."""

import pathlib
import shutil
import tempfile

import contents
import plyvel

TESTDATA = pathlib.Path(__file__).resolve().parent.parent


def generate(name, **options):
    with tempfile.TemporaryDirectory() as temporary:
        db = plyvel.DB(temporary, create_if_missing=True, write_buffer_size=64 << 10, **options)
        contents.fill(db.put, db.delete, flush=db.compact_range)
        # Copied while it is open: the deletions are only in the log, as after a crash.
        target = TESTDATA / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(temporary, target)
        db.close()
    for unwanted in ("LOG", "LOG.old"):
        (target / unwanted).unlink(missing_ok=True)
    return target


generate("leveldb-1.23-snappy-bloom", bloom_filter_bits=10)
generate("leveldb-1.23-raw", compression=None, block_restart_interval=4, block_size=1024)

# LevelDB before 1.14 named its tables .sst; newer ones still read them.
legacy = generate("leveldb-sst")
for table in legacy.glob("*.ldb"):
    table.rename(table.with_suffix(".sst"))
