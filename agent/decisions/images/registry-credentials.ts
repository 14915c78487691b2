/** Which credentials open which registry (pkg/credentialprovider keyring.go, config.go). */
import { repositoryOf } from './image-name.js';

/** What a registry asks for. */
export interface RegistryAuth {
  username?: string;
  password?: string;
  /** In the place of a password. */
  identityToken?: string;
}

/** Credentials by registry, with a path where they are for a part of it: `registry.example.com:5000/team`. */
export type Keyring = ReadonlyMap<string, RegistryAuth>;

/** Docker's names for its own registry. */
const DOCKER_HUB = new Set([
  'docker.io',
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
]);

/** Reads a `config.json` of Docker (`auths` in it) or the older `.dockercfg`. Throws an Error that says what is wrong with it. */
export function parseDockerConfig(text: string): Keyring {
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) throw new Error('is no JSON object');
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

/** Undefined for an entry that holds nothing to log in with. */
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

/** Without scheme, and without the API's version that Docker writes behind its own registry. */
function normalKey(key: string): string {
  const bare = key
    .replace(/^https?:\/\//, '')
    .replace(/\/v[12]\/?$/, '')
    .replace(/\/+$/, '');
  const [host = '', ...path] = bare.split('/');
  return [DOCKER_HUB.has(host) ? 'docker.io' : host, ...path].join('/');
}

/** The credentials to try for an image (by its full name), in order: those of the first ring first, of a ring the closest. */
export function credentialsFor(fullName: string, rings: readonly Keyring[]): RegistryAuth[] {
  const repository = repositoryOf(fullName);
  return rings.flatMap((ring) =>
    [...ring]
      .filter(([key]) => opens(key, repository))
      // Longer keys are closer, and a `*` sorts before every name.
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([, auth]) => auth),
  );
}

/** Host parts match one by one, where `*` stands for any within a part; the path must be a beginning of the image's. */
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
