/** Where an installed agent has what. */

/** Of the identity, of what the host was given, and of the versions of the program. */
export const DATA_DIR = '/var/lib/everynode-agent';
/** A folder for each version, and three links: `current`, which runs, `previous`, which ran before, and `proven`, which people command. */
export const VERSIONS_DIR = `${DATA_DIR}/versions`;
export const CONFIG_DIR = '/etc/everynode';
/** Every setting, and the labels and taints. */
export const CONFIG_FILE = `${CONFIG_DIR}/agent.yaml`;
/** The key that signs releases, as PEM: upgrades that it has not signed are refused. */
export const RELEASE_KEY_FILE = `${CONFIG_DIR}/release.pub`;
export const UNIT_DIR = '/etc/systemd/system';
export const SERVICE = 'everynode-agent.service';
export const RECOVERY_SERVICE = 'everynode-agent-recover.service';
/** For people: the version that last proved itself. */
export const COMMAND_LINK = '/usr/local/bin/everynode-agent';
/** File name of the program inside of its version's folder. */
export const PROGRAM = 'everynode-agent';
