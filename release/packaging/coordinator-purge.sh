unit=/etc/systemd/system/everynode-coordinator.service
data=/var/lib/everynode
# A purge may follow the removal by months. A coordinator that npm installed, or one in a container, may use the data now.
lock=$(stat -c %i "$data/lock" 2>/dev/null || true)
if [ -f "$unit" ]; then
  echo "everynode: kept $data: $unit belongs to another installation (everynode coordinator uninstall --purge)" >&2
elif [ -n "$lock" ] && grep -q ":$lock " /proc/locks; then
  echo "everynode: kept $data: a coordinator is using it" >&2
else
  rm -rf "$data" "$unit.d/everynode-etcd.conf"
  rm -f /etc/everynode/coordinator.yaml
  rmdir --ignore-fail-on-non-empty "$unit.d" 2>/dev/null || true
  rmdir --ignore-fail-on-non-empty /etc/everynode 2>/dev/null || true
  userdel everynode 2>/dev/null || true
fi
