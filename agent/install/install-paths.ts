/** Paths of an installed agent. */

/** Contains the identity, the cached Pods and the program's versions. */
export const DATA_DIR = '/var/lib/everynode-agent';
/**
 * Contains a folder per version, and three links. `current` runs. `previous` ran before it, and `proven` is the version
 * behind the operator's command.
 */
export const VERSIONS_DIR = `${DATA_DIR}/versions`;
export const CONFIG_DIR = '/etc/everynode';
/** All settings, with labels and taints. */
export const CONFIG_FILE = `${CONFIG_DIR}/agent.yaml`;
/** PEM of the key that signs releases. Upgrades without its signature are rejected. */
export const RELEASE_KEY_FILE = `${CONFIG_DIR}/release.pub`;
/** Variables of the HTTP proxy, if the host needs one. Mode 0600. */
export const PROXY_FILE = `${CONFIG_DIR}/proxy.env`;
export const UNIT_DIR = '/etc/systemd/system';
export const SERVICE = 'everynode-agent.service';
export const RECOVERY_SERVICE = 'everynode-agent-recover.service';
/** Holds the sockets of the cluster DNS. Absent on hosts that an earlier version has installed. */
export const DNS_SOCKET = 'everynode-agent-dns.socket';
/** Command for operators. Leads to the last version that reached the coordinator. */
export const COMMAND_LINK = '/usr/local/bin/everynode-agent';
/** File name of the program in its version's folder. */
export const PROGRAM = 'everynode-agent';
/** Unit of the `.deb` and `.rpm`, whose package manager updates and removes all units. */
export const PACKAGED_UNIT = '/usr/lib/systemd/system/everynode-agent.service';
