/** The agent for hosts that have none: the script that a person pipes into a shell, and the files that it fetches. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { ReleasePaths } from '../releases/release-trust.js';
import { SIGNATURE_FILE, SUMS_FILE } from '../releases/signed-sums.js';
import { VerifiedReleases } from '../releases/verified-releases.js';

/** Where the script is served; the agents' files lie under `/agent/VERSION/`. */
export const SCRIPT_PATH = '/install.sh';

/** The files of a release that hosts fetch. The signed list names them too; the unpacked agents in it are not served. */
const FILE_PATTERN = /^everynode-agent-[0-9a-z.-]{1,64}\.(?:gz|xz)$/;
const HOST_PATTERN = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

interface AgentFile {
  bytes: Readable;
  size: number;
}

/** True for the files of a release that a coordinator keeps for hosts. */
export function isServedFile(name: string): boolean {
  return FILE_PATTERN.test(name);
}

export class AgentFiles {
  readonly #releases: VerifiedReleases;
  readonly #version: string;
  readonly #template: string;

  /** `version` is the one that new hosts get. */
  constructor(places: ReleasePaths, version: string, log?: Logger) {
    this.#releases = new VerifiedReleases(places, log);
    this.#version = version;
    this.#template = readFileSync(new URL('./install.sh', import.meta.url), 'utf8');
  }

  /**
   * The script for hosts that know the coordinator by `host` (HOST:PORT, as the request has it). The release is read again each
   * time, because it may have been added since. Throws ApiError 400 for a host that is no name (it goes into a shell's quotes),
   * and 403, 404 or 503 without a verified release.
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

  /** Whether there is a verified agent for new hosts. Looked up each time, as by `script`. */
  hasRelease(): Promise<boolean> {
    return this.#releases.has(this.#version);
  }

  /** A file of a verified release. Throws ApiError 404 when there is none, 403 below the floor, 503 when it was changed on the disk. */
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
