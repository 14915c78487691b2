/**
 * Downloads for hosts without an agent: the install script that a user pipes into a shell, and the files that it
 * fetches.
 */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { ReleasePaths } from '../releases/release-trust.js';
import { SIGNATURE_FILE, SUMS_FILE } from '../releases/signed-sums.js';
import { VerifiedReleases } from '../releases/verified-releases.js';

/** Path of the script. The agent's files are below `/agent/VERSION/`. */
export const SCRIPT_PATH = '/install.sh';

/** Files that hosts may download. The signed list also names the unpacked agents, which are not served. */
const FILE_PATTERN = /^everynode-agent-[0-9a-z.-]{1,64}\.(?:gz|xz)$/;
const HOST_PATTERN = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

interface AgentFile {
  bytes: Readable;
  size: number;
}

/** True for a file that hosts may download. */
export function isServedFile(name: string): boolean {
  return FILE_PATTERN.test(name);
}

export class AgentFiles {
  readonly #releases: VerifiedReleases;
  readonly #version: string;
  readonly #template: string;

  /** `version` is the agent version for new hosts. */
  constructor(places: ReleasePaths, version: string, log?: Logger) {
    this.#releases = new VerifiedReleases(places, log);
    this.#version = version;
    this.#template = readFileSync(new URL('./install.sh', import.meta.url), 'utf8');
  }

  /**
   * Returns the install script with `host` (the request's HOST:PORT) as the coordinator's address. Reads the release
   * each time, because one may have been added meanwhile. Throws ApiError 400 for a malformed host, which would end up
   * in a quoted shell string, and 403, 404 or 503 without a verified release.
   */
  async script(host: string | undefined): Promise<string> {
    if (host === undefined || !HOST_PATTERN.test(host)) {
      throw new ApiError('BadRequest', 'the Host header is not of the form HOST:PORT');
    }
    const { sums, key } = await this.#releases.release(this.#version);
    const lines = [...sums].filter(([name]) => isServedFile(name)).map(([name, sum]) => `${sum}  ${name}`);
    const values: Record<string, string> = {
      SERVER: `https://${host.toLowerCase()}`,
      VERSION: this.#version,
      SUMS: lines.join('\n'),
      RELEASE_KEY: key,
    };
    return this.#template.replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? '');
  }

  /** True if there is a verified release for new hosts. Reads the release each time. */
  hasRelease(): Promise<boolean> {
    return this.#releases.has(this.#version);
  }

  /**
   * Opens a file of a verified release. Throws ApiError: 404 unknown file, 403 below the floor, 503 changed on disk.
   */
  async open(version: string, name: string): Promise<AgentFile> {
    if (name === SUMS_FILE || name === SIGNATURE_FILE) {
      const { sumsText, signatureText } = await this.#releases.release(version);
      const text = Buffer.from(name === SUMS_FILE ? sumsText : signatureText);
      return { bytes: Readable.from([text]), size: text.length };
    }
    if (!isServedFile(name)) {
      throw new ApiError('NotFound', `there is no file ${name} of version ${version}`);
    }
    const { file, size } = await this.#releases.open(version, name);
    return { bytes: file.createReadStream({ start: 0 }), size };
  }
}
