/**
 * `everynode user add NAME`: prints a kubeconfig with a client certificate of the coordinator's authority. It must run
 * on the coordinator's machine with read access to its keys. Nothing is stored. Roles determine the user's rights.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { printDocument, printErrorLine } from '../../../shared/process/output/terminal-output.js';
import { kubeconfigText } from '../../api/auth/admin-kubeconfig.js';
import { kubeconfigPath } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { makeSigningRequest, signClientCertificate } from '../../pki/client-certificates.js';
import type { KeyPair } from '../../pki/key-pair.js';
import { reachableServer } from '../../server-addresses.js';
import { apiClientFromKubeconfig } from '../client/api-client.js';
import { durationSeconds } from '../terminal/command-options.js';

const MASTERS = 'system:masters';

interface AddOptions {
  group: string[];
  ttl: string;
  data: string;
  advertise?: string;
}

export function userCommand(program: Command): void {
  program
    .command('user')
    .description('manage API users with certificates')
    .command('add')
    .argument('<NAME>', 'user name; bind roles to it or to the groups')
    .description('create a key and a certificate and print a kubeconfig with them')
    .option('--group <GROUP>', 'group of the user; repeatable', collect, [])
    .option('--ttl <DURATION>', 'lifetime of the certificate: 12h, 90d', '365d')
    .option('--advertise <HOST>', 'host name or address by which the user reaches the coordinator')
    .option('--data <DIR>', "the coordinator's data directory", defaultDataDir())
    .action(add);
}

function collect(value: string, present: string[]): string[] {
  return [...present, value];
}

async function add(commonName: string, options: AddOptions): Promise<void> {
  refuseSystemNames(commonName, options.group);
  const lifetimeMs = durationSeconds(options.ttl) * 1000;
  if (lifetimeMs === 0)
    throw new ExitError(EXIT_CODES.usage, '--ttl: a certificate needs a limited lifetime.');
  const authority = readAuthority(options.data);
  const { server } = apiClientFromKubeconfig(kubeconfigPath(options.data));
  const key = await generateKeyPem();
  const request = await makeSigningRequest(key, { commonName, organizations: options.group });
  const { certificate, notAfterMs } = await signClientCertificate(authority, request, {
    now: Date.now(),
    lifetimeMs,
  });
  const reachable = await reachableServer(server, options.advertise);
  printDocument(kubeconfigText({ server: reachable, caCertificate: authority.cert, certificate, key }));
  const until = new Date(notAfterMs).toISOString().slice(0, 10);
  printErrorLine(
    `${commonName} can use the API until ${until}. Rights: ${bindingHint(commonName, options.group)}`,
  );
}

/** Names with this prefix have a meaning for the API. Only the group of administrators may be given to users. */
function refuseSystemNames(name: string, groups: readonly string[]): void {
  const taken = [name, ...groups].find((each) => each.startsWith('system:') && each !== MASTERS);
  if (taken === undefined && name !== MASTERS) return;
  throw new ExitError(
    EXIT_CODES.usage,
    `"${taken ?? name}": names with the prefix system: are reserved for the API.`,
  );
}

function bindingHint(name: string, groups: readonly string[]): string {
  if (groups.includes(MASTERS)) return 'everything';
  const [group] = groups;
  const whom = group === undefined ? `--user=${name}` : `--group=${group}`;
  return `kubectl create clusterrolebinding ${group ?? name} --clusterrole=view ${whom}`;
}

function readAuthority(dataDir: string): KeyPair {
  const read = (file: string) => readFileSync(join(dataDir, 'pki', file), 'utf8');
  try {
    return { cert: read('ca.crt'), key: read('ca.key') };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.environment,
      `Cannot read the certificate authority: ${why}. Run this on the coordinator's machine, as root or the coordinator's user, with its data directory as --data.`,
    );
  }
}
