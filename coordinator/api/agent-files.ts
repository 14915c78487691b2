/** The agent for hosts that have none: the script that a person pipes into a shell, and the files that it fetches. */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ApiError } from '../../shared/kube/status.js';

/** Where the script is served; the agents' files lie under `/agent/VERSION/`. */
export const SCRIPT_PATH = '/install.sh';

/** What a file of a release may be called: nothing else is looked for on the disk. */
const FILE_PATTERN = /^(?:everynode-agent-[0-9a-z.-]{1,64}\.(?:gz|xz)|SHA256SUMS|SHA256SUMS\.sig)$/;
const VERSION_PATTERN = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9a-z.]{1,32})?$/;
const HOST_PATTERN = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const SUM_PATTERN = /^[0-9a-f]{64} {2}everynode-agent-[0-9a-z.-]+\.(?:gz|xz)$/;
const KEY_PATTERN = /^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+-----END PUBLIC KEY-----$/;

interface AgentFile {
  bytes: Readable;
  size: number;
}

export class AgentFiles {
  readonly #directory: string;
  readonly #version: string;
  readonly #template: string;

  /** `directory` has a folder for each version, as `npm run release` fills it; `version` is the one that new hosts get. */
  constructor(directory: string, version: string) {
    this.#directory = directory;
    this.#version = version;
    this.#template = readFileSync(new URL('./install.sh', import.meta.url), 'utf8');
  }

  /**
   * The script for hosts that know the coordinator by `host` (HOST:PORT, as the request has it). Read anew each time: a release may
   * have come. Throws ApiError 404 without a release, 400 for a host that is no name: it goes into a shell's quotes.
   */
  script(host: string | undefined): string {
    if (host === undefined || !HOST_PATTERN.test(host)) {
      throw new ApiError('BadRequest', 'the Host header is not of the form HOST:PORT');
    }
    const folder = join(this.#directory, this.#version);
    let sums: string[];
    let key: string;
    try {
      sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').split('\n');
      key = readFileSync(join(folder, 'release.pub'), 'utf8').trim();
    } catch {
      throw noRelease(this.#version);
    }
    if (!KEY_PATTERN.test(key)) throw noRelease(this.#version);
    const values: Record<string, string> = {
      SERVER: `https://${host.toLowerCase()}`,
      VERSION: this.#version,
      SUMS: sums.filter((line) => SUM_PATTERN.test(line)).join('\n'),
      RELEASE_KEY: key,
    };
    return this.#template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? '');
  }

  /** Whether there is an agent for new hosts. Looked for each time, as by `script`. */
  get hasRelease(): boolean {
    return existsSync(join(this.#directory, this.#version, 'SHA256SUMS'));
  }

  /** A file of a release. Throws ApiError 404 when there is none. */
  async open(version: string, name: string): Promise<AgentFile> {
    if (!VERSION_PATTERN.test(version) || !FILE_PATTERN.test(name)) throw notFound(version, name);
    const path = join(this.#directory, version, name);
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) throw notFound(version, name);
    return { bytes: createReadStream(path), size: found.size };
  }
}

function noRelease(version: string): ApiError {
  return new ApiError(
    'NotFound',
    `this coordinator has no agent ${version} to give: build one with npm run release, then everynode coordinator install --release DIR`,
  );
}

function notFound(version: string, name: string): ApiError {
  return new ApiError('NotFound', `there is no file ${name} of version ${version}`);
}
