/** Selects credentials for a registry (pkg/credentialprovider keyring.go, config.go). */
import { repositoryOf } from './image-name.js';

export interface RegistryAuth {
  username?: string;
  password?: string;
  /** Used instead of a password. */
  identityToken?: string;
}

/** Credentials by registry, with a path if they are limited to it: `registry.example.com:5000/team`. */
export type Keyring = ReadonlyMap<string, RegistryAuth>;

/** Docker's names of its own registry. */
const DOCKER_HUB = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
]);

/** Parses Docker's `config.json` (with `auths`) or the older `.dockercfg`. Throws an Error that names the mistake. */
export function parseDockerConfig(text: string): Keyring {
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) throw new Error('not a JSON object');
  const auths = isRecord(config.auths) ? config.auths : config;
  const entries = Object.entries(auths).flatMap(([key, value]) => {
    const auth = isRecord(value) ? authOf(key, value) : undefined;
    return auth ? [[normalKey(key), auth] as const] : [];
  });
  return new Map(entries);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for an entry without credentials. */
function authOf(key: string, entry: Record<string, unknown>): RegistryAuth | undefined {
  const { auth, username, password, identitytoken } = entry;
  if (typeof identitytoken === 'string' && identitytoken !== '') return { identityToken: identitytoken };
  if (typeof auth === 'string' && auth !== '') {
    const decoded = Buffer.from(auth, 'base64').toString('utf8');
    const colon = decoded.indexOf(':');
    if (colon < 0) throw new Error(`auths[${key}].auth is not the base64 form of USER:PASSWORD`);
    return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
  }
  if (typeof username !== 'string' || typeof password !== 'string') return undefined;
  return { username, password };
}

/** Returns the key without scheme, and without the API version that Docker appends for its own registry. */
function normalKey(key: string): string {
  const bare = key
    .replace(/^https?:\/\//, '')
    .replace(/\/v[12]\/?$/, '')
    .replace(/\/+$/, '');
  const [host = '', ...path] = bare.split('/');
  return [DOCKER_HUB.has(host) ? 'docker.io' : host, ...path].join('/');
}

/** Returns the credentials to try for a full image name, in order: by keyring, then by closest match. */
export function credentialsFor(fullName: string, rings: readonly Keyring[]): RegistryAuth[] {
  const repository = repositoryOf(fullName);
  return rings.flatMap((ring) =>
    [...ring]
      .filter(([key]) => opens(key, repository))
      // Longer keys are closer, and `*` sorts before every name.
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([, auth]) => auth),
  );
}

/**
 * Host components match one by one, where `*` matches any text within a component. The path must be a prefix of the
 * image's.
 */
function opens(key: string, repository: string): boolean {
  const [keyHost = '', ...keyPath] = key.split('/');
  const [host = '', ...path] = repository.split('/');
  const [keyName = '', keyPort] = keyHost.split(':');
  const [name = '', port] = host.split(':');
  if (keyPort !== port) return false;
  const wanted = keyName.split('.');
  const given = name.split('.');
  if (wanted.length !== given.length) return false;
  if (!wanted.every((part, index) => matchesGlob(given[index] ?? '', part))) return false;
  return path.join('/').startsWith(keyPath.join('/'));
}

function matchesGlob(text: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text);
}
