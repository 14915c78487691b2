[ -d /run/systemd/system ] || exit 0
# The service of that name then belongs to an installation by npm.
[ ! -f /etc/systemd/system/everynode-coordinator.service ] || exit 0
systemctl disable --quiet --now everynode-coordinator.service || true
