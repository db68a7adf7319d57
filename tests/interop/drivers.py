"""The programs that take part in a trial, and how each is called."""

import dataclasses
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEBIAN_PYTHON = "/usr/bin/python3"
RUSTY_LEVELDB = HERE / "drivers" / "rusty-leveldb"
TIMEOUT_SECONDS = 300


class Failure(Exception):
    """A driver ended badly, or a state is not the expected one."""


@dataclasses.dataclass(frozen=True)
class Driver:
    """An implementation with the settings that it runs under."""

    name: str
    command: tuple
    settings: tuple = ()
    environment: tuple = ()
    # What its digests cover.
    kinds: tuple = ("forward", "backward", "points")

    def having(self, label, *settings):
        """The same implementation with further settings, shown as `name label`."""
        return dataclasses.replace(self, name=f"{self.name} {label}", settings=self.settings + settings)

    def apply(self, directory, operations_path, first=0, last=None):
        """Applies the writes first .. last (exclusive; to the end if None) of the operations file."""
        self._run("apply", directory, *_range(operations_path, first, last))

    def start_applying(self, directory, operations_path, first=0):
        """Begins to apply writes, each acknowledged on standard output by the number of writes done."""
        arguments = (*_range(operations_path, first, None), "--acknowledge")
        return self._start("apply", directory, *arguments)

    def digests(self, directory, keys_path):
        """What the driver reads in `directory`, as {kind: (entries, hex)}."""
        lines = self._run("digest", directory, "--keys", keys_path).split("\n")
        rows = [line.split() for line in lines if line]
        digests = {kind: (int(entries), digest) for kind, entries, digest in rows}
        if tuple(digests) != self.kinds:
            raise Failure(f"{self.name} printed the digests {tuple(digests)}")
        return digests

    def hold(self, directory):
        """Opens the database and keeps it open until the returned process ends."""
        process = self._start("hold", directory)
        if process.stdout.readline() != b"held\n":
            raise Failure(f"{self.name} could not open: {_one_line(process.communicate()[1])}")
        return process

    def refusal(self, directory, keys_path):
        """The error with which the driver refuses to open `directory`, or None if it opens it."""
        try:
            self.digests(directory, keys_path)
        except Failure as failure:
            return str(failure)
        return None

    def _arguments(self, command, directory, *arguments):
        return [*self.command, command, str(directory), *map(str, arguments), *self.settings]

    def _environment(self):
        return {**os.environ, **dict(self.environment)}

    def _start(self, command, directory, *arguments):
        return subprocess.Popen(
            self._arguments(command, directory, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment(),
        )

    def _run(self, command, directory, *arguments):
        ended = subprocess.run(
            self._arguments(command, directory, *arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            env=self._environment(),
        )
        if ended.returncode != 0:
            raise Failure(f"{self.name} {command} ended with {ended.returncode}: {_one_line(ended.stderr)}")
        return ended.stdout.decode()


def _range(operations_path, first, last):
    end = () if last is None else ("--last", last)
    return ("--operations", operations_path, "--first", first, *end)


def _one_line(output):
    return " | ".join(line.strip() for line in output.decode(errors="replace").split("\n") if line.strip())


def find_missing():
    """What the trial needs and this machine lacks, as (what, how to get it)."""
    missing = []
    plyvel = subprocess.run([DEBIAN_PYTHON, "-c", "import plyvel"], capture_output=True)
    if plyvel.returncode != 0:
        missing.append(("plyvel (LevelDB 1.23)", "apt-get install python3-plyvel"))
    if subprocess.run(["node", "--eval", 'require("classic-level")'], cwd=HERE, capture_output=True).returncode != 0:
        missing.append(("classic-level (LevelDB 1.20)", "npm ci"))
    if shutil.which("go") is None:
        missing.append(("Go, for goleveldb", "apt-get install golang-go"))
    return missing


def build(directory, with_rusty, with_terrace):
    """Builds the compiled drivers, into `directory` or where cargo puts them."""
    subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", directory / "goleveldb", "."],
        cwd=HERE / "drivers" / "goleveldb",
        check=True,
    )
    if with_rusty:
        # Next to its sources, where cargo finds what it built before.
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked"], cwd=RUSTY_LEVELDB, check=True)
    if with_terrace:
        package = ("--package", "terrace-testkit", "--bin", "terrace-interop")
        subprocess.run(["cargo", "build", "--quiet", "--release", *package], cwd=ROOT, check=True)


def plyvel():
    """LevelDB 1.23."""
    return Driver("plyvel", (DEBIAN_PYTHON, str(HERE / "drivers" / "plyvel_driver.py")))


def classic_level():
    """LevelDB 1.20."""
    return Driver("classic-level", ("node", str(HERE / "drivers" / "level_driver.mjs")))


def goleveldb(directory):
    """The Go implementation, built into `directory`."""
    return Driver("goleveldb", (str(directory / "goleveldb"),))


def rusty_leveldb():
    """The Rust implementation. Its backward reads are wrong even on its own databases."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", RUSTY_LEVELDB / "target"))
    program = target / "release" / "rusty-leveldb-driver"
    return Driver("rusty-leveldb", (str(program),), kinds=("forward", "points"))


def terrace(profile):
    """Our engine, called from Rust: as it is published, or with assertions (`debug`)."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Driver("terrace", (str(target / profile / "terrace-interop"),))


def terrace_node():
    """Our engine, called through the Node package."""
    driver = HERE / "drivers" / "level_driver.mjs"
    return Driver("terrace (npm)", ("node", str(driver)), environment=(("LEVEL_CLASS", "terrace#Level"),))
