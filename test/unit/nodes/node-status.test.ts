import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostInfo } from '../../../agent/node/host-info.js';
import {
  parseLabels,
  parseNodeName,
  parseTaints,
  standardLabels,
} from '../../../agent/node/node-labels-and-taints.js';
import { type NodeStatusInputs, nodeStatus } from '../../../agent/node/node-status.js';
import { NodeStatusReporter } from '../../../agent/node/node-status-reporter.js';
import { type EngineInfo, RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const HOST: HostInfo = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  bootMark: 'b.1',
  kernelVersion: '6.1',
  osImage: 'Debian',
  operatingSystem: 'linux',
  architecture: 'amd64',
  cpus: 2,
  memoryBytes: 2 * 1024 ** 3,
  missingCapabilities: [],
  resolver: { nameservers: [], searches: [], options: [] },
  diskBytes: 1_000_000,
  address: '10.0.0.1',
};
const ENGINE = {
  name: 'docker',
  version: '20.10.24',
  apiVersion: '1.41',
  id: 'e',
  appArmor: true,
  seccomp: true,
  rootless: false,
};
const FACTS: NodeStatusInputs = {
  nodeName: 'host-1',
  host: HOST,
  engine: { kind: 'up', info: ENGINE },
  agentVersion: '0.1.0',
  now: 0,
};

const ready = (status: NodeStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');

describe('node status', () => {
  test('shows the capacity of the host and the allocatable share for Pods', () => {
    const { capacity, allocatable } = nodeStatus(FACTS, undefined);
    assert.deepEqual(capacity, { cpu: '2', memory: '2097152Ki', 'ephemeral-storage': '976Ki', pods: '110' });
    assert.deepEqual(allocatable, {
      cpu: '2',
      memory: '1994752Ki',
      'ephemeral-storage': '900000',
      pods: '110',
    });
  });

  test("has the kubelet's conditions in the kubelet's order", () => {
    assert.deepEqual(
      nodeStatus(FACTS, undefined).conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['MemoryPressure', 'False', 'KubeletHasSufficientMemory'],
        ['DiskPressure', 'False', 'KubeletHasNoDiskPressure'],
        ['PIDPressure', 'False', 'KubeletHasSufficientPID'],
        ['Ready', 'True', 'KubeletReady'],
      ],
    );
  });

  test('is not ready while the engine is down, and still names the engine', () => {
    const down = { ...FACTS, engine: { kind: 'down', message: 'no socket' } as const, lastEngine: ENGINE };
    const status = nodeStatus(down, nodeStatus(FACTS, undefined));
    assert.deepEqual(
      [ready(status)?.status, ready(status)?.reason, ready(status)?.message],
      ['False', 'KubeletNotReady', 'container runtime is down: no socket'],
    );
    assert.equal(status.nodeInfo?.containerRuntimeVersion, 'docker://20.10.24');
  });

  const network = (podNetwork: EngineInfo['podNetwork'], changes: Partial<NodeStatusInputs> = {}) => {
    const info = { ...ENGINE, ...(podNetwork ? { podNetwork } : {}) };
    const status = nodeStatus({ ...FACTS, engine: { kind: 'up', info }, ...changes }, undefined);
    const found = status.conditions?.find(({ type }) => type === 'NetworkUnavailable');
    return found && `${found.status} ${found.reason}`;
  };
  const bridged = { exists: true, device: 'docker0' };
  const noDevices = { host: { ...HOST, devices: ['eth0'] } };

  test('shows the Pod network as unavailable without a bridge, and when its device disappeared', () => {
    assert.equal(network(undefined), undefined, 'an engine that tells nothing');
    assert.equal(network({ exists: false }), 'True NoBridgeNetwork');
    assert.equal(network(bridged, { host: { ...HOST, devices: ['docker0'] } }), 'False BridgeIsUp');
    assert.equal(network(bridged, { ...noDevices, seenBridge: 'docker0' }), 'True BridgeIsDown');
    assert.equal(
      network(bridged, noDevices),
      'False BridgeIsUp',
      'the engine has a network namespace of its own',
    );
    const down = {
      engine: { kind: 'down', message: '' } as const,
      lastEngine: { ...ENGINE, podNetwork: bridged },
    };
    assert.equal(network(undefined, down), 'False BridgeIsUp', 'an engine that is down tells no other');
  });

  test('shows pressures with the kubelet’s messages', () => {
    const { conditions } = nodeStatus({ ...FACTS, pressures: ['DiskPressure', 'MemoryPressure'] }, undefined);
    assert.deepEqual(
      conditions?.map(({ status, reason, message }) => `${status} ${reason}: ${message}`),
      [
        'True KubeletHasInsufficientMemory: kubelet has insufficient memory available',
        'True KubeletHasDiskPressure: kubelet has disk pressure',
        'False KubeletHasSufficientPID: kubelet has sufficient PID available',
        'True KubeletReady: kubelet is posting ready status',
      ],
    );
  });

  test('keeps the transition time of an unchanged condition', () => {
    const later = nodeStatus({ ...FACTS, now: 60_000 }, nodeStatus(FACTS, undefined));
    assert.deepEqual(
      [ready(later)?.lastTransitionTime, ready(later)?.lastHeartbeatTime],
      ['1970-01-01T00:00:00Z', '1970-01-01T00:01:00Z'],
    );
  });
});

