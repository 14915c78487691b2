#!/bin/sh
# Installs the coordinator of this archive, without a network. As root: ./install --advertise HOST [setting…]
# Verify the archive first, because a changed archive has a changed script: docs/install.md, "Without a network".
set -eu
# The working directory stays, because the settings may be relative paths.
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "everynode: run as root: sudo ./install --advertise HOST" >&2; exit 1; }
(cd "$here" && sha256sum --quiet --check SHA256SUMS) ||
  { echo "everynode: the archive is damaged; nothing was changed" >&2; exit 1; }
case "$(uname -m)" in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) echo "everynode: there is no coordinator for $(uname -m)" >&2; exit 1 ;;
esac
package="$here/everynode-coordinator-@VERSION@-linux-$architecture"
if command -v dpkg >/dev/null; then dpkg --install "$package.deb"
elif command -v rpm >/dev/null; then rpm --upgrade --replacepkgs --oldpackage "$package.rpm"
else
  echo "everynode: this machine has neither dpkg nor rpm" >&2
  exit 1
fi
# The full path: a command of an npm installation would come first, and install itself again.
exec /usr/bin/everynode coordinator install --release "$here/release" "$@"
