/** What this host knows of registries: credentials and mirrors, in a file that may change while the agent runs. */
import { readFile, stat } from 'node:fs/promises';
import { type Keyring, parseDockerConfig } from '../decisions/images/registry-credentials.js';
import { RuntimeError } from '../runtime/runtime-driver.js';

interface KnownRegistries {
  keyring: Keyring;
  /** By registry (`docker.io`, `host:port`): where to ask first, in order, each a registry with or without a path. */
  mirrors: Readonly<Record<string, readonly string[]>>;
}

const NOTHING: KnownRegistries = { keyring: new Map(), mirrors: {} };

/** Docker's `config.json`, which may hold `mirrors` beside `auths`; a host without the file knows of none. */
export class RegistrySettings {
  readonly #path: string | undefined;
  #known = NOTHING;
  #mark = '';

  /** Without a path nothing is known. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** As the file is now; read anew only when it changed. Throws `ErrImagePull` when it cannot be understood. */
  async current(): Promise<KnownRegistries> {
    if (this.#path === undefined) return NOTHING;
    const found = await stat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw refusal(this.#path, error);
    });
    const mark = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : '';
    if (mark === this.#mark) return this.#known;
    this.#known = found ? await read(this.#path) : NOTHING;
    this.#mark = mark;
    return this.#known;
  }
}

async function read(path: string): Promise<KnownRegistries> {
  try {
    const text = await readFile(path, 'utf8');
    return { keyring: parseDockerConfig(text), mirrors: mirrorsOf(JSON.parse(text)) };
  } catch (error) {
    throw refusal(path, error);
  }
}

function mirrorsOf({ mirrors = {} }: { mirrors?: unknown }): KnownRegistries['mirrors'] {
  const isList = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.every((item) => typeof item === 'string' && /^[^/:]+(:\d+)?(\/.*)?$/.test(item));
  if (typeof mirrors === 'object' && mirrors !== null && Object.values(mirrors).every(isList)) {
    return mirrors as KnownRegistries['mirrors'];
  }
  throw new Error('mirrors: must be lists of HOST[:PORT][/PATH] by registry');
}

/** Without the file's text: it holds secrets. */
function refusal(path: string | undefined, error: unknown): RuntimeError {
  const why =
    error instanceof SyntaxError ? 'is no JSON' : error instanceof Error ? error.message : String(error);
  return new RuntimeError('ErrImagePull', `the file of registries, ${path}, cannot be used: ${why}`, true);
}
