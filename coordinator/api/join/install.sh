#!/bin/sh
# Makes this host a node of the Everynode fleet of @SERVER@:
#   { echo EVERYNODE_TOKEN=TOKEN; curl … @SERVER@/install.sh; } | sudo sh -s -- [--labels K=V,…] [--taints K=V:EFFECT,…] [--file FILE]
# It fetches the agent for this processor, compares it with the hash below, and lets it install itself
# (everynode-agent install --help; everynode-agent uninstall undoes it). Nothing that the coordinator says is trusted
# but this text, which the printed line pins by the key of the coordinator; the agent then checks the authority that the token names.
set -eu

server='@SERVER@'
version='@VERSION@'
sums='@SUMS@'
release_key='@RELEASE_KEY@'

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# Everything is inside of a function: a script that arrives in part does nothing.
main() {
  file=
  [ "$(id -u)" = 0 ] || fail 'needs root: … | sudo sh -s -- …'
  [ -d /run/systemd/system ] || fail 'needs a host that systemd runs'
  case "$(uname -m)" in
    x86_64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no agent for $(uname -m)" ;;
  esac
  if [ "${1-}" = --file ]; then
    [ $# -ge 2 ] || fail '--file wants a file'
    file=$2
    shift 2
  fi
  # Not in /tmp, where many hosts let nothing run.
  folder=$(mktemp -d /var/lib/everynode-install.XXXXXX)
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 1' HUP INT TERM
  name="everynode-agent-$version-linux-$arch"
  if command -v xz >/dev/null 2>&1 && has "$name.xz"; then
    archive="$name.xz" unpack=xz
  elif has "$name.gz"; then
    archive="$name.gz" unpack=gzip
  else
    fail "the coordinator has no agent for $arch"
  fi
  if [ -n "$file" ]; then
    archive=$(basename "$file")
    case "$archive" in *.xz) unpack=xz ;; *) unpack=gzip ;; esac
    cp "$file" "$folder/$archive"
  else
    # Whoever answers: the hash decides.
    curl -fsSk --retry 3 -o "$folder/$archive" "$server/agent/$version/$archive" || fail "$archive cannot be fetched"
  fi
  (cd "$folder" && printf '%s\n' "$sums" | grep -F "  $archive" | sha256sum -c - >/dev/null) ||
    fail "$archive is not the file that the coordinator names"
  "$unpack" -dc "$folder/$archive" >"$folder/everynode-agent"
  chmod 755 "$folder/everynode-agent"
  printf '%s\n' "$release_key" >"$folder/release.pub"
  set -- install --server "$server" --release-key "$folder/release.pub" "$@"
  token=${EVERYNODE_TOKEN-}
  unset EVERYNODE_TOKEN
  if [ -n "$token" ]; then
    # Through a pipe: every user of the host can read the arguments of a process.
    printf '%s\n' "$token" | "$folder/everynode-agent" "$@" --token-file -
  else
    "$folder/everynode-agent" "$@"
  fi
}

has() {
  printf '%s\n' "$sums" | grep -qF "  $1"
}

main "$@"
