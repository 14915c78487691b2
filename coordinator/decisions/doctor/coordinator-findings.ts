/** What is wrong with a coordinator's machine, and what to do about it, from facts about it. Pure. */
import { connectionRemedy, diskFinding, type Finding } from '../../../shared/doctor/finding.js';
import { backupFinding } from './backup-finding.js';
import { certificateFindings } from './certificate-findings.js';
import type { CoordinatorFacts, DataDirectoryFact, NameFact, PortFact } from './coordinator-facts.js';
import { etcdFindings } from './etcd-findings.js';

const MIB = 1024 * 1024;
const DISK_LIMITS = {
  least: 100 * MIB,
  little: 1_024 * MIB,
  remedy: 'Free space, or move the data directory to a larger disk. See docs/operations/disk-full.md.',
};
/** A write waits for the disk, so this is about the time of a change. Rotating disks need 10 to 20 ms. */
const SLOW_SYNC_MS = 50;
/** Each connected host and each client needs one file. */
const FEW_OPEN_FILES = 4_096;
/** File times and clocks differ by less. */
const CLOCK_TOLERANCE_MS = 60_000;
const MOST_SHOWN = 3;

/** Returns all findings, in the order in which a coordinator needs things. */
export function coordinatorFindings(facts: CoordinatorFacts): Finding[] {
  return [
    systemFinding(facts),
    openFilesFinding(facts),
    clockFinding(facts),
    diskFinding(facts.disk, DISK_LIMITS),
    fileSystemFinding(facts),
    syncFinding(facts),
    dataDirectoryFinding(facts.dataDirectory),
    portFinding(facts.port),
    ...certificateFindings(facts.certificates, facts.now),
    ...facts.names.map(nameFinding),
    proxyFinding(facts),
    ...etcdFindings(facts.etcd),
    backupFinding(facts.backup, facts.now),
  ];
}

function systemFinding({ system: { isRoot, hasSystemd, node, kernel } }: CoordinatorFacts): Finding {
  const check = 'system';
  const found = `Linux ${kernel}, Node ${node}`;
  if (!hasSystemd) {
    const remedy =
      'everynode coordinator install needs systemd. Without it, start everynode coordinator by your own means.';
    return { check, found: `${found}; systemd is not process 1`, result: 'warning', remedy };
  }
  return { check, found: `${found}, systemd${isRoot ? ', run as root' : ''}`, result: 'ok' };
}

function openFilesFinding({ openFiles }: CoordinatorFacts): Finding {
  const check = 'open files';
  const found = `one process may open ${openFiles}`;
  if (openFiles >= FEW_OPEN_FILES) return { check, found, result: 'ok' };
  const remedy = 'Each host needs one. Raise the limit: LimitNOFILE of the unit, or ulimit -Hn.';
  return { check, found, result: 'warning', remedy };
}

function clockFinding({ now, clock: { isSynchronized, lastWriteAt } }: CoordinatorFacts): Finding {
  const check = 'clock';
  if (lastWriteAt !== undefined && lastWriteAt - now > CLOCK_TOLERANCE_MS) {
    const found = `it is before the last change of the database, ${new Date(lastWriteAt).toISOString()}`;
    const remedy = 'Set the clock. With a clock that is behind, hosts reject new certificates.';
    return { check, found, result: 'error', remedy };
  }
  if (isSynchronized === true) return { check, found: 'synchronized', result: 'ok' };
  if (isSynchronized === undefined)
    return { check, found: 'plausible; systemd does not report whether it is synchronized', result: 'ok' };
  const remedy = 'Run: timedatectl set-ntp true. Certificates and maintenance windows depend on the clock.';
  return { check, found: 'not synchronized', result: 'warning', remedy };
}

function fileSystemFinding({ fileSystem: { isRemote, type } }: CoordinatorFacts): Finding {
  const check = 'file system';
  if (!isRemote) return { check, found: type, result: 'ok' };
  const remedy =
    'Move the data directory to a local disk: SQLite needs shared memory, which network file systems lack.';
  return { check, found: `${type} is a network file system`, result: 'error', remedy };
}

