/**
 * `everynode user add NAME`: prints a kubeconfig with a client certificate of the coordinator's authority. Roles
 * determine the user's rights. With a kubeconfig, the coordinator signs a CertificateSigningRequest. On the
 * coordinator's machine its key signs, and nothing is stored.
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
import {
  type IssuedCertificate,
  makeSigningRequest,
  signClientCertificate,
} from '../../pki/client-certificates.js';
import type { KeyPair } from '../../pki/key-pair.js';
import { reachableServer } from '../../server-addresses.js';
import { apiClientFromKubeconfig, connect, isOwnCoordinator } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { requestCertificate } from '../client/request-certificate.js';
import { durationSeconds } from '../terminal/command-options.js';

const MASTERS = 'system:masters';

/** The shortest lifetime that a CertificateSigningRequest may ask for. */
const SHORTEST_MS = 600_000;

interface AddOptions extends KubeconfigOptions {
  group: string[];
  ttl: string;
  advertise?: string;
}

/** Issues a certificate, and names the server and its authority for the user's kubeconfig. */
interface Issuer {
  server: string;
  caCertificate: string | undefined;
  issue(requestPem: string, lifetimeMs: number): Promise<IssuedCertificate>;
}

export function userCommand(program: Command): void {
  const command = program
    .command('user')
    .description('manage API users with certificates')
    .command('add')
    .argument('<NAME>', 'user name; bind roles to it or to the groups')
    .description('create a key and a certificate and print a kubeconfig with them')
    .option('--group <GROUP>', 'group of the user; repeatable', collect, [])
    .option('--ttl <DURATION>', 'lifetime of the certificate: 12h, 90d', '365d')
    .option('--advertise <HOST>', 'host name or address by which the user reaches the coordinator');
  addKubeconfigOptions(command).action(add);
}

function collect(value: string, present: string[]): string[] {
  return [...present, value];
}

async function add(commonName: string, options: AddOptions): Promise<void> {
  refuseSystemNames(commonName, options.group);
  const lifetimeMs = durationSeconds(options.ttl) * 1000;
  if (lifetimeMs < SHORTEST_MS)
    throw new ExitError(EXIT_CODES.usage, '--ttl: a certificate needs a lifetime of at least 10m.');
  const issuer = isOwnCoordinator(options)
    ? localIssuer(options.data ?? defaultDataDir())
    : remoteIssuer(options, options.group);
  const key = await generateKeyPem();
  const request = await makeSigningRequest(key, { commonName, organizations: options.group });
  const { certificate, notAfterMs } = await issuer.issue(request, lifetimeMs);
  const server = await reachableServer(issuer.server, options.advertise);
  printDocument(kubeconfigText({ server, caCertificate: issuer.caCertificate, certificate, key }));
  const until = new Date(notAfterMs).toISOString().slice(0, 10);
  printErrorLine(
    `${commonName} can use the API until ${until}. Rights: ${bindingHint(commonName, options.group)}`,
  );
}

/** Signs with the key in the data directory. */
function localIssuer(dataDir: string): Issuer {
  const authority = readAuthority(dataDir);
  const { server } = apiClientFromKubeconfig(kubeconfigPath(dataDir));
  return {
    server,
    caCertificate: authority.cert,
    issue: (request, lifetimeMs) =>
      signClientCertificate(authority, request, { now: Date.now(), lifetimeMs }),
  };
}

/** Lets the coordinator sign, with the rights of the selected kubeconfig. */
function remoteIssuer(options: KubeconfigOptions, groups: readonly string[]): Issuer {
  if (groups.includes(MASTERS)) {
    throw new ExitError(
      EXIT_CODES.usage,
      `--group ${MASTERS}: only the coordinator's own key may sign for this group. Run this on the coordinator's machine with --data DIR, or bind the ClusterRole cluster-admin to the user.`,
    );
  }
  const api = connect(options);
  return {
    server: api.server,
    caCertificate: api.certificateAuthority,
    issue: (request, lifetimeMs) => requestCertificate(api, request, lifetimeMs),
  };
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
