# Neither starts nor enables the service: `everynode coordinator install` does, and writes the settings, once the
# operator has chosen an address.
if ! getent passwd everynode >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/everynode --no-create-home --shell /usr/sbin/nologin everynode
fi
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if systemctl is-active --quiet everynode-coordinator.service; then
  # The previous version cannot read a database that this version has changed.
  runuser -u everynode -- /usr/bin/everynode backup --data /var/lib/everynode ||
    echo "everynode: no backup was taken before the upgrade" >&2
  systemctl restart everynode-coordinator.service ||
    echo "everynode: the coordinator does not start: journalctl -u everynode-coordinator" >&2
fi
