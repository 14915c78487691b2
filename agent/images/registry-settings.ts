/** Credentials and mirrors of registries, from a file that may change while the agent runs. */
import { readFile, stat } from 'node:fs/promises';
import { type Keyring, parseDockerConfig } from '../decisions/images/registry-credentials.js';
import { RuntimeError } from '../runtime/runtime-driver.js';

interface KnownRegistries {
  keyring: Keyring;
  /**
   * By registry (`docker.io`, `host:port`): the mirrors to try first, in order. A mirror is a registry with or without
   * a path.
   */
  mirrors: Readonly<Record<string, readonly string[]>>;
}

const NOTHING: KnownRegistries = { keyring: new Map(), mirrors: {} };

/** Reads Docker's `config.json`, which may contain `mirrors` in addition to `auths`. The file is optional. */
export class RegistrySettings {
  readonly #path: string | undefined;
  #known = NOTHING;
  #version = '';

  /** Without a path there are no credentials and no mirrors. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Returns the settings of the file. Reads it only after a change. Throws `ErrImagePull` when it is invalid. */
  async current(): Promise<KnownRegistries> {
    if (this.#path === undefined) return NOTHING;
    const found = await stat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw unusable(this.#path, error);
    });
    const version = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : '';
    if (version === this.#version) return this.#known;
    this.#known = found ? await read(this.#path) : NOTHING;
    this.#version = version;
    return this.#known;
  }
}

async function read(path: string): Promise<KnownRegistries> {
  try {
    const text = await readFile(path, 'utf8');
    return { keyring: parseDockerConfig(text), mirrors: mirrorsOf(JSON.parse(text)) };
  } catch (error) {
    throw unusable(path, error);
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

/** Leaves out the file's text, which contains secrets. */
function unusable(path: string | undefined, error: unknown): RuntimeError {
  const why =
    error instanceof SyntaxError
      ? 'it is not valid JSON'
      : error instanceof Error
        ? error.message
        : String(error);
  return new RuntimeError('ErrImagePull', `cannot read registry settings from ${path}: ${why}`, true);
}
