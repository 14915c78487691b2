/**
 * Finds other agents of the same fleet on this machine and the commands to remove them: `down` knows only the agent
 * that `up` started.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isSingleExecutable } from '../../shared/process/service/child-program.js';
import { readIdentity } from '../identity/identity-file.js';
import { DATA_DIR, VERSIONS_DIR } from '../install/install-paths.js';
import { defaultDataDir } from './agent-settings.js';

interface OtherAgent {
  node: string;
  dataDir: string;
  /** Absent if it is not running. */
  pid?: number;
}

/** Returns lines for the operator about every other agent of this fleet; none if `dataDir` belongs to no fleet. */
export async function otherAgentsText(dataDir: string): Promise<string[]> {
  const clusterUID = (await readIdentity(dataDir))?.clusterUID;
  if (clusterUID === undefined) return [];
  const others = await otherAgents(realpathSync(dataDir), clusterUID);
  return others.flatMap((other) => [
    `Another agent of this cluster on this machine: node ${other.node}, data in ${other.dataDir}. Remove it and its containers with:`,
    `  ${removalOf(other)}`,
  ]);
}

async function otherAgents(ownDir: string, clusterUID: string): Promise<OtherAgent[]> {
  // A running agent names its directory; a stopped one is found only in the default locations.
  const pids = new Map<string, number | undefined>([
    [DATA_DIR, undefined],
    [defaultDataDir(), undefined],
    ...runningAgents(),
  ]);
  const others: OtherAgent[] = [];
  for (const [dataDir, pid] of pids) {
    if (!existsSync(dataDir) || realpathSync(dataDir) === ownDir) continue;
    // An unreadable identity belongs to another user's agent.
    const identity = await readIdentity(dataDir).catch(() => undefined);
    if (identity?.clusterUID !== clusterUID) continue;
    others.push({ node: identity.node, dataDir, ...(pid === undefined ? {} : { pid }) });
  }
  return others;
}

/** Returns data directory and process id of this user's running agents; for root, of every user's. */
function runningAgents(): [string, number][] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!args.some((arg) => /^everynode-agent(\.cjs)?$/.test(basename(arg)))) return [];
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const dataDir = dataDirOf(args, environment) ?? defaultDataDir();
      return [[resolve(readlinkSync(`/proc/${pid}/cwd`), dataDir), Number(pid)]];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
}

/** Returns the data directory in a command line or environment. */
export function dataDirOf(args: readonly string[], environment: readonly string[]): string | undefined {
  const at = args.indexOf('--data');
  const prefixes = [
    [args, '--data='],
    [environment, 'EVERYNODE_AGENT_DATA='],
  ] as const;
  if (at >= 0) return args[at + 1];
  for (const [arguments_, prefix] of prefixes) {
    const found = arguments_.find((word) => word.startsWith(prefix));
    if (found !== undefined) return found.slice(prefix.length);
  }
  return undefined;
}

function removalOf({ dataDir, pid }: OtherAgent): string {
  if (dataDir === DATA_DIR && existsSync(join(VERSIONS_DIR, 'current')))
    return 'everynode-agent uninstall --yes --purge';
  const program = isSingleExecutable() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
  const stop = pid === undefined ? [] : [`kill ${pid}`];
  const data = quoted(dataDir);
  const remove = `${program.map(quoted).join(' ')} remove-containers --data ${data}`;
  return [...stop, remove, `rm -r ${data}`].join(' && ');
}

/** Returns the word quoted for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