describe('node watch', () => {
  function watch() {
    const told: NodeStatus[] = [];
    const engineChanges: string[] = [];
    const engine = { down: false };
    const clock = new ManualClock(1000);
    const wallClock = { setByMs: 0, now: () => clock.now() + wallClock.setByMs };
    const node = new NodeStatusReporter({
      nodeName: 'host-1',
      agentVersion: '0.1.0',
      driver: {
        info: async () => {
          if (engine.down) throw new RuntimeError('EngineDown', 'refused', true);
          return ENGINE;
        },
      },
      readHost: () => HOST,
      onChange: (status) => void told.push(status),
      onEngineChange: ({ kind }) => void engineChanges.push(kind),
      clock,
      wallClock,
    });
    return { node, told, engine, engineChanges, clock, wallClock };
  }

  test('reports an engine outage once, however often it is queried meanwhile, and its end once', async () => {
    const { node, engine, engineChanges } = watch();
    const resync = () => node.onRuntimeEvent({ kind: 'resync' });
    await resync();
    assert.deepEqual(engineChanges, [], 'an engine that is up from the start is no news');
    engine.down = true;
    await node.onRuntimeEvent({ kind: 'down', message: 'closed' });
    for (let times = 0; times < 3; times += 1) await resync();
    assert.deepEqual(engineChanges, ['down']);
    engine.down = false;
    for (let times = 0; times < 3; times += 1) await resync();
    assert.deepEqual(engineChanges, ['down', 'up']);
  });

  test('reports a change that another caller observed first; otherwise the old status would be repeated', async () => {
    const told: (string | undefined)[] = [];
    const host = { address: '10.0.0.1' };
    const node = new NodeStatusReporter({
      nodeName: 'host-1',
      agentVersion: '0.1.0',
      driver: { info: async () => ENGINE },
      readHost: () => ({ ...HOST, ...host }),
      transformStatus: (status) => ({
        ...status,
        addresses: [{ type: 'InternalIP', address: host.address }],
      }),
      onChange: (status) => void told.push(status.addresses?.[0]?.address),
      clock: new ManualClock(0),
      wallClock: { now: () => 0 },
    });
    await node.onRuntimeEvent({ kind: 'resync' });
    host.address = '10.0.0.2';
    node.status();
    assert.deepEqual(told, ['10.0.0.1', '10.0.0.2']);
  });

  test('reports a stepped wall clock with its next status, and ignores jitter', async () => {
    const { node, told, clock, wallClock } = watch();
    node.start();
    await node.onRuntimeEvent({ kind: 'resync' });
    for (const [setByMs, reports] of [
      [10_000, 1],
      [-31_536_000_000, 2],
      [-31_536_001_000, 2],
      [0, 3],
    ] as const) {
      wallClock.setByMs = setByMs;
      clock.advance(60_000);
      assert.equal(told.length, reports, `${setByMs}`);
    }
    node.stop();
  });

  test('reports changes, not repetitions', async () => {
    const { node, told, clock } = watch();
    await node.onRuntimeEvent({ kind: 'resync' });
    clock.advance(1000);
    await node.onRuntimeEvent({ kind: 'resync' });
    await node.onRuntimeEvent({ kind: 'down', message: 'gone' });
    assert.deepEqual(
      told.map((status) => ready(status)?.status),
      ['True', 'False'],
    );
  });

  test('has the time since which the engine is up again', async () => {
    const { node, clock } = watch();
    await node.onRuntimeEvent({ kind: 'resync' });
    assert.equal(node.engineUpSince, 0);
    await node.onRuntimeEvent({ kind: 'down', message: 'gone' });
    clock.advance(500);
    await node.onRuntimeEvent({ kind: 'resync' });
    assert.equal(node.engineUpSince, 1500);
  });
});

describe('registration', () => {
  test('labels and taints are parsed as kubectl writes them', () => {
    assert.deepEqual(parseLabels('a=b, c='), { a: 'b', c: '' });
    assert.deepEqual(parseTaints('a=b:NoSchedule,c:NoExecute'), [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'NoExecute' },
    ]);
  });

  test('an invalid label or taint is rejected', () => {
    assert.throws(() => parseLabels('a'), /KEY=VALUE/);
    assert.throws(() => parseTaints('a=b'), /EFFECT/);
    assert.throws(() => parseTaints('a=b:Never'), /NoSchedule, PreferNoSchedule, NoExecute/);
    assert.throws(() => parseLabels('a b=c'), /valid label keys/);
    assert.throws(() => parseTaints('a=b c:NoSchedule'), /valid label values/);
    assert.throws(() => parseNodeName('Host_1'), /lower-case letters/);
  });

  test('the host is labelled with its name, system and architecture', () => {
    const labels = standardLabels('host-1', 'linux', 'arm64');
    assert.equal(labels['kubernetes.io/hostname'], 'host-1');
    assert.equal(labels['kubernetes.io/arch'], 'arm64');
  });
});

test('the status has the port of the kubelet only while it is served', () => {
  assert.equal(nodeStatus(FACTS, undefined).daemonEndpoints, undefined);
  assert.deepEqual(nodeStatus({ ...FACTS, kubeletPort: 10_250 }, undefined).daemonEndpoints, {
    kubeletEndpoint: { Port: 10_250 },
  });
});
