#!/usr/bin/env bash
# Runs a Windows program in wine, for cargo (CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER) and `run.js`. In wine, writes of a program to a
# pipe may fail, so its output goes to files first.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)

export WINEPREFIX="$root/target/wine" WINEDEBUG=-all
output=$(mktemp) errors=$(mktemp)
trap 'rm -f "$output" "$errors"' EXIT
# The server outlives the program: one that ends while another program starts would take that with it.
wineserver --persistent=60 >/dev/null 2>&1
start() { # program and arguments
  wine "$@" >"$output" 2>"$errors" </dev/null
  status=$?
}
start "$@"
# Rarely, wine ends before it starts the program, without a word.
[[ $status != 1 || -s $output || -s $errors ]] || start "$@"
cat "$output"
cat "$errors" >&2
exit $status
