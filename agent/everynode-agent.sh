#!/bin/sh
# Starts the agent with the flags of shared/process/service/small-heap.ts, by the Node in EVERYNODE_NODE, else the one in PATH. The version
# of Node decides one of them at each start: before 24, --lite-mode warns on stderr without --no-expose-wasm; 24 refuses that flag.
set -eu
node=${EVERYNODE_NODE:-node}
unset EVERYNODE_NODE
# npm makes links to this file.
folder=$(dirname "$(readlink -f "$0")")
case "$("$node" --version)" in
  v2[0-3].*) wasm=--no-expose-wasm ;;
  *) wasm= ;;
esac
exec "$node" $wasm --lite-mode --max-semi-space-size=1 --max-old-space-size=128 "$folder/everynode-agent.cjs" "$@"
