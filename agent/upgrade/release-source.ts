/** Downloads agent releases from the coordinator, verifies their signed checksums, and installs them. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { chmod, open, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { createGunzip } from 'node:zlib';
import { type OpenTunnel, tunnellingAgent } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { isHostSubject } from '../../shared/link/host-subject.js';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import { RuntimeError } from '../runtime/runtime-driver.js';

/** Timeout for a connection without data. The Pod's back-off retries. */
const IDLE_TIMEOUT_MS = 60_000;
/** Upper limits: checksums, their signature and agents are smaller. */
const MAX_TEXT_BYTES = 65_536;
const MAX_AGENT_BYTES = 512 * 2 ** 20;

export interface ReleaseSourceOptions {
  /** Returns the coordinator's current address. */
  server: () => URL;
  /** Returns the PEM of the coordinator's current CA certificates. */
  ca: () => string;
  /** Opens the tunnel through an HTTP proxy; absent: this host needs none. */
  tunnel?: OpenTunnel | undefined;
  /** PEM file of the key that signs releases, pinned at the installation. */
  keyFile: string;
}

export class ReleaseSource {
  constructor(readonly options: ReleaseSourceOptions) {}

  /**
   * Downloads the agent of a version for this CPU. Resolves when it is complete and executable at `target`. Throws
   * `RuntimeError` ErrImagePull and leaves `target` unchanged otherwise.
   */
  async fetch(version: string, target: string, signal: AbortSignal, onProgress?: () => void): Promise<void> {
    const key = await this.#key();
    const sums = await this.#text(version, 'SHA256SUMS', signal);
    const signature = Buffer.from((await this.#text(version, 'SHA256SUMS.sig', signal)).trim(), 'base64');
    if (!verify(null, Buffer.from(sums), key, signature)) {
      throw failed(`release ${version} is not signed with the key in ${this.options.keyFile}`, false);
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
      throw failed(`cannot download release ${version}: ${messageOf(error)}`, true);
    } finally {
      rmSync(archive, { force: true });
      rmSync(`${target}.new`, { force: true });
    }
  }

  /**
   * Throws `RuntimeError` RunContainerError if the version is below the coordinator's minimum. If the coordinator does
   * not respond, the error is temporary. A version that it does not have is allowed: an operator may have installed it
   * by hand.
   */
  async requireAllowed(version: string): Promise<void> {
    const { code, message } = await this.#ask(version);
    if (code === 200 || code === 404) return;
    const why = code === 403 ? message : `the coordinator responds with status ${code}: ${message}`;
    throw new RuntimeError('RunContainerError', why, code !== 403);
  }

  async #ask(version: string): Promise<{ code: number; message: string }> {
    try {
      const response = await this.#request(version, 'SHA256SUMS', AbortSignal.timeout(IDLE_TIMEOUT_MS));
      const text = await textOf(response, 'SHA256SUMS', version);
      return { code: response.statusCode ?? 0, message: messageIn(text) };
    } catch (error) {
      const why = `cannot ask the coordinator whether it allows agent ${version}: ${messageOf(error)}`;
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
      throw failed(`cannot download release ${version}: ${messageOf(error)}`, true);
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
        if (size > MAX_AGENT_BYTES) throw failed(`${name} is too large`, false);
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
    if (hash.digest('hex') !== sum) throw failed(`${name} does not have the checksum of the release`, true);
  }

  /** Opens the file as a stream. Throws when the coordinator does not serve it. */
  async #open(version: string, name: string, signal: AbortSignal): Promise<IncomingMessage> {
    const response = await this.#request(version, name, signal);
    if (response.statusCode === 200) return response;
    const message = messageIn(await textOf(response, name, version));
    throw failed(
      `the coordinator has no ${name} of release ${version}: status ${response.statusCode}${message && `, ${message}`}`,
      true,
    );
  }

  #request(version: string, name: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { server, ca, tunnel } = this.options;
    const url = new URL(`/agent/${version}/${name}`, server());
    return new Promise((resolve, reject) => {
      const options = { ca: ca(), checkServerIdentity: checkCoordinator };
      // Not kept: a host downloads about once a month.
      const agent = tunnellingAgent(tunnel, {});
      const sent = get(url, { ...options, agent, signal, timeout: IDLE_TIMEOUT_MS }, resolve);
      sent.on('timeout', () => sent.destroy(new Error('no response')));
      sent.on('error', reject);
    });
  }
}

/** Refuses a host: the authority signs certificates for the kubelet's port of hosts as well. */
function checkCoordinator(name: string, certificate: PeerCertificate): Error | undefined {
  if (isHostSubject(certificate.subject)) return new Error('the certificate is that of a host');
  return checkServerIdentity(name, certificate);
}

/** Reads a short response. */
async function textOf(response: IncomingMessage, name: string, version: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > MAX_TEXT_BYTES) throw failed(`${name} of release ${version} is too large`, false);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the message of a Status object, or "" for any other text. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}

/** Returns a file's checksum from the output of `sha256sum`. */
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
