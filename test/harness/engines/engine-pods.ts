/** Pods on a real Docker and a real Podman, in one describe each. The test acts as the coordinator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { engineProcesses } from '../../../agent/runtime/engine-processes.js';
import { withPinnedBridge } from '../../../agent/runtime/pinned-bridge-driver.js';
import type { RuntimeDriver } from '../../../agent/runtime/runtime-driver.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../basics/skip-reason.js';
import { RecordingClock } from '../basics/test-clocks.js';
import { FIXTURE_OWNER, PodHostFixture, podOf } from '../pods/pod-host-fixture.js';
import { RemoteBridgePin } from './remote-bridge-pin.js';
import { type EngineKind, startEngine, type TestEngine } from './test-engines.js';
import { loadTestImages, shell } from './test-images.js';

const PATIENCE_MS = 30_000;
const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

/** Prints `up`, and exits with 0 on SIGTERM. */
export const WAITING = 'trap "exit 0" TERM; echo up; while :; do /bin/busybox sleep 3600 & wait $!; done';

/** Returns a container of the test image that runs a shell script. */
export function scripted(name: string, script: string, changes: Partial<Container> = {}): Container {
  return { name, image: 'app:1', command: shell(script), ...changes };
}

export class EnginePods {
  /** A folder of the host into which containers write. */
  readonly folder = mkdtempSync(join(tmpdir(), 'everynode-told-'));
  /** The agent's clock. */
  readonly clock = new RecordingClock();
  #engine: TestEngine | string = 'not started';
  #fixture: PodHostFixture | undefined;
  #bridge: RemoteBridgePin | undefined;

  constructor(readonly kind: EngineKind) {}

  get fixture(): PodHostFixture {
    if (!this.#fixture) throw new Error('there is no engine');
    return this.#fixture;
  }

  get engine(): TestEngine {
    if (typeof this.#engine === 'string') throw new Error(this.#engine);
    return this.#engine;
  }

  /** Defines one test. Without an engine it is skipped and named in the summary. */
  law(name: string, body: () => Promise<void>): void {
    test(name, async (context) => {
      if (typeof this.#engine === 'string') leaveOut(context, `${name} on ${this.kind}`, this.#engine);
      else await body();
    });
  }

  assignPod(name: string, containers: Container[], spec: Partial<PodSpec> = {}): void {
    this.fixture.assignPod(podOf(name, { terminationGracePeriodSeconds: 5, containers, ...spec }));
  }

  until(what: string, seen: () => boolean | Promise<boolean>): Promise<void> {
    return this.fixture.until(what, seen, PATIENCE_MS);
  }

  isReady(pod: string): boolean {
    const conditions = this.fixture.statuses.get(`uid-${pod}`)?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  /** Waits for an Event `reason: message`. */
  event(words: string): Promise<void> {
    return this.until(`event ${words}`, () => this.fixture.events.includes(words));
  }

  /** Deletes the Pod with its grace period and waits until the engine has no container of it. */
  async remove(pod: string): Promise<void> {
    const uid = `uid-${pod}`;
    const held = this.fixture.assignedPods.get(uid);
    if (!held) throw new Error(`no Pod ${pod} was given`);
    const deletionGracePeriodSeconds = held.pod.spec.terminationGracePeriodSeconds ?? 30;
    const metadata = { ...held.pod.metadata, ...DELETED, deletionGracePeriodSeconds };
    this.fixture.assignPod({ ...held.pod, metadata });
    await this.until(`${pod} is removed`, () => this.fixture.removed.includes(uid));
    this.fixture.deletePod(uid);
    const left = await this.fixture.driver.inspectPod(uid);
    if (left.length > 0) throw new Error(`left of ${pod}: ${JSON.stringify(left)}`);
  }

  /** Returns true if there is an engine. */
  async start(): Promise<boolean> {
    this.#engine = await startEngine(this.kind);
    if (typeof this.#engine === 'string') return false;
    const { socketPath } = this.#engine;
    await loadTestImages(socketPath, ['app:1']);
    const driver = this.#withBridge(new DockerEngine(await askEngine({ socketPath }), FIXTURE_OWNER));
    const processes = () => engineProcesses({ socketPath });
    this.#fixture = new PodHostFixture(driver, this.clock, this.kind, undefined, processes);
    // The engine has a network of its own. From here, probes reach only Pods on its host network.
    this.#fixture.facts.hostIP = this.#engine.address;
    return true;
  }

  /** As the agent does for Podman. The bridge is in the engine's network namespace. */
  #withBridge(driver: RuntimeDriver): RuntimeDriver {
    if (this.kind === 'docker') return driver;
    this.#bridge = new RemoteBridgePin(this.networkName);
    // An object of its own, so that a test can replace a call without changing the driver below the pin.
    return Object.create(withPinnedBridge(driver, this.#bridge)) as RuntimeDriver;
  }

  /** The name of the engine's network namespace for `ip netns`. */
  get networkName(): string {
    return this.engine.networkNamespace.replace('/run/netns/', '');
  }

  async stop(): Promise<void> {
    await this.#fixture?.close();
    this.#bridge?.close();
    if (typeof this.#engine !== 'string') await this.#engine.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Defines the same tests for each engine. `prepare` runs before the first test of an engine. */
export function onEachEngine(
  title: string,
  define: (pods: EnginePods) => void,
  prepare: (pods: EnginePods) => Promise<void> = async () => undefined,
): void {
  for (const kind of ['docker', 'podman'] as const) {
    describe(`${title} on ${kind}`, { concurrency: 1 }, () => {
      const pods = new EnginePods(kind);
      // The agent's timers do not keep the process alive.
      const alive = setInterval(() => undefined, 1000);
      before(async () => {
        if (await pods.start()) await prepare(pods);
      });
      after(async () => {
        clearInterval(alive);
        await pods.stop();
      });
      define(pods);
    });
  }
}
