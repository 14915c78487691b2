#!/bin/sh
# Installs the Everynode agent on this host and joins the fleet of @SERVER@:
#   { echo EVERYNODE_TOKEN=TOKEN; curl … @SERVER@/install.sh; } | sudo sh -s -- [--labels K=V,…] [--taints K=V:EFFECT,…] [--file FILE]
# It downloads the agent for this processor, verifies it with the hash below, and runs its install command
# (see everynode-agent install --help; everynode-agent uninstall removes the agent). The join
# command pins the coordinator's key, so this script can be trusted. The agent then verifies the authority that the token
# names. Behind a proxy, send HTTPS_PROXY and NO_PROXY as further lines before this script. The download and the agent use
# them. The agent stores them in a file that only root reads.
set -eu

server='@SERVER@'
version='@VERSION@'
sums='@SUMS@'
release_key='@RELEASE_KEY@'

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# All commands are in a function, so that a partly downloaded script does nothing.
main() {
  file=
  use_proxy
  [ "$(id -u)" = 0 ] || fail 'must run as root: … | sudo sh -s -- …'
  [ -d /run/systemd/system ] || fail 'systemd is required'
  case "$(uname -m)" in
    x86_64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "unsupported processor: $(uname -m)" ;;
  esac
  if [ "${1-}" = --file ]; then
    [ $# -ge 2 ] || fail '--file needs a path'
    file=$2
    shift 2
  fi
  # Not in /tmp, which many hosts mount with noexec.
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
    # TLS is not verified, because the hash below is.
    curl -fsSk --retry 3 -o "$folder/$archive" "$server/agent/$version/$archive" || fail "download of $archive failed"
  fi
  (cd "$folder" && printf '%s\n' "$sums" | grep -F "  $archive" | sha256sum -c - >/dev/null) ||
    fail "$archive does not have the expected hash"
  "$unpack" -dc "$folder/$archive" >"$folder/everynode-agent"
  chmod 755 "$folder/everynode-agent"
  printf '%s\n' "$release_key" >"$folder/release.pub"
  set -- install --server "$server" --release-key "$folder/release.pub" "$@"
  token=${EVERYNODE_TOKEN-}
  unset EVERYNODE_TOKEN
  if [ -n "$token" ]; then
    # Passed through a pipe, because every user of the host can read the arguments of a process.
    printf '%s\n' "$token" | "$folder/everynode-agent" "$@" --token-file -
  else
    "$folder/everynode-agent" "$@"
  fi
}

# Exports the variables of an HTTP proxy for curl and the agent: those before this script, or those of an earlier
# installation.
use_proxy() {
  stored=/etc/everynode/proxy.env
  if [ -z "${HTTPS_PROXY+given}${https_proxy+given}" ] && [ -r "$stored" ]; then
    exceptions=${NO_PROXY-${no_proxy-}}
    . "$stored"
    [ -z "$exceptions" ] || NO_PROXY=$exceptions
  fi
  # A variable that is not set stays unset.
  export HTTPS_PROXY https_proxy NO_PROXY no_proxy
}

has() {
  printf '%s\n' "$sums" | grep -qF "  $1"
}

main "$@"
