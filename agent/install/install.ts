/** `everynode-agent install`: makes this host a node of a fleet, by systemd. Killed at any line, a repetition ends in the same place. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { writePrivateFile } from '../../shared/process/files/private-file.js';
import { VERSION } from '../../shared/process/release-version.js';
import {
  installFile,
  installLink,
  isAbsentOrOwnLink,
  requireSystemd,
  requireWritable,
  runCommandOnHost,
} from '../../shared/process/service/host-commands.js';
import { updateSettingsFile } from '../../shared/process/settings/settings-file.js';
import { type EngineLocations, requireEngine } from '../assembly/open-runtime.js';
import { type JoinSettings, joinWithSettings } from '../identity/join-with-settings.js';
import type { AgentSettings } from '../program/agent-settings.js';
import {
  COMMAND_LINK,
  CONFIG_DIR,
  CONFIG_FILE,
  DATA_DIR,
  RECOVERY_SERVICE,
  RELEASE_KEY_FILE,
  SERVICE,
  UNIT_DIR,
  VERSIONS_DIR,
} from './install-paths.js';
import { InstalledVersions } from './installed-versions.js';
import { unitText } from './systemd-units.js';

const WHAT = 'everynode-agent install';
const HEAD = `# Settings of the Everynode agent; everynode-agent --help lists them all. Labels and taints may be maps and lists:
#   labels: {site: berlin, rack: "7"}
#   taints: [dedicated=till:NoSchedule]
# Read again by: systemctl reload everynode-agent (containers go on)
`;

interface InstallOptions {
  /** As they hold with what was given now. */
  settings: JoinSettings & Pick<AgentSettings, 'runtime'>;
  /** What was given now, for the file; the token is not in it. */
  typedSettings: Readonly<Record<string, string>>;
  /** PEM file of the key that signs releases; absent: no upgrade is accepted. */
  releaseKey?: string;
  places: EngineLocations;
  report: (text: string) => void;
}

/** Resolves when the agent runs. Throws `ExitError`; what was missing is told before anything is changed. */
export async function install({
  settings,
  typedSettings: given,
  releaseKey,
  places,
  report: say,
}: InstallOptions): Promise<void> {
  requireSystemd(WHAT);
  requireWritable(WHAT, CONFIG_FILE, `${UNIT_DIR}/${SERVICE}`, VERSIONS_DIR);
  const { runtime, nodeName } = settings;
  if (runtime !== 'hollow') {
    const engine = await requireEngine({ runtime, ...places });
    say(`container engine: ${engine.name} ${engine.version}`);
  }
  const key = releaseKey === undefined ? undefined : readFileSync(releaseKey);
  // First of all, and it makes the data directory: a join that fails leaves nothing. The token itself is kept nowhere.
  const { enrolment } = await joinWithSettings({ ...settings, data: DATA_DIR }, say, true);
  say(`this host is node ${nodeName} of cluster ${enrolment.clusterUID}`);
  mkdirSync(CONFIG_DIR, { recursive: true, mode: 0o755 });
  const present = existsSync(CONFIG_FILE) ? readFileSync(CONFIG_FILE, 'utf8') : undefined;
  await writePrivateFile(CONFIG_FILE, updateSettingsFile(present, HEAD, given));
  if (key) installFile(RELEASE_KEY_FILE, key);
  const versions = new InstalledVersions(VERSIONS_DIR);
  versions.installSelf(VERSION);
  versions.activate(VERSION);
  versions.markProven(VERSION);
  // npm may have put its own there.
  if (isAbsentOrOwnLink(COMMAND_LINK, VERSIONS_DIR)) linkCommand(say);
  for (const unit of [SERVICE, RECOVERY_SERVICE]) installFile(`${UNIT_DIR}/${unit}`, unitText(unit));
  runCommandOnHost('systemctl', 'daemon-reload');
  runCommandOnHost('systemctl', 'enable', '--quiet', SERVICE);
  say('starting the agent');
  // Resolves when the agent has said that it is ready.
  runCommandOnHost('systemctl', 'restart', SERVICE);
  say(`everynode-agent ${VERSION} runs; settings: ${CONFIG_FILE}; log: journalctl -u everynode-agent`);
}

/** For people alone: a host whose programs are read-only goes without. */
function linkCommand(say: (text: string) => void): void {
  const command = `${VERSIONS_DIR}/proven/everynode-agent`;
  try {
    installLink(COMMAND_LINK, command);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
    say(`${COMMAND_LINK} cannot be made, for it is read-only there; the command is ${command}`);
  }
}
