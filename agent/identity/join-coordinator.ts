/**
 * Joins a host: with a join token it pins the coordinator's authority, creates a key and requests a certificate for it.
 * Later starts need no token.
 */
import { X509Certificate } from 'node:crypto';
import { readCoordinatorAddress } from '../../shared/link/coordinator-list.js';
import type { OpenTunnel } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { JOIN_PATH } from '../../shared/link/messages/link-messages.js';
import { findAuthority } from '../../shared/link/pinned-authority.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { trackNewFolders } from '../../shared/process/files/new-file-cleanup.js';
import { generateKeyPem } from '../../shared/process/files/private-key.js';
import { pause } from '../../shared/process/time/clock.js';
import {
  JoinError,
  type Registration,
  requestCertificate,
  type ServerAddress,
  type TrustedCoordinator,
  tryInTurn,
} from './coordinator-client.js';
import { certificateRequest } from './host-certificate-request.js';
import { type Identity, readIdentity, removeIdentity, writeIdentity } from './identity-file.js';

/** Interval of queries for an operator's decision. */
const POLL_INTERVAL_MS = 5_000;

/** The identity of a node that has joined. */
export type Enrolment = Identity & { clusterUID: string };

export interface JoinOptions {
  /** Created if missing. */
  dataDir: string;
  /** `https://HOST:PORT`, or several of them, comma-separated: they are tried in turn. */
  server: string;
  node: string;
  /** `ID.SECRET.CAHASH`; required until the node has joined. */
  token?: string;
  /** Shown to the operators who approve the host. */
  labels?: Record<string, string>;
  /** Called at each query while the host waits for an operator's approval. */
  onWaiting?: (message: string) => void;
  pollIntervalMs?: number;
  /** Opens the tunnel through an HTTP proxy; absent: this host needs none. */
  tunnel?: OpenTunnel | undefined;
}

/**
 * Resolves with the stored identity, or with that of a new join, which may wait for an operator's approval. A join that
 * was interrupted at any line can be repeated. Throws `JoinError`.
 */
export async function joinCoordinator(options: JoinOptions): Promise<Enrolment> {
  const { dataDir, node } = options;
  const stored = await readIdentity(dataDir);
  if (stored?.clusterUID !== undefined) {
    if (stored.node === node) return { ...stored, clusterUID: stored.clusterUID };
    throw new JoinError(`this host has joined as node ${stored.node} and cannot become ${node}`, false);
  }
  if (options.token === undefined) {
    throw new JoinError(
      'this host has not joined a coordinator: pass a join token with --token-file FILE or in EVERYNODE_TOKEN (everynode token create makes one)',
      false,
    );
  }
  const coordinator = await trustCoordinator(options.server, options.token, options.tunnel);
  const { ca } = coordinator;
  // An earlier join under another name was refused or abandoned, so the host may still choose its name.
  const pending = stored?.node === node ? stored.key : undefined;
  const identity = { node, key: pending ?? (await generateKeyPem()), ca };
  const removeNewFolders = trackNewFolders(dataDir);
  // Stored before the request: if the answer is lost, the join is repeated with the same key.
  await writeIdentity(dataDir, identity);
  try {
    const enrolment = { ...identity, ...(await join(coordinator, identity.key, options)) };
    await writeIdentity(dataDir, enrolment);
    return enrolment;
  } catch (error) {
    // No coordinator knows the new key. An earlier key may be registered and is kept for the next attempt.
    if (error instanceof JoinError && error.isRefusal) {
      if (stored) await writeIdentity(dataDir, stored);
      else await removeIdentity(dataDir);
      removeNewFolders();
    }
    throw error;
  }
}

/**
 * Rejects a token of another coordinator than the one that this host has joined. Otherwise the host would stay where it
 * is, and never appear at the other coordinator. Throws `JoinError`.
 */
export async function rejectTokenOfOtherCoordinator(dataDir: string, token: string): Promise<void> {
  const { caHash } = parseToken(token);
  const stored = await readIdentity(dataDir);
  if (stored?.clusterUID === undefined) return;
  const known = stored.ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (known.some((pem) => publicKeyHash(new X509Certificate(pem)) === caHash)) return;
  throw new JoinError(
    `this host is node ${stored.node} of cluster ${stored.clusterUID}, but the token is of another coordinator: omit the token to keep the current one; to join the other one, first run everynode-agent uninstall --purge`,
    false,
  );
}

async function join(
  coordinator: TrustedCoordinator,
  key: string,
  options: JoinOptions,
): Promise<Registration> {
  const { node, labels, onWaiting, pollIntervalMs = POLL_INTERVAL_MS } = options;
  const request = { node, csr: await certificateRequest(key, node), ...(labels ? { labels } : {}) };
  // The coordinator that was reached first, then the others.
  const servers = new Map(
    [coordinator, ...parseServers(options.server)].map((each) => [each.server.href, each]),
  );
  for (;;) {
    const answer = await tryInTurn([...servers.values()], (each) =>
      requestCertificate({ ...coordinator, ...each }, JOIN_PATH, request),
    );
    if (answer.state === 'joined') {
      const { state: _, ...registration } = answer;
      return registration;
    }
    onWaiting?.(answer.message);
    await pause(pollIntervalMs);
  }
}

/** Fetches the authority of the first server that can be reached, and compares it with the token. Throws `JoinError`. */
export async function trustCoordinator(
  serverText: string,
  tokenText: string,
  tunnel?: OpenTunnel,
): Promise<TrustedCoordinator & { bearer: string }> {
  const token = parseToken(tokenText);
  return tryInTurn(parseServers(serverText), async (address) => {
    const ca = await pinAuthority({ ...address, tunnel }, token.caHash);
    return { server: address.server, serverText: address.serverText, bearer: token.bearer, ca, tunnel };
  });
}

function parseToken(token: string): { bearer: string; caHash: string } {
  const match = /^([a-z0-9]{6}\.[a-z0-9]{16})\.([0-9a-f]{64})$/.exec(token.trim());
  if (!match?.[1] || !match[2]) throw new JoinError('the token is not of the form ID.SECRET.CAHASH', false);
  return { bearer: match[1], caHash: match[2] };
}

/** Reads `https://HOST:PORT`, or several of them, comma-separated. Throws `JoinError`. */
export function parseServers(text: string): ServerAddress[] {
  const texts = text.split(',').map((each) => each.trim());
  return texts.map((serverText) => {
    const address = readCoordinatorAddress(serverText);
    if (address === undefined)
      throw new JoinError(`--server: must be of the form https://HOST:PORT, not "${serverText}"`, false);
    return { server: new URL(address), serverText };
  });
}

async function pinAuthority(address: ServerAddress, caHash: string): Promise<string> {
  const { server, serverText, connectTimeoutMs, tunnel } = address;
  let authority: string | undefined;
  try {
    authority = await findAuthority(server, caHash, connectTimeoutMs, tunnel);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new JoinError(`the coordinator at ${serverText} cannot be reached: ${why}`, true);
  }
  if (authority) return authority;
  throw new JoinError(
    `the coordinator at ${serverText} does not present the certificate authority that the token names (a proxy has to send it in its chain)`,
    false,
  );
}
