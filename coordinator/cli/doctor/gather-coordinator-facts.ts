/** Finds out about a coordinator's machine what `everynode doctor` reports. Changes nothing. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { measureDisk } from '../../../shared/doctor/doctor-report.js';
import { runCommandOnHost } from '../../../shared/process/service/host-commands.js';
import type { CoordinatorSettings } from '../../coordinator-settings.js';
import type { CoordinatorFacts } from '../../decisions/doctor/coordinator-facts.js';
import { certificateFacts } from './certificate-facts.js';
import { dataDirectoryFact, fileSystemOf, measureSync } from './disk-facts.js';
import { nameFacts, portFact, proxyFact } from './network-facts.js';
import { backupFact, etcdFact, lastWriteOf } from './stored-facts.js';

export async function gatherCoordinatorFacts(settings: CoordinatorSettings): Promise<CoordinatorFacts> {
  const { data } = settings;
  return {
    now: Date.now(),
    system: {
      isRoot: process.getuid?.() === 0,
      hasSystemd: existsSync('/run/systemd/system'),
      node: process.version,
      kernel: release(),
    },
    openFiles: await openFileLimit(),
    clock: { isSynchronized: isSynchronized(), lastWriteAt: await lastWriteOf(data) },
    disk: await measureDisk(data),
    fileSystem: await fileSystemOf(data),
    sync: await measureSync(data),
    dataDirectory: await dataDirectoryFact(data),
    port: await portFact(settings),
    certificates: await certificateFacts(settings),
    names: await nameFacts(settings),
    proxy: proxyFact(settings, process.env),
    etcd: await etcdFact(settings),
    backup: await backupFact(settings),
  };
}

/** Node raises its limit to the hard one at its start. */
async function openFileLimit(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const [, hard = ''] = /^Max open files +\S+ +(\S+)/m.exec(limits) ?? [];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}

/** Undefined without systemd, and in a container, where the clock belongs to the host. */
function isSynchronized(): boolean | undefined {
  try {
    return runCommandOnHost('timedatectl', 'show', '--property=NTPSynchronized', '--value') === 'yes';
  } catch {
    return undefined;
  }
}
