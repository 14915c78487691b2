/** An image registry of the tests' own: Debian's docker-registry on 127.0.0.1 of an engine's host. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEngine } from './engines.js';
import { testImageArchive } from './test-images.js';

const START_MS = 20_000;
/** As images name it. */
export const REGISTRY = '127.0.0.1:5000';

export class TestRegistry {
  readonly #engine: TestEngine;
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-registry-'));
  readonly #process: ChildProcess;

  private constructor(engine: TestEngine) {
    this.#engine = engine;
    const config = join(this.#folder, 'config.yml');
    const storage = `storage: { filesystem: { rootdirectory: ${this.#folder}/data } }`;
    writeFileSync(config, `version: 0.1\nlog: { level: error }\n${storage}\nhttp: { addr: "${REGISTRY}" }\n`);
    this.#process = engine.spawnOnHost('docker-registry', 'serve', config);
  }

  /** A sentence instead where the packages are missing. */
  static async start(engine: TestEngine): Promise<TestRegistry | string> {
    if (!['/usr/bin/docker-registry', '/usr/bin/skopeo'].every(existsSync)) {
      return 'needs docker-registry and skopeo (see .ci/packages)';
    }
    const registry = new TestRegistry(engine);
    const deadline = Date.now() + START_MS;
    while (!registry.#answers()) {
      if (Date.now() > deadline) throw new Error('the registry did not start');
      await sleep(50);
    }
    return registry;
  }

  /** Puts a test image there under this name, such as `app:1`; answers what to pull. */
  push(name: string): string {
    const archive = join(this.#folder, 'image.tar');
    writeFileSync(archive, testImageArchive([name]));
    const target = `${REGISTRY}/${name}`;
    this.#engine.onHost(
      'skopeo',
      'copy',
      '--dest-tls-verify=false',
      `docker-archive:${archive}`,
      `docker://${target}`,
    );
    return target;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode === null && this.#process.kill('SIGKILL')) await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #answers(): boolean {
    try {
      this.#engine.onHost('/bin/busybox', 'wget', '-q', '-O', '-', `http://${REGISTRY}/v2/`);
      return true;
    } catch {
      // Nobody listens yet.
      return false;
    }
  }
}
