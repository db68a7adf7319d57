#!/usr/bin/python3
"""The interop matrix: LevelDB 1.23, LevelDB 1.20, goleveldb, rusty-leveldb and Terrace use each other's databases.

Seven trials, each a table of cells. A cell is OK if the reader's three digests (forwards, backwards, point reads)
are those of the state that the operations must lead to; how that state comes about is not asked of any driver.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import drivers
from drivers import Failure
from operations import EvenBatches, Operations, State

# Small, so that few operations make tables, levels and compactions.
WRITE_BUFFER = ("--write-buffer", str(256 << 10))
KNOWN = "known"
KNOWN_LEGEND = (
    "known: not run. goleveldb drops log records below the sequence number in the MANIFEST and so loses entries of\n"
    "       databases that LevelDB itself wrote last (google/leveldb#750, syndtr/goleveldb#452)."
)


class Matrix:
    """The cells of all trials, printed as they come and as tables at the end."""

    def __init__(self):
        self.tables = collections.defaultdict(lambda: collections.defaultdict(dict))
        self.failures = []

    def add(self, trial, row, column, problem):
        """Enters a cell: `problem` is None for OK, KNOWN, or what went wrong."""
        outcome = problem if problem == KNOWN else "OK" if problem is None else "FAIL"
        self.tables[trial][row][column] = outcome
        if outcome == "FAIL":
            self.failures.append(f"{trial} · {row} · {column}: {problem}")
        print(f"  {trial:<12} {row:<34} {column:<24} {outcome}", flush=True)

    def print(self):
        """Prints every table, the legend and the failures."""
        for trial, rows in self.tables.items():
            columns = list(dict.fromkeys(column for row in rows.values() for column in row))
            row_width = max(len(row) for row in rows)
            print(f"\n{trial}\n{'':<{row_width}}  " + "  ".join(columns))
            for row, cells in rows.items():
                line = "  ".join(f"{cells.get(column, ''):<{len(column)}}" for column in columns)
                print(f"{row:<{row_width}}  {line}".rstrip())
        print(f"\n{KNOWN_LEGEND}")
        for failure in self.failures:
            print(f"FAIL {failure}")
        cells = [cell for rows in self.tables.values() for row in rows.values() for cell in row.values()]
        print(f"\ntests {cells.count('OK')} passed, {cells.count('FAIL')} failed, {cells.count(KNOWN)} skipped")


class Interop:
    """The operations and the drivers of one run, and its seven trials."""

    def __init__(self, directory, arguments):
        self.directory = directory
        self.arguments = arguments
        self.matrix = Matrix()
        self.random = random.Random(arguments.seed)
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs)
        self.plyvel = drivers.plyvel()
        self.classic = drivers.classic_level()
        self.goleveldb = drivers.goleveldb(directory)
        self.rusty = [] if arguments.short else [drivers.rusty_leveldb()]
        self.ours = [] if arguments.without_terrace else [drivers.terrace(arguments.profile), drivers.terrace_node()]

    # -- what is prepared once -----------------------------------------------------------------------------------

    def prepare(self, name, count, large_values):
        """Makes operations and their files."""
        return self.save(name, Operations(self.arguments.seed, count, large_values))

    def save(self, name, operations):
        """Writes the files of operations."""
        operations.path = self.directory / f"{name}.operations"
        operations.keys_path = self.directory / f"{name}.keys"
        operations.save(operations.path)
        operations.save_keys(operations.keys_path)
        return operations

    def writers(self):
        """Every implementation with every setting that changes what it writes; in the short form, with one."""
        return _first_of_each(self._writers()) if self.arguments.short else list(self._writers())

    def _writers(self):
        raw = ("--compression", "none")
        no_bloom = ("--bloom", "0")
        yield self.plyvel.having("snappy, bloom", *WRITE_BUFFER)
        yield self.plyvel.having("raw, no bloom", *WRITE_BUFFER, *raw, *no_bloom)
        yield self.classic.having("snappy", *WRITE_BUFFER)
        yield self.classic.having("raw", *WRITE_BUFFER, *raw)
        yield self.goleveldb.having("snappy, bloom", *WRITE_BUFFER)
        yield self.goleveldb.having("raw, no bloom", *WRITE_BUFFER, *raw, *no_bloom)
        for rusty in self.rusty:
            yield rusty.having("snappy", *WRITE_BUFFER)
            yield rusty.having("raw", *WRITE_BUFFER, *raw)
        for terrace in self.ours[:1]:
            yield terrace.having("snappy, bloom", *WRITE_BUFFER)
            yield terrace.having("snappy, no bloom", *WRITE_BUFFER, *no_bloom)
            yield terrace.having("raw, bloom", *WRITE_BUFFER, *raw)
            yield terrace.having("raw, no bloom", *WRITE_BUFFER, *raw, *no_bloom)
            yield terrace.having("in one memtable")
        for terrace in self.ours[1:]:
            yield terrace.having("snappy", *WRITE_BUFFER)
            yield terrace.having("raw", *WRITE_BUFFER, *raw)

    def readers(self):
        """Every implementation with every setting that changes how it reads; in the short form, with one."""
        return _first_of_each(self._readers()) if self.arguments.short else list(self._readers())

    def _readers(self):
        yield self.plyvel
        yield self.plyvel.having("paranoid", "--paranoid")
        yield self.classic
        yield self.goleveldb.having("strict", "--paranoid")
        yield from self.rusty
        for terrace in self.ours[:1]:
            yield terrace
            yield terrace.having("paranoid", "--paranoid")
            yield terrace.having("read-only", "--read-only")
        yield from self.ours[1:]

    def copy(self, directory):
        """A copy for one reader, because LevelDB changes a directory by opening it."""
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        shutil.copytree(directory, copy, dirs_exist_ok=True)
        return copy

    def read_by_all(self, trial, row, directory, last_writer, operations, expected, half=None):
        """Enters one cell for each reader. `expected` has the digests of every state that is right. Returns the index of the
        state that was found; all readers must find the same one. In the short form an even `half` leaves out every second
        reader, and an odd one the others."""
        found = set()

        def read(reader):
            if reader.name.startswith("goleveldb") and not last_writer.name.startswith(("goleveldb", "terrace")):
                return KNOWN
            copy = self.copy(directory)
            try:
                before = _fingerprint(copy)
                digests = reader.digests(copy, operations.keys_path)
                state = next((state for state in expected if _agree(digests, state)), None)
                if state is None:
                    return _difference(digests, expected[0])
                found.add(expected.index(state))
                if "--read-only" in reader.settings and _fingerprint(copy) != before:
                    return "the directory was changed by reading it"
                return None if len(found) == 1 else "reads a different state than the readers before it"
            except Failure as failure:
                return str(failure)
            finally:
                shutil.rmtree(copy)

        readers = list(self.readers())
        if self.arguments.short and half is not None:
            readers = readers[half % 2 :: 2]
        for reader, problem in zip(readers, self.pool.map(read, readers)):
            self.matrix.add(trial, row, reader.name, problem)
        return min(found, default=0)

    # -- the trials ----------------------------------------------------------------------------------------------

    def harness(self):
        """Shows that the matrix itself can fail: every reader notices a database without its last write."""
        operations = self.prepare("harness", 1000, large_values=0)
        writes = operations.writes
        writes.append([(writes[0][0][0], b"the last write")])
        expected = State(operations).advance(len(writes))
        directory = self.directory / "harness"
        self.goleveldb.apply(directory, operations.path, 0, len(writes) - 1)
        for reader in self.readers():
            found = reader.digests(self.copy(directory), operations.keys_path)
            unnoticed = [kind for kind in found if found[kind] == expected[kind]]
            problem = f"{unnoticed} did not find it out" if unnoticed else None
            self.matrix.add("harness", "the last write is missing", reader.name, problem)
        shutil.rmtree(directory)

    def exchange(self):
        """Each implementation writes a database alone; every other one reads it."""
        operations = self.prepare("exchange", self.arguments.count, large_values=1 if self.arguments.short else 4)
        expected = State(operations).advance(len(operations.writes))
        for writer in self.writers():
            directory = self.directory / "exchange"
            try:
                writer.apply(directory, operations.path)
            except Failure as failure:
                self.matrix.add("exchange", writer.name, "writes", str(failure))
            else:
                self.read_by_all("exchange", writer.name, directory, writer, operations, [expected])
            shutil.rmtree(directory, ignore_errors=True)

    def alternation(self):
        """Writers take turns on one database. After each turn every reader reads it."""
        operations = self.prepare("alternation", self.arguments.count, large_values=4 if self.arguments.short else 8)
        plain = [writer for writer in self.writers() if "one memtable" not in writer.name]
        leveldb = [writer for writer in plain if writer.name.startswith(("plyvel", "classic", "rusty"))]
        ours = [writer for writer in plain if writer.name.startswith("terrace")]
        go = [writer for writer in plain if writer.name.startswith("goleveldb")]
        # goleveldb may only follow ours, see KNOWN_LEGEND.
        self._take_turns("alternation", operations, _in_turns(ours, leveldb))
        if ours:
            self._take_turns("alternation with goleveldb", operations, _in_turns(ours, go))

    def _take_turns(self, trial, operations, turns):
        directory = self.directory / "turns"
        state = State(operations)
        for index, writer in enumerate(turns):
            first, last = state.position, len(operations.writes) * (index + 1) // len(turns)
            row = f"{index + 1}. {writer.name}"
            try:
                writer.apply(directory, operations.path, first, last)
            except Failure as failure:
                self.matrix.add(trial, row, "writes", str(failure))
                break
            self.read_by_all(trial, row, directory, writer, operations, [state.advance(last)], half=index)
        shutil.rmtree(directory, ignore_errors=True)

    def kills(self):
        """Each writer is killed in the middle of its writes. Every reader must find all acknowledged writes and nothing else,
        except the one write that was running. The next writer goes on from there."""
        operations = self.prepare("kills", 4 * self.arguments.count, large_values=4 if self.arguments.short else 16)
        writers = [writer for writer in self.writers() if "raw" not in writer.name]
        # rusty-leveldb panics when its recovery writes a block whose last key is empty (cmp.rs, find_shortest_sep). It is
        # killed in `logs` instead, where no key is empty.
        others = ("terrace", "goleveldb", "rusty-leveldb")
        leveldb = [writer for writer in writers if not writer.name.startswith(others)]
        ours = [writer for writer in writers if writer.name.startswith("terrace")]
        turns = _in_turns(ours, leveldb) * 2
        directory = self.directory / "kills"
        state = State(operations)
        position = 0
        for index, writer in enumerate(turns):
            row = f"{index + 1}. {writer.name}"
            if index >= len(turns) // 2 and writer in ours:
                # While it still has what the writer before it left in a log.
                goal = position + 1
            else:
                goal = self._kill_goal(operations, position, len(turns) - index, large=index % 2 == 0)
            try:
                acknowledged = self._apply_until_killed(writer, directory, operations, position, goal)
            except Failure as failure:
                self.matrix.add("kills", row, "writes", str(failure))
                break
            without, underway = state.advance(acknowledged), state.advance(acknowledged + 1)
            # Who has read after a writer's first turn does not read after its second.
            half = index + index // (len(turns) // 2)
            found = self.read_by_all("kills", row, directory, writer, operations, [without, underway], half)
            position = acknowledged + found
        shutil.rmtree(directory, ignore_errors=True)

    def _kill_goal(self, operations, position, turns_left, large):
        """The number of acknowledged writes after which to kill: random, or when a large write is next."""
        end = position + (len(operations.writes) - position) // (turns_left + 1)
        if large:
            for index in range(end, position, -1):
                if any(value and len(value) > 1_000_000 for _, value in operations.writes[index]):
                    return index
        return self.random.randrange(position + 1, end)

    def _apply_until_killed(self, writer, directory, operations, position, goal):
        process = writer.start_applying(directory, operations.path, position)
        acknowledged = position
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged == goal:
                process.send_signal(signal.SIGKILL)
        error = process.communicate()[1]
        if process.returncode != -signal.SIGKILL:
            raise Failure(f"{writer.name} ended by itself at write {acknowledged}: {error.decode(errors='replace')}")
        return acknowledged

    def logs(self):
        """Each writer is killed when it has 10,000 entries in its log, in batches that cross the ends of the log's blocks, and
        none in a table. A writer that is not killed has written LevelDB's log, byte for byte."""
        operations = self.save("logs", EvenBatches(self.arguments.seed, 11_000))
        directory = self.directory / "logs"
        leveldbs = self._log_of(self.plyvel, directory, operations)
        for writer in [self.plyvel, self.classic, self.goleveldb, *self.rusty, *self.ours]:
            try:
                acknowledged = self._kill_before_its_end(writer, directory, operations, goal=100)
            except Failure as failure:
                self.matrix.add("logs", writer.name, "writes", str(failure))
                shutil.rmtree(directory, ignore_errors=True)
                continue
            state = State(operations)
            expected = [state.advance(acknowledged), state.advance(acknowledged + 1)]
            self.read_by_all("logs", writer.name, directory, writer, operations, expected)
            shutil.rmtree(directory)
            problem = None if self._log_of(writer, directory, operations) == leveldbs else "the log differs from LevelDB's"
            self.matrix.add("logs", writer.name, "bytes", problem)

    def _kill_before_its_end(self, writer, directory, operations, goal, attempts=20):
        """On a busy machine a writer may be done before the signal reaches it. Then it writes once more."""
        for attempts_left in reversed(range(attempts)):
            try:
                return self._apply_until_killed(writer, directory, operations, 0, goal)
            except Failure:
                if attempts_left == 0:
                    raise
                shutil.rmtree(directory, ignore_errors=True)

    def _log_of(self, writer, directory, operations):
        """The bytes of the only log that the writer leaves."""
        writer.apply(directory, operations.path)
        (log,) = directory.glob("*.log")
        content = log.read_bytes()
        shutil.rmtree(directory)
        return content

    def locks(self):
        """Nobody else can open a database that is open, and it opens once it is closed."""
        operations = self.prepare("locks", 100, large_values=0)
        expected = State(operations).advance(len(operations.writes))
        # goleveldb and rusty-leveldb take another kind of lock, which LevelDB does not see either.
        parties = [self.plyvel, self.classic, *self.ours]
        for holder in parties:
            directory = self.directory / "locks"
            holder.apply(directory, operations.path)
            process = holder.hold(directory)
            for opener in parties:
                refusal = opener.refusal(directory, operations.keys_path)
                problem = None if refusal else "opened a database that is in use"
                if refusal and opener in self.ours and holder not in self.ours and str(process.pid) not in refusal:
                    problem = f"the error does not name process {process.pid}, which holds the lock: {refusal}"
                self.matrix.add("locks", f"held by {holder.name}", opener.name, problem)
            process.communicate()
            for opener in parties:
                problem = opener.refusal(directory, operations.keys_path)
                self.matrix.add("locks", f"released by {holder.name}", opener.name, problem)
            if holder.digests(directory, operations.keys_path) != expected:
                self.matrix.add("locks", f"released by {holder.name}", "content", "the content changed")
            shutil.rmtree(directory)

    def beside(self):
        """Terrace reads a database that another program has open and is writing, without changing a byte."""
        if not self.ours:
            return
        operations = self.prepare("beside", 4 * self.arguments.count, large_values=4 if self.arguments.short else 16)
        reader = self.ours[0].having("read-only", "--read-only")
        for writer in [self.plyvel, self.classic, *self.ours]:
            directory = self.directory / "beside"
            process = writer.having("writes", *WRITE_BUFFER).start_applying(directory, operations.path)
            for line in process.stdout:
                if int(line) > len(operations.writes) // 8:
                    break
            # Keeps reading, so that the writer never waits for us.
            rest = self.pool.submit(process.stdout.read)
            problem = self._read_while_running(reader, directory, operations, process)
            self.matrix.add("beside", writer.name, "read-only", problem)
            process.kill()
            rest.result()
            process.communicate()
            shutil.rmtree(directory)

    def _read_while_running(self, reader, directory, operations, process):
        """What is wrong with reads of a database while `process` writes it; None if nothing is."""
        reads = 0
        while process.poll() is None and reads < 3:
            try:
                digests = reader.digests(directory, operations.keys_path)
            except Failure as failure:
                return str(failure)
            if digests["forward"][0] != digests["backward"][0]:
                return "forwards and backwards differ"
            reads += process.poll() is None
        return None if reads > 0 else "the writer ended before a read was done"


