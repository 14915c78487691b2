/**
 * A static Pod preempts another Pod on an offline host, and the agent is killed before and after each of its operations.
 * The next agent must complete the preemption. At no time may the host run more than it has.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { createAgent } from '../../../agent/assembly/create-agent.js';
import { afterAssign } from '../../../agent/decisions/pods/assigned-pod.js';
import { ConfigCache } from '../../../agent/desired/config-object-cache.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import type { DurableFile } from '../../../agent/desired/durable-file.js';
import { CoordinatorTime } from '../../../agent/handovers/coordinator-time.js';
import { hollowHostDeps, hollowHostInfo } from '../../../agent/simulate/hollow-host.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { startComponents } from '../../../shared/process/service/program-lifecycle.js';
import { unreachableSocket } from '../../harness/basics/test-sockets.js';
import { type CrashPoint, ProgramLifetime } from '../machines/program-lifetime.js';
import { SeededRandom } from '../machines/seeded-random.js';
import { HostEngine } from '../machines/simulated-engine.js';
import { Timeline } from '../machines/timeline.js';

const OWNER = { clusterUID: 'c', nodeName: 'host-1' };
const WALL = { offsetMs: 0 };
/** The host has 4 CPUs. */
const CPUS: Readonly<Record<string, number>> = { victim: 2, other: 1, critical: 3 };
const HOST_CPUS = 4;
const SECOND = 1_000;

function podOf(name: string, image: string): Pod {
  const resources = { requests: { cpu: String(CPUS[name]) } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name },
    spec: { terminationGracePeriodSeconds: 8, containers: [{ name: 'app', image, resources }] },
  };
}

/** How fast the victim stops and the disk stores. */
interface Speeds {
  victimImage: string;
  writeMs: number;
}

/** One host that never reaches its coordinator. */
class OfflineHost {
  readonly timeline = new Timeline();
  readonly #random: SeededRandom;
  readonly #engine: HostEngine;
  /** The desired cache's file. */
  #disk: string | undefined;
  #hasManifest = false;
  #lives = 0;
  #life: ProgramLifetime | undefined;
  /** Sets of Pods that ran together and requested more than the host has. */
  readonly overloads: string[] = [];

  constructor(
    seed: string,
    private readonly speeds: Speeds,
  ) {
    this.#random = new SeededRandom(seed);
    const life = this.#newLife();
    this.#engine = new HostEngine(life.clock, OWNER);
  }

