# Containers keep running. `everynode-agent uninstall` before the removal stops them.
[ -d /run/systemd/system ] || exit 0
# The service of that name then belongs to an installation by the script.
[ ! -f /etc/systemd/system/everynode-agent.service ] || exit 0
systemctl stop 'everynode-agent-trial-*.timer' 2>/dev/null || true
# The socket first: a query would start the agent again.
for unit in everynode-agent-dns.socket everynode-agent.service everynode-agent-recover.service; do
  systemctl disable --quiet --now "$unit" || true
done
