"""LevelDB 1.23 through plyvel. The commands are those of ../README.md."""

import argparse
import hashlib
import struct
import sys

import plyvel

U32 = struct.Struct("<I")
ABSENT = b"\xff\xff\xff\xff"


def read_writes(path):
    with open(path, "rb") as file:
        while header := file.read(4):
            write = []
            for _ in range(U32.unpack(header)[0]):
                is_put = file.read(1) == b"\1"
                key = file.read(U32.unpack(file.read(4))[0])
                value = file.read(U32.unpack(file.read(4))[0]) if is_put else None
                write.append((key, value))
            yield write


def apply(db, arguments):
    for index, write in enumerate(read_writes(arguments.operations)):
        if index < arguments.first:
            continue
        if index == arguments.last:
            break
        if len(write) == 1:
            key, value = write[0]
            db.delete(key) if value is None else db.put(key, value)
        else:
            with db.write_batch(transaction=True) as batch:
                for key, value in write:
                    batch.delete(key) if value is None else batch.put(key, value)
        if arguments.acknowledge:
            print(index + 1, flush=True)


def digest(entries):
    sha = hashlib.sha256()
    count = 0
    for key, value in entries:
        sha.update(U32.pack(len(key)) + key)
        sha.update(ABSENT if value is None else U32.pack(len(value)) + value)
        count += 1
    return f"{count} {sha.hexdigest()}"


def read_keys(path):
    with open(path, "rb") as file:
        while header := file.read(4):
            yield file.read(U32.unpack(header)[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["apply", "digest", "hold"])
    parser.add_argument("directory")
    parser.add_argument("--operations")
    parser.add_argument("--keys")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=-1)
    parser.add_argument("--acknowledge", action="store_true")
    parser.add_argument("--paranoid", action="store_true")
    parser.add_argument("--compression", choices=["none", "snappy"], default="snappy")
    parser.add_argument("--bloom", type=int, default=10)
    parser.add_argument("--write-buffer", type=int, default=4 << 20)
    arguments = parser.parse_args()

    db = plyvel.DB(
        arguments.directory,
        create_if_missing=arguments.command != "digest",
        paranoid_checks=arguments.paranoid,
        compression=None if arguments.compression == "none" else arguments.compression,
        bloom_filter_bits=arguments.bloom,
        write_buffer_size=arguments.write_buffer,
    )
    checked = {"verify_checksums": arguments.paranoid}
    if arguments.command == "apply":
        apply(db, arguments)
    elif arguments.command == "digest":
        print("forward", digest(db.iterator(**checked)))
        print("backward", digest(db.iterator(reverse=True, **checked)))
        print("points", digest((key, db.get(key, **checked)) for key in read_keys(arguments.keys)))
    else:
        print("held", flush=True)
        sys.stdin.read()
    db.close()


if __name__ == "__main__":
    main()
