[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
