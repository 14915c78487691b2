[ -d /run/systemd/system ] || exit 0
systemctl disable --quiet --now everynode-coordinator.service || true
