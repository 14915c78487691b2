# The program of the last working version is part of the data, so that it can remove containers and networks.
program=/var/lib/everynode-agent/versions/proven/everynode-agent
[ ! -x "$program" ] || "$program" uninstall --purge --yes
