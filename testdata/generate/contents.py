"""What the generated databases contain; contents.mjs says the same for Node.

Keys and values follow from their number alone, so that a database can be checked against this file by eye.
"""


def key(number):
    """Keys in the order of their numbers."""
    return b"key-%06d" % number


def value(number, version=1):
    """Compressible, of varying length; empty for every 97th."""
    return b"" if number % 97 == 0 else (b"value %d of key %d; " % (version, number)) * (1 + number % 7)


def fill(put, delete, flush):
    """Three generations: everything, then every third again, then every fifth deleted, with a flush between."""
    for number in range(3000):
        put(key(number), value(number))
    flush()
    for number in range(0, 3000, 3):
        put(key(number), value(number, version=2))
    put(b"", b"the empty key")
    put(bytes(range(256)), bytes(reversed(range(256))))
    put(b"large", b"0123456789abcdef" * 4096)
    flush()
    for number in range(0, 3000, 5):
        delete(key(number))
