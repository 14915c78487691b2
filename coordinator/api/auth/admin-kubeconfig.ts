/** The administrator's kubeconfig and its token. The coordinator stores only the token's hash. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { readIfPresent, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { tokenHash } from './token-authenticator.js';

interface KubeconfigFields {
  /** E.g. `https://127.0.0.1:6443`. */
  server: string;
  /** PEM. Undefined: the server's certificate is proved by the certificates of the user's system. */
  caCertificate: string | undefined;
}

/** The user's credentials: a token, or a client certificate and its key in PEM. */
type KubeconfigUser = { token: string } | { certificate: string; key: string };

const NAME = 'everynode';
/** Relative to the data directory. */
const KUBECONFIG = 'kubeconfig';
const HASH = join('pki', 'admin-token.sha256');

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

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
        cluster: {
          server,
          ...(caCertificate === undefined ? {} : { 'certificate-authority-data': base64(caCertificate) }),
        },
      },
    ],
    users: [{ name: NAME, user: proof }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    'current-context': NAME,
  });
}

/**
 * Returns the token of a kubeconfig that the coordinator wrote; undefined if it has none or was replaced by another
 * file.
 */
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

/** Returns the hash of the administrator's token from an earlier start; undefined if a new token is needed. */
export async function storedAdminHash(dataDir: string): Promise<Buffer | undefined> {
  const stored = await readStored(dataDir);
  return stored.token === undefined ? undefined : tokenHash(stored.token);
}

/** Returns the stored kubeconfig, and its token if it matches the stored hash. */
async function readStored(dataDir: string): Promise<{ text: string | undefined; token?: string }> {
  const text = await readIfPresent(join(dataDir, KUBECONFIG));
  const known = (await readIfPresent(join(dataDir, HASH)))?.trim();
  const token = tokenOf(text);
  const isGood = token !== undefined && tokenHash(token).toString('hex') === known;
  return { text, ...(isGood && { token }) };
}

/**
 * Updates `DATA/kubeconfig` (mode 0600) for this server and authority, and returns the hash of its token. If the
 * kubeconfig was lost or changed, it gets a new token and the old one becomes invalid.
 */
export async function loadAdminAccess({
  dataDir,
  server,
  caCertificate,
}: AdminAccessOptions): Promise<Buffer> {
  const stored = await readStored(dataDir);
  const token = stored.token ?? randomBytes(32).toString('base64url');
  const hash = tokenHash(token);
  if (token !== stored.token) await writePrivateFile(join(dataDir, HASH), `${hash.toString('hex')}\n`);
  const text = kubeconfigText({ server, caCertificate, token });
  if (text !== stored.text) await writePrivateFile(join(dataDir, KUBECONFIG), text);
  return hash;
}
