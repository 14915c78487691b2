rm -rf /var/lib/everynode /etc/systemd/system/everynode-coordinator.service.d/everynode-etcd.conf
rmdir --ignore-fail-on-non-empty /etc/systemd/system/everynode-coordinator.service.d 2>/dev/null || true
rmdir --ignore-fail-on-non-empty /etc/everynode 2>/dev/null || true
userdel everynode 2>/dev/null || true
