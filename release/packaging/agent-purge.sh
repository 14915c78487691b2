unit=/etc/systemd/system/everynode-agent.service
data=/var/lib/everynode-agent
program=$data/versions/proven/everynode-agent
# A purge may follow the removal by months. An agent that the script installed, or one in a container, may use the data now.
lock=everynode-agent-$(printf %s "$(realpath "$data" 2>/dev/null)" | sha256sum | cut -c 1-32)
if [ -f "$unit" ]; then
  echo "everynode-agent: kept $data: $unit belongs to another installation (everynode-agent uninstall --purge)" >&2
elif grep -Eq "@$lock(@|\$)" /proc/net/unix; then
  echo "everynode-agent: kept $data: an agent is using it" >&2
elif [ -x "$program" ]; then
  # The program of the last working version is part of the data, so that it can remove containers and networks.
  "$program" uninstall --purge --yes
else
  # `everynode-agent uninstall` has removed the program and the containers, but not the private key of the host.
  while read -r _ _ _ _ mount _; do
    case "$mount" in "$data" | "$data"/*)
      echo "everynode-agent: kept $data, because $mount is mounted: unmount it, then purge again" >&2
      exit 1 ;;
    esac
  done </proc/self/mountinfo
  rm -rf "$data"
  rm -f /etc/everynode/agent.yaml /etc/everynode/proxy.env /etc/everynode/release.pub
  rmdir --ignore-fail-on-non-empty /etc/everynode 2>/dev/null || true
fi
