#!/usr/bin/python3
"""Writes testdata/DIGESTS: what each generated database must contain, computed from contents.py rather than read
from the databases. A line is directory, number of entries, and the digest of tests/interop/operations.py.
"""

import hashlib
import pathlib
import struct

import contents

TESTDATA = pathlib.Path(__file__).resolve().parent.parent


def digest(entries):
    sha = hashlib.sha256()
    for key, value in sorted(entries.items()):
        sha.update(struct.pack("<I", len(key)) + key + struct.pack("<I", len(value)) + value)
    return f"{len(entries)} {sha.hexdigest()}"


state = {}
contents.fill(state.__setitem__, lambda key: state.pop(key, None), lambda: None)
without_empty_key = {key: value for key, value in state.items() if key}

lines = []
for directory in sorted(path.parent.name for path in TESTDATA.glob("*/CURRENT")):
    # Written through leveldb-zlib, which refuses the empty key.
    lines.append(f"{directory} {digest(without_empty_key if directory == 'bedrock-deflate' else state)}\n")
(TESTDATA / "DIGESTS").write_text("".join(lines))
