#!/bin/sh
# Prints the program of one architecture in base64, as in sandbox-program.ts.
#   build.sh amd64|arm64|arm   needs binutils; for another architecture Debian's binutils-aarch64-linux-gnu,
#                              binutils-arm-linux-gnueabihf or binutils-x86-64-linux-gnu
set -eu
case "$1" in
  amd64) tools=x86_64-linux-gnu ;;
  arm64) tools=aarch64-linux-gnu ;;
  arm) tools=arm-linux-gnueabihf ;;
  *) echo "usage: build.sh amd64|arm64|arm" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tools-as" -o "$work/sandbox.o" "$(dirname "$0")/sandbox-$1.s"
"$tools-ld" -Ttext 0x400000 -o "$work/linked" "$work/sandbox.o"
# The assembly contains its own ELF header: drop what the linker adds.
"$tools-objcopy" -O binary -j .text "$work/linked" "$work/sandbox"
base64 -w 0 "$work/sandbox"
echo
