/** An offline host with a pending handover: it starts inside its window only. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Agent, createAgent } from '../../../agent/assembly/create-agent.js';
import { ConfigCache } from '../../../agent/desired/config-object-cache.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import type { DurableFile } from '../../../agent/desired/durable-file.js';
import { CoordinatorTime } from '../../../agent/handovers/coordinator-time.js';
import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import { hollowHostDeps, hollowHostInfo } from '../../../agent/simulate/hollow-host.js';
import { HANDOVER_ANNOTATION, type HostHandover } from '../../../shared/kube/handovers/host-handover.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import {
  type RunningComponents,
  startComponents,
} from '../../../shared/process/service/program-lifecycle.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { unreachableSocket } from '../../harness/basics/test-sockets.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** By the coordinator. The host's own clock is months behind. */
const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOST_NOW = Date.parse('2025-11-11T00:00:00Z');
const OWNER = { clusterUID: 'c', nodeName: 'shop-1' };
const MAKER = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'till', uid: 'ds', controller: true };

const at = (ms: number) => new Date(NOW + ms).toISOString();

function podOf(uid: string, image: string, turn?: HostHandover): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name: `till-${uid}`, namespace: 'default', uid, ownerReferences: [MAKER] },
      ...(turn && { annotations: { [HANDOVER_ANNOTATION]: JSON.stringify(turn) } }),
    },
    spec: {
      ...{ nodeName: 'shop-1', terminationGracePeriodSeconds: 1 },
      containers: [{ name: 'main', image }],
    },
  };
}

function fileInMemory(): DurableFile {
  let text: string | undefined;
  return {
    read: async () => text,
    write: async (next) => {
      text = next;
    },
    quarantine: async () => '',
  };
}

/** One host with a pending handover to `app:2`, permanently disconnected. */
class CutOffHost {
  readonly clock = new ManualClock(HOST_NOW);
  readonly #engine = new HollowEngine({ clock: this.clock });
  readonly #cache = DesiredCache.inMemory(this.clock, silentLogger);
  readonly #file = fileInMemory();
  #bootedAt = HOST_NOW;
  #boots = 0;
  #running: RunningComponents | undefined;
  #agent: Agent | undefined;

  /** `heard` is true if the host received the coordinator's time before the link was lost. */
  static async start(windows: HostHandover['windows'], { heard }: { heard: boolean }): Promise<CutOffHost> {
    const host = new CutOffHost();
    const successor = podOf('new', 'app:2');
    const pod = podOf('old', 'app:1', { successor, ...(windows && { windows }) });
    await host.#cache.put({
      uid: 'old',
      digest: 'd',
      pod,
      acceptedAt: HOST_NOW,
      lifecycle: { kind: 'running' },
    });
    if (heard) await (await host.#heardTime()).update(NOW);
    await host.startAgent();
    return host;
  }

  #heardTime(): Promise<CoordinatorTime> {
    const boot = { bootMark: `boot-${this.#boots}`, uptimeMs: () => this.clock.now() - this.#bootedAt };
    return CoordinatorTime.open(boot, this.#file, silentLogger);
  }

  async startAgent(): Promise<void> {
    const { clock } = this;
    this.#agent = createAgent({
      ...hollowHostDeps(),
      settings: { nodeName: 'shop-1', labels: {}, taints: [] },
      target: { url: 'wss://192.0.2.1:6443/link', connect: unreachableSocket },
      driver: new HollowDriver(this.#engine, OWNER),
      cache: this.#cache,
      config: ConfigCache.inMemory(silentLogger),
      readHost: () => hollowHostInfo('shop-1', this.#boots, '192.0.2.7'),
      coordinatorTime: await this.#heardTime(),
      ...{ clock, wallClock: clock, random: systemRandom, log: silentLogger },
    });
    this.#running = await startComponents(this.#agent.components, silentLogger);
    await this.settle();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  /** A power cut: containers end, and the received time is lost. */
  async reboot(): Promise<void> {
    await this.stop();
    this.#boots += 1;
    this.#bootedAt = this.clock.now();
    for (const { identity } of this.#engine.ownedBy(OWNER)) {
      const { podUid, container } = identity;
      this.#engine.command({ command: 'exit', podUid, code: 137, container });
    }
    await this.startAgent();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 40; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances time, minute by minute. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MINUTE) {
      this.clock.advance(Math.min(left, MINUTE));
      await this.settle();
    }
  }

  /** The running images. */
  get runs(): string[] {
    const running = this.#engine.ownedBy(OWNER).filter(({ state }) => state === 'running');
    return running.map(({ config }) => config.image.split('/').at(-1) ?? '');
  }

  /** Returns true if the successor is stored on the disk. */
  hasBegun(): boolean {
    return this.#cache.get('new') !== undefined;
  }
}

async function withHost(
  windows: HostHandover['windows'],
  heard: boolean,
  check: (host: CutOffHost) => Promise<void>,
): Promise<void> {
  const host = await CutOffHost.start(windows, { heard });
  try {
    await host.advance(2 * MINUTE);
    assert.deepEqual(host.runs, ['app:1']);
    await check(host);
  } finally {
    await host.stop();
  }
}

const TONIGHT = [{ from: at(HOUR), until: at(2 * HOUR) }];

describe('a disconnected host', () => {
  test('starts its handover when its window opens by the received time, whatever its own clock shows', () =>
    withHost(TONIGHT, true, async (host) => {
      await host.advance(HOUR - 3 * MINUTE);
      assert.equal(host.hasBegun(), false, 'a minute before it opens');
      await host.advance(3 * MINUTE);
      assert.equal(host.hasBegun(), true);
      await host.advance(MINUTE);
      assert.deepEqual(host.runs, ['app:2']);
    }));

  test('starts its handover also when its agent was restarted meanwhile', () =>
    withHost(TONIGHT, true, async (host) => {
      await host.stop();
      await host.advance(30 * MINUTE);
      await host.startAgent();
      assert.deepEqual(host.runs, ['app:1']);
      await host.advance(31 * MINUTE);
      assert.deepEqual(host.runs, ['app:2']);
    }));

  test('does not start it when it was off during its window, and waits for the next', () =>
    withHost([...TONIGHT, { from: at(25 * HOUR), until: at(26 * HOUR) }], true, async (host) => {
      await host.stop();
      await host.advance(2 * HOUR);
      await host.startAgent();
      await host.advance(HOUR);
      assert.deepEqual([host.runs, host.hasBegun()], [['app:1'], false]);
      for (let hour = 3; hour < 24; hour += 1) {
        await host.advance(HOUR);
        assert.equal(host.hasBegun(), false, `${hour} hours later`);
      }
      await host.advance(2 * HOUR);
      assert.deepEqual(host.runs, ['app:2']);
    }));

  test('replaces nothing after a reboot, because it has received no time since', () =>
    withHost(TONIGHT, true, async (host) => {
      await host.reboot();
      await host.advance(MINUTE);
      assert.deepEqual(host.runs, ['app:1'], 'what ran before runs again');
      await host.advance(3 * HOUR);
      assert.deepEqual([host.runs, host.hasBegun()], [['app:1'], false]);
    }));

  test('replaces nothing when it never received a time, with windows or without', async () => {
    const always = [{ from: at(-1e4 * HOUR), until: at(1e4 * HOUR) }];
    for (const windows of [always, undefined]) {
      await withHost(windows, false, async (host) => {
        await host.advance(3 * HOUR);
        assert.deepEqual([host.runs, host.hasBegun()], [['app:1'], false]);
      });
    }
  });
});
