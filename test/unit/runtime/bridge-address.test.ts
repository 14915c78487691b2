/** The MAC address of the engine's bridge while Pods start and end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bridgesOfPods, type HostBridge, needsPin } from '../../../agent/decisions/bridge-to-pin.js';
import { BridgePin } from '../../../agent/runtime/bridge-pin.js';
import type { EngineNetwork } from '../../../agent/runtime/engine-network-namespace.js';
import { withPinnedBridge } from '../../../agent/runtime/pinned-bridge-driver.js';
import type {
  ContainerConfig,
  ObservedContainer,
  RuntimeDriver,
} from '../../../agent/runtime/runtime-driver.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import { settle } from '../../harness/pods/pod-host-fixture.js';

const RANDOM = '1';
const SET = '3';

function bridge(device: string, network: string, assignType = RANDOM): HostBridge {
  return { device, address: '02:00:00:00:00:01', assignType, networks: [network] };
}

describe('the bridge of Pods', () => {
  const bridges = [bridge('podman0', '10.88.0.1/16'), bridge('br-lan', '192.168.1.5/24')];
  const rows: [string, string[], string[]][] = [
    ['one Pod', ['10.88.0.7'], ['podman0']],
    ['Pods of two networks', ['192.168.1.9', '10.88.3.4'], ['podman0', 'br-lan']],
    ['an address of another host', ['10.89.0.2'], []],
    ['no Pod', [], []],
  ];
  for (const [name, addresses, devices] of rows) {
    test(`is found by the addresses of ${name}`, () => {
      assert.deepEqual(
        bridgesOfPods(bridges, addresses).map(({ device }) => device),
        devices,
      );
    });
  }

  test('needs a fixed address unless a program has set one', () => {
    // NET_ADDR_PERM, NET_ADDR_RANDOM, NET_ADDR_STOLEN, NET_ADDR_SET
    const needed = ['0', '1', '2', '3'].map((type) => needsPin(bridge('podman0', '10.88.0.1/16', type)));
    assert.deepEqual(needed, [true, true, true, false]);
  });
});

/** A host whose engine creates the bridge `podman0`. */
class Host {
  bridges: HostBridge[] = [];
  readonly pinned: string[] = [];
  readonly logged: string[] = [];
  network: EngineNetwork = 'own';
  failure: Error | undefined;
  readonly pin: BridgePin;

  constructor() {
    const line = (_: unknown, text?: string): void => void this.logged.push(text ?? '');
    const log: Logger = { ...silentLogger, info: line, warn: line };
    this.pin = new BridgePin({
      network: () => Promise.resolve(this.network),
      log,
      host: {
        all: () => this.bridges,
        find: (device) => this.bridges.find((each) => each.device === device),
        pin: (each) => this.#pin(each),
      },
    });
  }

  createBridge(assignType = RANDOM): void {
    this.bridges = [bridge('podman0', '10.88.0.1/16', assignType)];
  }

  async #pin({ device }: HostBridge): Promise<void> {
    if (this.failure) throw this.failure;
    this.pinned.push(device);
    this.createBridge(SET);
  }
}

describe('the address of the bridge', () => {
  test('is fixed once, and again after the engine has created the bridge again', async () => {
    const host = new Host();
    await host.pin.pin(['10.88.0.2']);
    assert.deepEqual(host.pinned, []);
    host.createBridge();
    for (let time = 0; time < 3; time += 1) await host.pin.pin(['10.88.0.2']);
    assert.deepEqual(host.pinned, ['podman0']);
    assert.equal(host.pin.isSettled(), true);
    host.bridges = [];
    assert.equal(host.pin.isSettled(), false);
    host.createBridge();
    await host.pin.pin(['10.88.0.3']);
    assert.deepEqual(host.pinned, ['podman0', 'podman0']);
  });

  test('is left alone if another program has set it', async () => {
    const host = new Host();
    host.createBridge(SET);
    await host.pin.pin(['10.88.0.2']);
    assert.deepEqual([host.pinned, host.pin.isSettled(), host.logged], [[], true, []]);
  });

  test('is left alone if the engine runs in another network namespace', async () => {
    const host = new Host();
    host.network = 'other';
    host.createBridge();
    await host.pin.pin(['10.88.0.2']);
    assert.deepEqual([host.pinned, host.pin.isSettled(), host.logged], [[], true, []]);
  });

  test('without the capability it is tried and logged once, and nothing fails', async () => {
    const host = new Host();
    host.createBridge();
    host.failure = new Error('RTNETLINK answers: Operation not permitted');
    for (let time = 0; time < 3; time += 1) await host.pin.pin(['10.88.0.2']);
    assert.equal(host.logged.length, 1);
    assert.match(host.logged[0] ?? '', /MAC address .* cannot be fixed/);
    assert.equal(host.pin.isSettled(), true);
  });

  test('no container waits for a bridge that is in no network of this host', async () => {
    const host = new Host();
    await host.pin.pin(['10.0.2.100']);
    assert.equal(host.pin.isSettled(), true);
    host.createBridge();
    await host.pin.pin(['10.88.0.2']);
    assert.deepEqual(host.pinned, ['podman0']);
  });
});

/** An engine whose starts the test completes. */
class Engine {
  readonly started: string[] = [];
  readonly completions: (() => void)[] = [];
  readonly driver: RuntimeDriver;

  constructor(host: Host) {
    const running = (id: string) => ({ id, state: 'running', ip: '10.88.0.2' }) as ObservedContainer;
    const engine: Partial<RuntimeDriver> = {
      create: async ({ identity }) => identity.podUid,
      start: (id) => {
        this.started.push(id);
        return new Promise((resolve) => this.completions.push(resolve));
      },
      inspectPod: async (uid) => [running(uid)],
      list: async () => [running('a')],
    };
    this.driver = withPinnedBridge(engine as RuntimeDriver, host.pin);
  }

  async create(id: string, kind: 'bridge' | 'host'): Promise<void> {
    await this.driver.create({ identity: { podUid: id }, network: { kind } } as ContainerConfig);
  }

  complete(): void {
    for (const complete of this.completions.splice(0)) complete();
  }
}

describe('a driver that keeps the address of the bridge', () => {
  test('starts the first container on the bridge alone, and the others together after it', async () => {
    const host = new Host();
    const engine = new Engine(host);
    for (const id of ['a', 'b', 'c']) await engine.create(id, 'bridge');
    await engine.create('host', 'host');
    const starts = ['a', 'b', 'c', 'host'].map((id) => engine.driver.start(id));
    await settle();
    assert.deepEqual(engine.started, ['a', 'host']);
    host.createBridge();
    engine.complete();
    await settle();
    assert.deepEqual(host.pinned, ['podman0']);
    assert.deepEqual(engine.started, ['a', 'host', 'b', 'c']);
    engine.complete();
    await Promise.all(starts);
  });

  test('fixes the address of a bridge that it finds with running Pods', async () => {
    const host = new Host();
    host.createBridge();
    await new Engine(host).driver.list();
    assert.deepEqual(host.pinned, ['podman0']);
  });

  test('a first start that fails does not keep the next one from starting', async () => {
    const host = new Host();
    const failing = { create: async () => 'a', start: () => Promise.reject(new Error('no')) };
    const driver = withPinnedBridge(failing as unknown as RuntimeDriver, host.pin);
    await driver.create({ identity: { podUid: 'a' }, network: { kind: 'bridge' } } as ContainerConfig);
    const starts = await Promise.allSettled([driver.start('a'), driver.start('a')]);
    assert.deepEqual(
      starts.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});