def _in_turns(ours, others):
    """Our implementations and others in turn, until each of both has had one."""
    if not ours:
        return others
    turns = max(len(ours), len(others))
    return [party[index % len(party)] for index in range(turns) for party in (ours, others)]


def _first_of_each(variants):
    """The first of each implementation's."""
    return list({(variant.command, variant.environment): variant for variant in reversed(list(variants))}.values())[::-1]


def _agree(found, expected):
    return all(expected[kind] == digest for kind, digest in found.items())


def _difference(found, expected):
    wrong = [
        f"{kind}: {found[kind][0]} entries, expected {expected[kind][0]}"
        for kind in found
        if found[kind] != expected[kind]
    ]
    return "digests differ (" + "; ".join(wrong) + ")"


def _fingerprint(directory):
    """Names, sizes and contents of all files in a directory."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


def main():
    trials = ["harness", "exchange", "alternation", "kills", "logs", "locks", "beside"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", choices=[*trials, []], help="which to run; all if none is named")
    parser.add_argument("--short", action="store_true", help="one setting each, no rusty-leveldb, half of the readers after a turn, 5,000 operations a trial, Terrace with assertions")
    parser.add_argument("--count", type=int, help="operations of a trial (default 100,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the operations (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="readers at once (default 2)")
    parser.add_argument("--without-terrace", action="store_true", help="only the others among themselves")
    arguments = parser.parse_args()
    arguments.count = arguments.count or (5_000 if arguments.short else 100_000)
    arguments.profile = "debug" if arguments.short else "release"

    missing = drivers.find_missing()
    for what, how in missing:
        print(f"missing: {what}; to get it: {how}", file=sys.stderr)
    if missing:
        return 2
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="terrace-interop-") as directory:
        interop = Interop(pathlib.Path(directory), arguments)
        drivers.build(
            interop.directory,
            with_rusty=not arguments.short,
            # `make dev-build` has built it with assertions.
            with_terrace=not arguments.short and not arguments.without_terrace,
        )
        print(f"interop matrix: {arguments.count} operations a trial, seed {arguments.seed}")
        for trial in arguments.trials or trials:
            getattr(interop, trial)()
    interop.matrix.print()
    print(f"{time.monotonic() - started:.0f} seconds")
    return 1 if interop.matrix.failures else 0


if __name__ == "__main__":
    sys.exit(main())
