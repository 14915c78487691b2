/** The administrator's kubeconfig and the token in it. Only the token's hash is kept by the coordinator. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { readIfPresent, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { tokenHash } from './token-authenticator.js';

interface KubeconfigFields {
  /** e.g. `https://127.0.0.1:6443`. */
  server: string;
  /** PEM. */
  caCertificate: string;
}

/** How the user proves who they are: a token, or a client certificate with its key in PEM. */
type KubeconfigUser = { token: string } | { certificate: string; key: string };

const NAME = 'everynode';
/** Below the data directory. */
const KUBECONFIG = 'kubeconfig';
const HASH = join('pki', 'admin-token.sha256');

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The file's text. */
export function kubeconfigText({
  server,
  caCertificate,
  ...user
}: KubeconfigFields & KubeconfigUser): string {
  const proof =
    'token' in user
      ? { token: user.token }
      : { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: NAME,
        cluster: { server, 'certificate-authority-data': base64(caCertificate) },
      },
    ],
    users: [{ name: NAME, user: proof }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  });
}

/** The token of a kubeconfig that we wrote; undefined when it holds none, or is something else by now. */
function tokenOf(text: string | undefined): string | undefined {
  if (!text) return undefined;
  try {
    const config: { users?: { user?: { token?: unknown } }[] } | null = parse(text);
    const token = config?.users?.[0]?.user?.token;
    return typeof token === 'string' ? token : undefined;
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('YAML')) return undefined;
    throw error;
  }
}

interface AdminAccessOptions {
  dataDir: string;
  server: string;
  caCertificate: string;
}

/** Hash of the administrator's token as it was kept by an earlier start; undefined when a new one is to be made. */
export async function storedAdminHash(dataDir: string): Promise<Buffer | undefined> {
  const kept = await readKept(dataDir);
  return kept.token === undefined ? undefined : tokenHash(kept.token);
}

/** The kubeconfig as it lies there, and its token if that is the one whose hash was kept. */
async function readKept(dataDir: string): Promise<{ text: string | undefined; token?: string }> {
  const text = await readIfPresent(join(dataDir, KUBECONFIG));
  const known = (await readIfPresent(join(dataDir, HASH)))?.trim();
  const token = tokenOf(text);
  const isGood = token !== undefined && tokenHash(token).toString('hex') === known;
  return { text, ...(isGood && { token }) };
}

/**
 * Keeps `DATA/kubeconfig` (mode 0600) true for this server and authority, and answers the hash of its token.
 * A lost or changed kubeconfig gets a new token, and the old one is good no longer.
 */
export async function loadAdminAccess({
  dataDir,
  server,
  caCertificate,
}: AdminAccessOptions): Promise<Buffer> {
  const kept = await readKept(dataDir);
  const token = kept.token ?? randomBytes(32).toString('base64url');
  const hash = tokenHash(token);
  if (token !== kept.token) await writePrivateFile(join(dataDir, HASH), `${hash.toString('hex')}\n`);
  const text = kubeconfigText({ server, caCertificate, token });
  if (text !== kept.text) await writePrivateFile(join(dataDir, KUBECONFIG), text);
  return hash;
}
