/** The agents that a coordinator gives: fetched, compared with signed checksums, and put where versions lie. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { chmod, open, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import { RuntimeError } from '../runtime/runtime-driver.js';

/** A line that is silent for so long is given up; the Pod's back-off asks again. */
const SILENCE_MS = 60_000;
/** Checksums and their signature are far smaller, agents smaller. */
const MAX_TEXT_BYTES = 65_536;
const MAX_AGENT_BYTES = 512 * 2 ** 20;

export interface ReleaseSourceOptions {
  server: URL;
  /** PEM of the authorities of the coordinator, at this moment. */
  ca: () => string;
  /** PEM file of the key that signs releases, pinned at the installation. */
  keyFile: string;
}

export class ReleaseSource {
  constructor(readonly options: ReleaseSourceOptions) {}

  /**
   * Fetches the agent of a version for this processor; resolves when it lies at `target`, whole and executable. Throws
   * `RuntimeError` ErrImagePull; `target` is untouched then.
   */
  async fetch(version: string, target: string, signal: AbortSignal, onProgress?: () => void): Promise<void> {
    const key = await this.#key();
    const sums = await this.#text(version, 'SHA256SUMS', signal);
    const signature = Buffer.from((await this.#text(version, 'SHA256SUMS.sig', signal)).trim(), 'base64');
    if (!verify(null, Buffer.from(sums), key, signature)) {
      throw failed(`release ${version} is not signed by the key that this host was installed with`, false);
    }
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const name = `everynode-agent-${version}-linux-${architecture}.gz`;
    const sum = sumOf(sums, name);
    if (sum === undefined) throw failed(`release ${version} has no agent for ${architecture}`, false);
    const archive = `${target}.gz`;
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    try {
      await this.#download({ version, name, sum }, archive, signal, onProgress);
      await pipeline(createReadStream(archive), createGunzip(), createWriteStream(`${target}.new`), {
        signal,
      });
      await chmod(`${target}.new`, 0o755);
      await syncFile(`${target}.new`);
      renameSync(`${target}.new`, target);
    } catch (error) {
      if (error instanceof RuntimeError) throw error;
      throw failed(`release ${version} cannot be had: ${messageOf(error)}`, true);
    } finally {
      rmSync(archive, { force: true });
      rmSync(`${target}.new`, { force: true });
    }
  }

  /**
   * Throws `RuntimeError` RunContainerError when the coordinator allows no version as old as this one, and, for another try later,
   * when it cannot be asked. A version that it does not have is allowed: a host may have been given it by hand.
   */
  async requireAllowed(version: string): Promise<void> {
    const { code, message } = await this.#ask(version);
    if (code === 200 || code === 404) return;
    const why = code === 403 ? message : `the coordinator answers with status ${code}: ${message}`;
    throw new RuntimeError('RunContainerError', why, code !== 403);
  }

  async #ask(version: string): Promise<{ code: number; message: string }> {
    try {
      const answer = await this.#request(version, 'SHA256SUMS', AbortSignal.timeout(SILENCE_MS));
      const text = await textOf(answer, 'SHA256SUMS', version);
      return { code: answer.statusCode ?? 0, message: messageIn(text) };
    } catch (error) {
      const why = `the coordinator cannot be asked whether it allows agent ${version}: ${messageOf(error)}`;
      throw new RuntimeError('RunContainerError', why, true);
    }
  }

  async #key(): Promise<KeyObject> {
    try {
      return createPublicKey(await readFile(this.options.keyFile));
    } catch {
      throw failed(
        `this host accepts no upgrades: ${this.options.keyFile} is missing (everynode-agent install --release-key)`,
        false,
      );
    }
  }

  async #text(version: string, name: string, signal: AbortSignal): Promise<string> {
    try {
      return await textOf(await this.#open(version, name, signal), name, version);
    } catch (error) {
      if (error instanceof RuntimeError) throw error;
      throw failed(`release ${version} cannot be had: ${messageOf(error)}`, true);
    }
  }

  async #download(
    { version, name, sum }: { version: string; name: string; sum: string },
    path: string,
    signal: AbortSignal,
    onProgress: (() => void) | undefined,
  ): Promise<void> {
    const hash = createHash('sha256');
    let size = 0;
    const watched = async function* (source: Readable) {
      for await (const chunk of source) {
        size += (chunk as Buffer).length;
        if (size > MAX_AGENT_BYTES) throw failed(`${name} is too long`, false);
        hash.update(chunk as Buffer);
        countWrittenBytes(chunk as Buffer);
        onProgress?.();
        yield chunk;
      }
    };
    await pipeline(
      await this.#open(version, name, signal),
      watched,
      createWriteStream(path, { mode: 0o600 }),
      { signal },
    );
    if (hash.digest('hex') !== sum) throw failed(`${name} is not the file that the release names`, true);
  }

  /** The file as a stream. Throws when the coordinator does not give it. */
  async #open(version: string, name: string, signal: AbortSignal): Promise<IncomingMessage> {
    const answer = await this.#request(version, name, signal);
    if (answer.statusCode === 200) return answer;
    const message = messageIn(await textOf(answer, name, version));
    throw failed(
      `the coordinator has no ${name} of release ${version}: status ${answer.statusCode}${message && `, ${message}`}`,
      true,
    );
  }

  #request(version: string, name: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { server, ca } = this.options;
    const url = new URL(`/agent/${version}/${name}`, server);
    return new Promise((resolve, reject) => {
      const sent = get(url, { ca: ca(), agent: false, signal, timeout: SILENCE_MS }, resolve);
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject);
    });
  }
}

/** A short answer, whole. */
async function textOf(answer: IncomingMessage, name: string, version: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += (chunk as Buffer).length;
    if (size > MAX_TEXT_BYTES) throw failed(`${name} of release ${version} is too long`, false);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The message of a Status object; empty for any other text. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}

/** The checksum of a file, of `sha256sum`'s lines. */
export function sumOf(sums: string, name: string): string | undefined {
  for (const line of sums.split('\n')) {
    const [, sum, file] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    if (file === name) return sum;
  }
  return undefined;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function failed(message: string, temporary: boolean): RuntimeError {
  return new RuntimeError('ErrImagePull', message, temporary);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
