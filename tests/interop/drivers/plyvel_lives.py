"""LevelDB 1.23 writes a database until it is killed, or repairs what a killed one left (RepairDB).

    write DIRECTORY SEED FIRST    puts and deletions of random keys, for ever. The value of the write number N begins with N in
                               decimal; the first number is FIRST. Each write, once it returned, is a line on standard
                               output: `put N KEY` or `delete N KEY`
    repair DIRECTORY              LevelDB's repair

The buffer is as small as LevelDB allows, so that a second of writing fills several levels.
"""

import random
import sys

import plyvel

KEYS = 6_000
WRITE_BUFFER_SIZE_BYTES = 64 << 10
MAX_FILE_SIZE_BYTES = 1 << 20


def write(directory, seed, first):
    chance = random.Random(seed)
    db = plyvel.DB(
        directory,
        create_if_missing=True,
        write_buffer_size=WRITE_BUFFER_SIZE_BYTES,
        max_file_size=MAX_FILE_SIZE_BYTES,
        bloom_filter_bits=chance.choice([0, 10]),
        compression=chance.choice([None, "snappy"]),
    )
    number = first
    while True:
        # Some keys are written often, others seldom: their newest versions lie in all levels.
        key = b"key%05d" % int(KEYS * chance.random() ** 2)
        if chance.random() < 0.2:
            db.delete(key)
            print("delete", number, key.decode(), flush=True)
        else:
            db.put(key, b"%d %s" % (number, chance.randbytes(chance.randrange(60)).hex().encode()))
            print("put", number, key.decode(), flush=True)
        number += 1


def main():
    command, directory = sys.argv[1:3]
    if command == "write":
        write(directory, int(sys.argv[3]), int(sys.argv[4]))
    else:
        plyvel.repair_db(directory)


main()