  #newLife(): ProgramLifetime {
    this.#lives += 1;
    const stream = this.#random.stream(`life-${this.#lives}`);
    const life: ProgramLifetime = new ProgramLifetime(this.timeline, WALL, stream, { scale: 1 }, () => {
      this.killedIn = `${this.endOnDisk() ?? 'nothing'} on disk, ${this.running()} running`;
      life.end();
    });
    return life;
  }

  /** The victim's end on disk and the running Pods when the agent was killed; undefined: it was not. */
  killedIn: string | undefined;

  running(): string {
    return this.#engine
      .running()
      .map(({ podName }) => podName.replace(/-host-1$/, ''))
      .sort()
      .join();
  }

  /** Reason of the victim's end on disk. */
  endOnDisk(): string | undefined {
    return /"terminal":\{"reason":"(\w+)"/.exec(this.#disk ?? '')?.[1];
  }

  async assign(): Promise<void> {
    const life = this.#newLife();
    const cache = await this.#settled(DesiredCache.open(this.#fileFor(life), life.clock, silentLogger));
    const pods = [podOf('victim', this.speeds.victimImage), podOf('other', 'app:1')];
    const assigned = pods.map((pod) =>
      afterAssign(undefined, { uid: pod.metadata.uid ?? '', digest: 'd', pod }, life.clock.now()),
    );
    await this.#settled(cache.put(...assigned));
    life.end();
  }

  writeManifest(): void {
    this.#hasManifest = true;
  }

  crashAt(point: CrashPoint): void {
    this.#life?.crashAt(point);
  }

  kill(): void {
    this.#life?.end();
  }

  start(): void {
    const life = this.#newLife();
    this.#life = life;
    void this.#run(life);
  }

  async pass(ms: number): Promise<void> {
    await this.timeline.until(this.timeline.now + ms);
  }

  /** Resolves after enough simulated time for the operation. */
  async #settled<T>(operation: Promise<T>): Promise<T> {
    await this.pass(5 * SECOND);
    return operation;
  }

  async #run(life: ProgramLifetime): Promise<void> {
    const { clock } = life;
    const cache = await DesiredCache.open(this.#fileFor(life), clock, silentLogger);
    const boot = { bootMark: 'boot', uptimeMs: () => clock.monotonic() };
    const noFile: DurableFile = {
      read: async () => undefined,
      write: async () => undefined,
      quarantine: async () => '',
    };
    const agent = createAgent({
      ...hollowHostDeps(),
      settings: { nodeName: OWNER.nodeName, labels: {}, taints: [] },
      target: { url: 'wss://192.0.2.1:6443/link', connect: unreachableSocket },
      driver: this.#engine.driverFor(life, {
        onStarted: () => this.#recordOverload(),
        onStopped: () => undefined,
      }),
      cache,
      config: ConfigCache.inMemory(silentLogger),
      manifests: {
        path: '/manifests',
        names: () => life.perform(() => (this.#hasManifest ? ['critical.yaml'] : [])),
        text: () => life.perform(() => JSON.stringify(podOf('critical', 'app:1'))),
        watch: () => undefined,
      },
      readHost: () => hollowHostInfo(OWNER.nodeName, 1, '192.0.2.7'),
      coordinatorTime: await CoordinatorTime.open(boot, noFile, silentLogger),
      clock,
      wallClock: clock,
      random: { random: this.#random.fraction, uuid: () => `uuid-${this.#lives}` },
      log: silentLogger,
    });
    await startComponents(agent.components, silentLogger);
  }

  #recordOverload(): void {
    const names = this.running();
    const cpus = names.split(',').reduce((sum, name) => sum + (CPUS[name] ?? 0), 0);
    if (cpus > HOST_CPUS) this.overloads.push(names);
  }

  #fileFor(life: ProgramLifetime): DurableFile {
    return {
      read: () => life.perform(() => this.#disk),
      write: async (text) => {
        await life.pause(this.speeds.writeMs);
        await life.perform(() => {
          this.#disk = text;
        });
      },
      quarantine: async () => '',
    };
  }
}

/** Runs the preemption with a crash at this point. Resolves with the state at the crash; undefined if there was none. */
async function stateAtCrash(point: CrashPoint, speeds: Speeds): Promise<string | undefined> {
  const host = new OfflineHost('crash-1', speeds);
  await host.assign();
  host.start();
  await host.pass(25 * SECOND);
  assert.equal(host.running(), 'other,victim');
  host.writeManifest();
  host.crashAt(point);
  await host.pass(50 * SECOND);
  const { killedIn } = host;
  if (killedIn !== undefined) {
    host.start();
    await host.pass(60 * SECOND);
  }
  const where = `${point.side} operation ${point.operation}: ${killedIn}`;
  assert.equal(host.running(), 'critical,other', where);
  assert.equal(host.endOnDisk(), 'Preempting', where);
  assert.deepEqual(host.overloads, [], where);
  host.kill();
  return killedIn;
}

const CASES: [what: string, speeds: Speeds][] = [
  ['whose victim stops slowly', { victimImage: 'app:slow1', writeMs: 0 }],
  ['on a slow disk', { victimImage: 'app:1', writeMs: 3 * SECOND }],
];

for (const [what, speeds] of CASES) {
  test(`an agent that is killed at any operation of a preemption ${what} completes it after its restart`, async () => {
    const states = new Set<string>();
    for (const side of ['before', 'after'] as const) {
      for (let operation = 1; ; operation += 1) {
        const state = await stateAtCrash({ operation, side }, speeds);
        if (state === undefined) break;
        states.add(state);
      }
    }
    assert.deepEqual([...states].sort(), [
      'Preempting on disk, critical,other running',
      'Preempting on disk, other running',
      'Preempting on disk, other,victim running',
      'nothing on disk, other,victim running',
    ]);
  });
}
