/**
 * How a host becomes a node: with a join token it pins the coordinator's certificate authority and has a key of its own
 * making certified. Later starts need no token.
 */
import { X509Certificate } from 'node:crypto';
import { JOIN_PATH } from '../../shared/link/messages/link-messages.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { trackNewFolders } from '../../shared/process/files/new-file-cleanup.js';
import { generateKeyPem } from '../../shared/process/files/private-key.js';
import { pause } from '../../shared/process/time/clock.js';
import {
  JoinError,
  type Registration,
  requestCertificate,
  type TrustedCoordinator,
} from './coordinator-client.js';
import { certificateRequest } from './host-certificate-request.js';
import { type Identity, readIdentity, removeIdentity, writeIdentity } from './identity-file.js';
import { findAuthority } from './pinned-authority.js';

/** Between two questions whether a person has decided. */
const ASK_AGAIN_MS = 5_000;

/** A node that has joined. */
export type Enrolment = Identity & { clusterUID: string };

export interface JoinOptions {
  /** Created when missing. */
  dataDir: string;
  /** `https://HOST:PORT`. */
  server: string;
  node: string;
  /** `ID.SECRET.CAHASH`; needed until the node has joined. */
  token?: string;
  /** Told to people who decide whether it may join. */
  labels?: Record<string, string>;
  /** Hears, each time it asks, that the host waits for a person's word. */
  onWaiting?: (message: string) => void;
  pollIntervalMs?: number;
}

/**
 * The node's enrolment: the stored one, else by a join, which may wait for a person's word. Killed at any line, a
 * repetition ends in the same place. Throws `EnrolError`.
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
      'this host has not joined a coordinator yet: a join token is needed, by --token-file FILE or in EVERYNODE_TOKEN (everynode token create makes one)',
      false,
    );
  }
  const coordinator = await trustCoordinator(options.server, options.token);
  const { ca } = coordinator;
  // A join under another name was refused, or nobody waited for its answer: the host may still choose its name.
  const pending = stored?.node === node ? stored.key : undefined;
  const identity = { node, key: pending ?? (await generateKeyPem()), ca };
  const removeNewFolders = trackNewFolders(dataDir);
  // Kept before it is registered: a join whose answer is lost is repeated with the same key.
  await writeIdentity(dataDir, identity);
  try {
    const enrolment = { ...identity, ...(await join(coordinator, identity.key, options)) };
    await writeIdentity(dataDir, enrolment);
    return enrolment;
  } catch (error) {
    // No coordinator knows the new key. An earlier one may be registered: it stays for the next try.
    if (error instanceof JoinError && error.isRefusal) {
      if (stored) await writeIdentity(dataDir, stored);
      else await removeIdentity(dataDir);
      removeNewFolders();
    }
    throw error;
  }
}

/**
 * Refuses a token of another coordinator than the one that this host has joined: the host would go on as its node, and
 * never appear there. Throws `EnrolError`.
 */
export async function rejectTokenOfOtherCoordinator(dataDir: string, token: string): Promise<void> {
  const { caHash } = parseToken(token);
  const stored = await readIdentity(dataDir);
  if (stored?.clusterUID === undefined) return;
  const known = stored.ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (known.some((pem) => publicKeyHash(new X509Certificate(pem)) === caHash)) return;
  throw new JoinError(
    `this host is node ${stored.node} of cluster ${stored.clusterUID}, and the token is of another coordinator: leave the token out to stay there; to join the other one, first run everynode-agent uninstall --purge`,
    false,
  );
}

async function join(
  coordinator: TrustedCoordinator,
  key: string,
  { node, labels, onWaiting, pollIntervalMs: askAgainMs = ASK_AGAIN_MS }: JoinOptions,
): Promise<Registration> {
  const request = { node, csr: await certificateRequest(key, node), ...(labels ? { labels } : {}) };
  for (;;) {
    const answer = await requestCertificate(coordinator, JOIN_PATH, request);
    if (answer.state === 'joined') {
      const { state: _, ...registration } = answer;
      return registration;
    }
    onWaiting?.(answer.message);
    await pause(askAgainMs);
  }
}

/** Asks the server for its authority and compares it with the token. Throws `EnrolError`. */
export async function trustCoordinator(
  serverText: string,
  tokenText: string,
): Promise<TrustedCoordinator & { bearer: string }> {
  const token = parseToken(tokenText);
  const server = parseServer(serverText);
  const ca = await pinAuthority(server, serverText, token.caHash);
  return { server, serverText, bearer: token.bearer, ca };
}

function parseToken(token: string): { bearer: string; caHash: string } {
  const match = /^([a-z0-9]{6}\.[a-z0-9]{16})\.([0-9a-f]{64})$/.exec(token.trim());
  if (!match?.[1] || !match[2]) throw new JoinError('the token is not of the form ID.SECRET.CAHASH', false);
  return { bearer: match[1], caHash: match[2] };
}

/** Throws `EnrolError`. */
export function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:')
    throw new JoinError(`--server: must be of the form https://HOST:PORT, not "${server}"`, false);
  return url;
}

/** `serverText`: the address as the user typed it, for errors. */
async function pinAuthority(server: URL, serverText: string, caHash: string): Promise<string> {
  let authority: string | undefined;
  try {
    authority = await findAuthority(server, caHash);
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
