#!/usr/bin/env bash
# Makes a Windows for wine in target/wine, with what wine 8 lacks of it. Costs next to nothing the second time.
set -euo pipefail
cd "$(dirname "$0")/../../.."

export WINEPREFIX="$PWD/target/wine" WINEDEBUG=-all
system="$WINEPREFIX/drive_c/windows/system32"
if [[ ! -d $system ]]; then
  mkdir -p target
  wineboot --init >/dev/null 2>&1
  wineserver --wait
fi
# The drive as a share of this machine, which Windows has by itself.
mkdir -p "$WINEPREFIX/dosdevices/unc/localhost"
ln -sfn "$WINEPREFIX/drive_c" "$WINEPREFIX/dosdevices/unc/localhost/c\$"
if [[ ! -e $system/bcryptprimitives.dll || tests/platforms/windows/bcryptprimitives.c -nt $system/bcryptprimitives.dll ]]; then
  x86_64-w64-mingw32-gcc -shared -O2 -o "$system/bcryptprimitives.dll" tests/platforms/windows/bcryptprimitives.c -ladvapi32
fi
