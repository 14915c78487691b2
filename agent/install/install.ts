/** `everynode-agent install`: sets up a systemd service. After a crash, a second run completes it. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { refuseOnErrors } from '../../shared/doctor/doctor-report.js';
import { writePrivateFile } from '../../shared/process/files/private-file.js';
import { VERSION } from '../../shared/process/release-version.js';
import {
  commandSucceeds,
  installFile,
  installLink,
  isAbsentOrOwnLink,
  requireSystemd,
  requireWritable,
  runCommandOnHost,
} from '../../shared/process/service/host-commands.js';
import { updateSettingsFile } from '../../shared/process/settings/settings-file.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { type EngineLocations, requireEngine } from '../assembly/open-runtime.js';
import { hostFindings } from '../decisions/doctor/host-findings.js';
import { gatherHostFacts } from '../doctor/host-facts.js';
import { type JoinSettings, joinWithSettings } from '../identity/join-with-settings.js';
import type { AgentSettings } from '../program/agent-settings.js';
import {
  COMMAND_LINK,
  CONFIG_DIR,
  CONFIG_FILE,
  DATA_DIR,
  DNS_SOCKET,
  PACKAGED_UNIT,
  PROXY_FILE,
  RECOVERY_SERVICE,
  RELEASE_KEY_FILE,
  SERVICE,
  UNIT_DIR,
  VERSIONS_DIR,
} from './install-paths.js';
import { InstalledVersions } from './installed-versions.js';
import { writeProxyFile } from './proxy-file.js';

const COMMAND = 'everynode-agent install';
const HEAD = `# Settings of the Everynode agent; everynode-agent --help lists them all. Labels and taints may be maps and lists:
#   labels: {site: berlin, rack: "7"}
#   taints: [dedicated=till:NoSchedule]
# After a change: systemctl reload everynode-agent (containers keep running)
`;

interface InstallOptions {
  /** Settings of this call and of the settings file. */
  settings: JoinSettings & Pick<AgentSettings, 'runtime' | 'clusterDns'>;
  /** Settings of this call, to be written to the file. Without the token. */
  typedSettings: Readonly<Record<string, string>>;
  /** PEM file of the key that signs releases. Without it, no upgrade is accepted. */
  releaseKey?: string;
  places: EngineLocations;
  report: (text: string) => void;
}

/** Resolves when the agent runs. Throws `ExitError`. Checks all requirements before it changes anything. */
export async function install({
  settings,
  typedSettings: given,
  releaseKey,
  places,
  report,
}: InstallOptions): Promise<void> {
  requireSystemd(COMMAND);
  requireWritable(COMMAND, CONFIG_FILE, `${UNIT_DIR}/${SERVICE}`, VERSIONS_DIR);
  const { runtime, nodeName } = settings;
  if (runtime !== 'hollow') {
    const engine = await requireEngine({ runtime, ...places });
    report(`container engine: ${engine.name} ${engine.version}`);
  }
  const facts = await gatherHostFacts({ ...settings, data: DATA_DIR }, places, systemClock);
  refuseOnErrors(hostFindings(facts), report, CHECKED_BY_STEPS);
  const key = releaseKey === undefined ? undefined : readFileSync(releaseKey);
  // Join first, because it creates the data directory: a failed join leaves nothing behind. The token is not stored.
  const { enrolment } = await joinWithSettings({ ...settings, data: DATA_DIR }, report, true);
  report(`this host is node ${nodeName} of cluster ${enrolment.clusterUID}`);
  mkdirSync(CONFIG_DIR, { recursive: true, mode: 0o755 });
  const present = existsSync(CONFIG_FILE) ? readFileSync(CONFIG_FILE, 'utf8') : undefined;
  await writePrivateFile(CONFIG_FILE, updateSettingsFile(present, HEAD, given));
  await writeProxyFile(PROXY_FILE, settings);
  if (key) installFile(RELEASE_KEY_FILE, key);
  const versions = new InstalledVersions(VERSIONS_DIR);
  versions.installSelf(VERSION);
  versions.activate(VERSION);
  versions.markProven(VERSION);
  // npm may have installed a command of its own there.
  if (isAbsentOrOwnLink(COMMAND_LINK, VERSIONS_DIR)) linkCommand(report);
  const servesDns = settings.clusterDns === 'on';
  if (!servesDns) removeDnsSocket();
  installUnits(servesDns);
  runCommandOnHost('systemctl', 'daemon-reload');
  runCommandOnHost('systemctl', 'enable', '--quiet', SERVICE);
  if (servesDns) setUpDnsSocket(report);
  report('starting the agent');
  // Resolves when the agent has reported itself ready to systemd.
  runCommandOnHost('systemctl', 'restart', SERVICE);
  report(
    `everynode-agent ${VERSION} is running; settings: ${CONFIG_FILE}; log: journalctl -u everynode-agent`,
  );
}

/** Checks that have a step of their own, which says more about a failure. */
const CHECKED_BY_STEPS: readonly string[] = ['container engine', 'identity', 'coordinator'];

/** Writes the units. Those of a package stay as they are, except that a socket that is not wanted is masked. */
function installUnits(servesDns: boolean): void {
  const isPackaged = existsSync(PACKAGED_UNIT);
  for (const unit of [SERVICE, RECOVERY_SERVICE, ...(servesDns ? [DNS_SOCKET] : [])]) {
    // A unit of an earlier installation by the script would hide the package's unit.
    if (isPackaged) rmSync(`${UNIT_DIR}/${unit}`, { force: true });
    else installFile(`${UNIT_DIR}/${unit}`, unitText(unit));
  }
  if (isPackaged && !servesDns) installLink(`${UNIT_DIR}/${DNS_SOCKET}`, '/dev/null');
}

/** The service starts the socket if its unit exists. */
function removeDnsSocket(): void {
  commandSucceeds('systemctl', 'disable', '--quiet', '--now', DNS_SOCKET);
  rmSync(`${UNIT_DIR}/${DNS_SOCKET}`, { force: true });
}

/**
 * An agent without the socket unit opens the port itself, so it has to stop before systemd can. If another program uses
 * the port, the agent reports it and runs without cluster DNS.
 */
function setUpDnsSocket(report: (text: string) => void): void {
  runCommandOnHost('systemctl', 'enable', '--quiet', DNS_SOCKET);
  if (commandSucceeds('systemctl', 'is-active', '--quiet', DNS_SOCKET)) return;
  commandSucceeds('systemctl', 'stop', SERVICE);
  if (!commandSucceeds('systemctl', 'start', DNS_SOCKET))
    report(`the cluster DNS is not available: systemctl status ${DNS_SOCKET}`);
}

/** The link is only a convenience for operators: a host with a read-only /usr works without it. */
function linkCommand(report: (text: string) => void): void {
  const command = `${VERSIONS_DIR}/proven/everynode-agent`;
  try {
    installLink(COMMAND_LINK, command);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
    report(`cannot create ${COMMAND_LINK} on a read-only file system; use ${command}`);
  }
}

declare const EVERYNODE_UNITS: Readonly<Record<string, string>> | undefined;

/** Returns the text of `systemd/NAME`. The bundler includes the texts. Without a bundle the package has the files. */
function unitText(name: string): string {
  if (typeof EVERYNODE_UNITS === 'object' && EVERYNODE_UNITS[name]) return EVERYNODE_UNITS[name];
  return readFileSync(fileURLToPath(new URL(`../../../systemd/${name}`, import.meta.url)), 'utf8');
}
