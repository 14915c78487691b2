/** Where an installed coordinator has what. */

/** Of the service; nobody logs in as it. */
export const SERVICE_USER = 'everynode';
export const DATA_DIR = '/var/lib/everynode';
export const CONFIG_DIR = '/etc/everynode';
export const CONFIG_FILE = `${CONFIG_DIR}/coordinator.yaml`;
export const SERVICE_UNIT = 'everynode-coordinator.service';
export const UNIT_FILE = `/etc/systemd/system/${SERVICE_UNIT}`;
/** Starts Node with this installation's program: the unit names no place of a package. */
export const PROGRAM_DIR = '/usr/local/lib/everynode';
export const PROGRAM = `${PROGRAM_DIR}/everynode`;
/** For people, where npm has not put one. */
export const COMMAND_LINK = '/usr/local/bin/everynode';
