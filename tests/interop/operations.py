"""The operations of a trial, the state they must lead to, and the digests of that state.

An operations file is a row of writes, each applied atomically by every driver:

    write     := count u32 | operation * count
    operation := 1 u8 | key length u32 | key | value length u32 | value        (put)
               | 0 u8 | key length u32 | key                                   (delete)

All numbers are little-endian. The same seed gives the same operations. The digest of a state is the SHA-256 over
its entries in the order visited, each as key length u32, key, value length u32, value; in a digest of point reads a
key that is absent has the length 0xffffffff and no value.
"""

import hashlib
import random
import struct

ABSENT = 0xFFFFFFFF
LARGE_KEY_SIZE_BYTES = 40_000
LARGE_VALUE_SIZE_BYTES = 5_000_000

_U32 = struct.Struct("<I")


class Operations:
    """A seeded list of writes. Each is a list of (key, value) with value None for a deletion."""

    def __init__(self, seed, count, large_values=4):
        self._random = random.Random(seed)
        self._pool = [self._new_key() for _ in range(max(64, count // 5))]
        self.writes = []
        operations = 0
        while operations < count:
            write = self._new_write()
            self.writes.append(write)
            operations += len(write)
        # Large values are placed evenly rather than at random, so that every part of a split trial has some.
        for index in range(large_values):
            at = (2 * index + 1) * len(self.writes) // (2 * large_values)
            large_key = self._random.randbytes(LARGE_KEY_SIZE_BYTES)
            self.writes.insert(at, [(b"large-value-%d" % (index % 3), self._large_value())])
            self.writes.insert(at + 1, [(large_key, b"under a large key"), (large_key[:-1], b"")])
        self.keys = sorted({key for write in self.writes for key, _ in write} | set(self._absent_keys()))

    def save(self, path):
        """Writes the operations file."""
        with open(path, "wb") as file:
            for write in self.writes:
                file.write(_U32.pack(len(write)))
                for key, value in write:
                    file.write((b"\0" if value is None else b"\1") + _U32.pack(len(key)) + key)
                    if value is not None:
                        file.write(_U32.pack(len(value)) + value)

    def save_keys(self, path):
        """Writes the keys for point reads: all that ever occur and some that never do, in an order unlike the sorted one."""
        shuffled = list(self.keys)
        random.Random(1).shuffle(shuffled)
        self.point_keys = shuffled
        with open(path, "wb") as file:
            for key in shuffled:
                file.write(_U32.pack(len(key)) + key)

    def digests(self, state):
        """The three digests that a reader of `state` must print, as {kind: (entries, hex)}."""
        ordered = sorted(state)
        return {
            "forward": _digest((key, state[key]) for key in ordered),
            "backward": _digest((key, state[key]) for key in reversed(ordered)),
            "points": _digest((key, state.get(key)) for key in self.point_keys),
        }

    def _new_key(self):
        kind = self._random.randrange(10)
        if kind < 5:
            return b"user:%08d" % self._random.randrange(10**8)
        if kind < 7:
            # Long shared prefixes with the bytes that separators and successors must handle.
            return b"\xff" * self._random.randrange(6) + b"\0" * self._random.randrange(6) + self._random.randbytes(3)
        if kind < 9:
            return self._random.randbytes(self._random.randrange(1, 40))
        return b"" if self._random.randrange(200) == 0 else f"ключ/{self._random.randrange(10**6)}".encode()

    def _new_value(self):
        kind = self._random.randrange(100)
        if kind < 5:
            return b""
        if kind < 50:
            return self._random.randbytes(self._random.randrange(1, 200))
        if kind < 99:
            return b"terrace %06d " % self._random.randrange(10**6) * self._random.randrange(1, 20)
        return self._random.randbytes(self._random.randrange(1000, 40_000))

    def _large_value(self):
        half = LARGE_VALUE_SIZE_BYTES // 2
        return self._random.randbytes(half) + b"compresses well " * (half // 16)

    def _new_write(self):
        size = 1 if self._random.random() < 0.8 else self._random.randrange(2, 60)
        return [self._new_operation() for _ in range(size)]

    def _new_operation(self):
        key = self._pool[int(len(self._pool) * self._random.random() ** 2)]
        return key, None if self._random.random() < 0.25 else self._new_value()

    def _absent_keys(self):
        return [b"absent:%d" % n for n in range(500)] + [self._random.randbytes(12) for _ in range(500)]


class EvenBatches(Operations):
    """Puts of keys of their own, in batches of about 12 kB: some end in each block of a log, some cross into the next."""

    ENTRIES_A_BATCH = 100

    def __init__(self, seed, entries):
        self._random = random.Random(seed)
        keys = [b"entry %08d" % number for number in range(entries)]
        puts = [(key, self._random.randbytes(103)) for key in keys]
        starts = range(0, entries, self.ENTRIES_A_BATCH)
        self.writes = [puts[start : start + self.ENTRIES_A_BATCH] for start in starts]
        self.keys = sorted([*keys, *self._absent_keys()])


class State:
    """The entries after the first `position` writes. It only moves forward."""

    def __init__(self, operations):
        self._operations = operations
        self.position = 0
        self.entries = {}

    def advance(self, position):
        """Applies the writes up to `position` and returns the digests there."""
        for write in self._operations.writes[self.position : position]:
            for key, value in write:
                if value is None:
                    self.entries.pop(key, None)
                else:
                    self.entries[key] = value
        self.position = position
        return self._operations.digests(self.entries)


def _digest(entries):
    sha = hashlib.sha256()
    count = 0
    for key, value in entries:
        if value is None:
            sha.update(_U32.pack(len(key)) + key + _U32.pack(ABSENT))
        else:
            sha.update(_U32.pack(len(key)) + key + _U32.pack(len(value)) + value)
        count += 1
    return count, sha.hexdigest()
