"""LevelDB 1.23 opens, with paranoid checks, each directory that is named by a line on standard input.

It answers with a line: the number of entries and their digest (../operations.py), or what is wrong. Opening recovers
the database, so the directory should be a copy.
"""

import sys

import plyvel
from plyvel_driver import digest


def check(directory):
    db = plyvel.DB(directory, create_if_missing=False, paranoid_checks=True, bloom_filter_bits=10)
    try:
        entries = list(db.iterator(verify_checksums=True))
        if entries[::-1] != list(db.iterator(reverse=True, verify_checksums=True)):
            return "backwards it reads something else"
        if any(db.get(key, verify_checksums=True) != value for key, value in entries):
            return "by key it reads something else"
        return digest(entries)
    finally:
        db.close()


def main():
    for line in sys.stdin:
        try:
            answer = check(line.rstrip("\n"))
        except plyvel.Error as error:
            answer = f"{type(error).__name__}: {error}"
        print(answer.replace("\n", " "), flush=True)


main()