function syncFinding({ sync }: CoordinatorFacts): Finding {
  const check = 'disk speed';
  if (sync.state === 'failed') {
    const found = `no test file can be written: ${sync.reason}`;
    // Before the installation an ordinary user cannot write there, and the installer is root.
    if (sync.code === 'EACCES')
      return { check, found, result: 'warning', remedy: 'Run this command as root to measure the disk.' };
    const remedy = 'Check that the file system is mounted for writing and has free space.';
    return { check, found, result: 'error', remedy };
  }
  const [median, worst] = [sync.medianMs, sync.worstMs].map((ms) => ms.toFixed(1));
  const found = `a write is durable after ${median} ms, at most ${worst} ms`;
  if (sync.medianMs < SLOW_SYNC_MS) return { check, found, result: 'ok' };
  const remedy =
    'Use a faster disk, such as an SSD: each change waits for the disk, and large rollouts take longer.';
  return { check, found, result: 'warning', remedy };
}

function dataDirectoryFinding(directory: DataDirectoryFact): Finding {
  const check = 'data directory';
  const { path } = directory;
  switch (directory.state) {
    case 'absent':
      return { check, found: `${path} does not exist yet`, result: 'ok' };
    case 'unreadable': {
      const remedy = "Run this command as root or as the coordinator's user, or pass --data.";
      return { check, found: `${path}: ${directory.reason}`, result: 'error', remedy };
    }
    case 'present':
      return permissionFinding(path, directory.exposed, directory.foreign);
  }
}

function permissionFinding(path: string, exposed: readonly string[], foreign: readonly string[]): Finding {
  const check = 'data directory';
  if (exposed.length > 0) {
    const found = `other users have access to ${listText(exposed)}`;
    const remedy = `Run: chmod -R go= ${path}. It contains the keys of the fleet.`;
    return { check, found, result: 'error', remedy };
  }
  if (foreign.length === 0) return { check, found: `${path} is private`, result: 'ok' };
  const found = `another user than the owner of ${path} owns ${listText(foreign)}`;
  const remedy = `Run: chown -R --reference=${path} ${path}. Otherwise the coordinator may be unable to read it.`;
  return { check, found, result: 'warning', remedy };
}

function listText(names: readonly string[]): string {
  const more = names.length - MOST_SHOWN;
  return names.slice(0, MOST_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const PORT_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Stop the program that uses it (ss -ltnp shows it), or choose another --port.',
  EACCES: 'Choose a --port above 1023: the coordinator runs as an ordinary user.',
  EADDRNOTAVAIL: 'This machine does not have the address of --host. Choose one of its own, or 0.0.0.0.',
};

function portFinding(port: PortFact): Finding {
  const check = 'port';
  if (port.state === 'free') return { check, found: `${port.address} is free`, result: 'ok' };
  if (port.state === 'own') return { check, found: `${port.address}: this coordinator serves`, result: 'ok' };
  const remedy = PORT_REMEDIES[port.code ?? ''] ?? 'Check --host and --port.';
  return { check, found: `${port.address}: ${port.reason}`, result: 'error', remedy };
}

function nameFinding(fact: NameFact): Finding {
  const check = 'DNS';
  const { name, setting } = fact;
  if ('addresses' in fact)
    return { check, found: `${name} (${setting}) is ${fact.addresses.join(', ')}`, result: 'ok' };
  const remedy = connectionRemedy(fact.code) ?? `Check ${setting}.`;
  // The coordinator itself connects to etcd only. Its own machine may lack the other names, which are for clients.
  const result = setting === '--etcd' ? 'error' : 'warning';
  return { check, found: `${name} (${setting}): ${fact.reason}`, result, remedy };
}

function proxyFinding({ proxy }: CoordinatorFacts): Finding {
  const check = 'proxy';
  if (proxy.state === 'none') return { check, found: 'none', result: 'ok' };
  if (proxy.state === 'invalid') {
    const remedy = 'Correct the variable, or remove it: commands that use the API fail with it.';
    return { check, found: `HTTPS_PROXY ${proxy.reason}`, result: 'error', remedy };
  }
  if (proxy.through.length === 0)
    return { check, found: `${proxy.proxy} is not used for the coordinator`, result: 'ok' };
  const found = `commands on this machine reach ${proxy.through.join(', ')} through ${proxy.proxy}`;
  const remedy = 'If the coordinator is reachable without it, add its name to NO_PROXY.';
  return { check, found, result: 'warning', remedy };
}
