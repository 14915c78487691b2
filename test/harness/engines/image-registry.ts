/** An image registry for tests: Debian's docker-registry on 127.0.0.1 of an engine's host. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEngine } from './test-engines.js';
import { testImageArchive } from './test-images.js';

const START_MS = 20_000;
/** The address in image names. */
export const REGISTRY = '127.0.0.1:5000';

export interface RegistryOptions {
  /** Without a login the registry is public. `bcrypt` is the hash of the password. */
  login?: { user: string; password: string; bcrypt: string };
}

export class TestRegistry {
  readonly #engine: TestEngine;
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-registry-'));
  readonly #login: RegistryOptions['login'];
  readonly #config: string;
  #process: ChildProcess;

  private constructor(engine: TestEngine, { login }: RegistryOptions) {
    this.#engine = engine;
    this.#login = login;
    const config = join(this.#folder, 'config.yml');
    const storage = `storage: { filesystem: { rootdirectory: ${this.#folder}/data } }`;
    const users = join(this.#folder, 'users');
    if (login) writeFileSync(users, `${login.user}:${login.bcrypt}\n`);
    const auth = login ? `auth: { htpasswd: { realm: test, path: ${users} } }\n` : '';
    writeFileSync(
      config,
      `version: 0.1\nlog: { level: error }\n${storage}\n${auth}http: { addr: "${REGISTRY}" }\n`,
    );
    this.#config = config;
    this.#process = this.#serve();
  }

  /** Starts a registry. Resolves with a reason where the packages are missing. */
  static async start(engine: TestEngine, options: RegistryOptions = {}): Promise<TestRegistry | string> {
    if (!['/usr/bin/docker-registry', '/usr/bin/skopeo'].every(existsSync)) {
      return 'needs docker-registry and skopeo (see .ci/packages)';
    }
    const registry = new TestRegistry(engine, options);
    await registry.#started();
    return registry;
  }

  /** Puts a test image there under this name, such as `app:1`; answers what to pull. `extraBytes` that nothing can compress make it large. */
  async push(name: string, extraBytes = 0): Promise<string> {
    const archive = join(this.#folder, 'image.tar');
    writeFileSync(archive, await testImageArchive([name], extraBytes));
    const target = `${REGISTRY}/${name}`;
    this.#engine.onHost(
      'skopeo',
      'copy',
      '--dest-tls-verify=false',
      ...(this.#login ? ['--dest-creds', `${this.#login.user}:${this.#login.password}`] : []),
      `docker-archive:${archive}`,
      `docker://${target}`,
    );
    return target;
  }

  /** Sends SIGKILL. A later `restart` keeps the content. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode === null && this.#process.kill('SIGKILL')) await ended;
  }

  async restart(): Promise<void> {
    this.#process = this.#serve();
    await this.#started();
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #serve(): ChildProcess {
    return this.#engine.spawnOnHost('docker-registry', 'serve', this.#config);
  }

  async #started(): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!this.#answers()) {
      if (Date.now() > deadline) throw new Error('the registry did not start');
      await sleep(50);
    }
  }

  #answers(): boolean {
    try {
      this.#engine.onHost('/bin/busybox', 'wget', '-q', '-O', '-', `http://${REGISTRY}/v2/`);
      return true;
    } catch (error) {
      // The registry does not listen yet, unless it asks for a login.
      return String((error as { stderr?: unknown }).stderr).includes('401');
    }
  }
}
