#!/usr/bin/python3
"""Writes testdata/bedrock-zlib: a database whose blocks carry compression id 2 meaning zlib, as early versions of
Minecraft Bedrock wrote them. No program at hand writes such blocks any more, so this one lays out a database by
itself: one table at level 2, a MANIFEST that names it, and CURRENT. The layout is specified in docs/format/.
"""

import pathlib
import shutil
import struct
import zlib

import contents

TARGET = pathlib.Path(__file__).resolve().parent.parent / "bedrock-zlib"
TABLE_NUMBER = 5
MANIFEST_NUMBER = 4
ZLIB_ID = 2
BLOCK_SIZE = 4096
RESTART_INTERVAL = 16
TABLE_MAGIC = 0xDB4775248B80FB57


def crc32c(data):
    """The Castagnoli checksum, masked as LevelDB stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number):
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(encoded + bytes([number]))


def prefixed(data):
    return varint(len(data)) + data


def block(entries):
    """A block of (key, value). Every key, except at restarts, shares its prefix with the key before."""
    data, restarts, before = bytearray(), [], b""
    for index, (key, value) in enumerate(entries):
        shared = 0
        if index % RESTART_INTERVAL == 0:
            restarts.append(len(data))
        else:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        data += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    restarts = restarts or [0]
    return bytes(data) + b"".join(struct.pack("<I", at) for at in restarts) + struct.pack("<I", len(restarts))


class Table:
    def __init__(self):
        self.data = bytearray()

    def add_block(self, entries):
        """Appends a block and returns its handle."""
        compressed = zlib.compress(block(entries))
        handle = varint(len(self.data)) + varint(len(compressed))
        typed = compressed + bytes([ZLIB_ID])
        self.data += typed + struct.pack("<I", crc32c(typed))
        return handle

    def finish(self, index):
        metaindex = self.add_block([])
        handles = metaindex + self.add_block(index)
        self.data += handles.ljust(40, b"\0") + struct.pack("<Q", TABLE_MAGIC)


def internal_key(key, sequence):
    return key + struct.pack("<Q", sequence << 8 | 1)


def state():
    """The final contents, sorted: this table holds no history."""
    entries = {}
    contents.fill(entries.__setitem__, lambda key: entries.pop(key, None), lambda: None)
    return sorted(entries.items())


def log_record(payload):
    """One record in one fragment; a MANIFEST this small fits the first block."""
    return struct.pack("<IH", crc32c(b"\x01" + payload), len(payload)) + b"\x01" + payload


def main():
    entries = [(internal_key(key, sequence), value) for sequence, (key, value) in enumerate(state(), 1)]
    table, index, pending, size = Table(), [], [], 0
    for key, value in entries:
        pending.append((key, value))
        size += len(key) + len(value)
        if size >= BLOCK_SIZE:
            index.append((key, table.add_block(pending)))
            pending, size = [], 0
    if pending:
        index.append((entries[-1][0], table.add_block(pending)))
    table.finish(index)

    edit = b"".join(
        [
            varint(1) + prefixed(b"leveldb.BytewiseComparator"),
            varint(2) + varint(0),  # no log is needed
            varint(3) + varint(TABLE_NUMBER + 1),
            varint(4) + varint(len(entries)),
            varint(7) + varint(2) + varint(TABLE_NUMBER) + varint(len(table.data)),
            prefixed(entries[0][0]) + prefixed(entries[-1][0]),
        ]
    )
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir()
    (TARGET / f"{TABLE_NUMBER:06}.ldb").write_bytes(table.data)
    (TARGET / f"MANIFEST-{MANIFEST_NUMBER:06}").write_bytes(log_record(edit))
    (TARGET / "CURRENT").write_text(f"MANIFEST-{MANIFEST_NUMBER:06}\n")


main()
