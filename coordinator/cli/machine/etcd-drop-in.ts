/**
 * A drop-in for the coordinator's unit while its settings name an etcd: a coordinator exits at its start without a
 * majority of etcd, and systemd would stop starting it after 30 attempts.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { installFile } from '../../../shared/process/service/host-commands.js';

const DROP_IN = '/etc/systemd/system/everynode-coordinator.service.d/everynode-etcd.conf';
const SOURCE = fileURLToPath(new URL('../../../../systemd/everynode-coordinator-etcd.conf', import.meta.url));

/**
 * Writes the drop-in if the settings (YAML) name an etcd, else removes it. Returns true if systemd must read its units
 * again. `path` differs only in tests.
 */
export function updateEtcdDropIn(settings: string, path = DROP_IN): boolean {
  const { etcd } = (parse(settings) ?? {}) as { etcd?: unknown };
  return etcd === undefined || etcd === null
    ? removeEtcdDropIn(path)
    : installFile(path, readFileSync(SOURCE));
}

/** Returns true if there was one. Keeps the drop-ins of the operator. */
export function removeEtcdDropIn(path = DROP_IN): boolean {
  if (!existsSync(path)) return false;
  rmSync(path);
  const folder = dirname(path);
  if (readdirSync(folder).length === 0) rmdirSync(folder);
  return true;
}
