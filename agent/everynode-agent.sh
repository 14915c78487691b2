#!/bin/sh
# Starts the agent with the flags of shared/process/service/child-program.ts, using Node from EVERYNODE_NODE or PATH.
# One flag depends on the version: before 24, --lite-mode warns on stderr without --no-expose-wasm; 24 rejects that flag.
# A simulated fleet has no flags: Node 22 cannot load it without WebAssembly.
set -eu
node=${EVERYNODE_NODE:-node}
unset EVERYNODE_NODE
# npm links to this file.
folder=$(dirname "$(readlink -f "$0")")
if [ "${1-}" = simulate ]; then
  exec "$node" "$folder/everynode-agent.cjs" "$@"
fi
case "$("$node" --version)" in
  v2[0-3].*) wasm=--no-expose-wasm ;;
  *) wasm= ;;
esac
exec "$node" $wasm --lite-mode --max-semi-space-size=1 --max-old-space-size=128 "$folder/everynode-agent.cjs" "$@"
