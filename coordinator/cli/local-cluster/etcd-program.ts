/** The installed etcd: whether it can be used, and how a member is started. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { type EtcdPaths, type EtcdPorts, loopbackUrl } from './cluster-layout.js';

const INSTALL = 'install it with: apt-get install etcd-server';
const OLDEST_MINOR = 4;
const NEWEST_MINOR = 6;
/** A coordinator trims its log, so the database of etcd stays small. */
const QUOTA_BYTES = 512 * 1_048_576;

/** Throws `ExitError` if etcd is missing or its version is not supported. Creates nothing. */
export function requireEtcd(program = 'etcd'): void {
  const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8', env: etcdEnvironment() });
  const why = error ? `etcd is not installed; ${INSTALL}` : unsupportedVersion(stdout);
  if (why) throw new ExitError(EXIT_CODES.environment, `--coordinators: ${why}.`);
}

/** `output` is that of `etcd --version`. Returns why this version cannot be used, or undefined. Pure. */
export function unsupportedVersion(output: string): string | undefined {
  const [, version, minor] = /^etcd Version: (3\.(\d+)\.\S+)/m.exec(output) ?? [];
  if (version === undefined) return `the program etcd does not report a version 3.x; ${INSTALL}`;
  const isSupported = Number(minor) >= OLDEST_MINOR && Number(minor) <= NEWEST_MINOR;
  return isSupported
    ? undefined
    : `etcd ${version} is not supported, only 3.${OLDEST_MINOR} to 3.${NEWEST_MINOR}`;
}

/** etcd refuses to start if a variable and a flag set the same value, so its variables are removed. */
export function etcdEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('ETCD_')));
}

export function etcdName(index: number): string {
  return `etcd-${index + 1}`;
}

/** Arguments of the member `index` of a cluster on this machine. Pure. */
export function etcdArguments(index: number, members: readonly EtcdPorts[], paths: EtcdPaths): string[] {
  const { client = 0, peer = 0 } = members[index] ?? {};
  const cluster = members.map((member, at) => `${etcdName(at)}=${loopbackUrl(member.peer)}`).join(',');
  const flags = {
    name: etcdName(index),
    'data-dir': join(paths.root, etcdName(index)),
    'listen-client-urls': loopbackUrl(client),
    'advertise-client-urls': loopbackUrl(client),
    'listen-peer-urls': loopbackUrl(peer),
    'initial-advertise-peer-urls': loopbackUrl(peer),
    'initial-cluster': cluster,
    'initial-cluster-token': 'everynode-up',
    // Ignored by a member that has data.
    'initial-cluster-state': 'new',
    'cert-file': paths.serverCert,
    'key-file': paths.serverKey,
    'trusted-ca-file': paths.ca,
    'client-cert-auth': 'true',
    'peer-cert-file': paths.serverCert,
    'peer-key-file': paths.serverKey,
    'peer-trusted-ca-file': paths.ca,
    'peer-client-cert-auth': 'true',
    'quota-backend-bytes': QUOTA_BYTES,
    logger: 'zap',
    'log-level': 'warn',
  };
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}
