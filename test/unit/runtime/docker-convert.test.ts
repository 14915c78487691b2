/** Requests to the engine, and decoding of its responses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  containerName,
  isOwnedBy,
  podLogDriver,
  toCreateBody,
} from '../../../agent/runtime/docker/docker-convert.js';
import { type InspectResponse, toObservedContainer } from '../../../agent/runtime/docker/docker-observed.js';
import type { ContainerConfig } from '../../../agent/runtime/runtime-driver.js';
import { config } from '../../laws/driver-fixture.js';

const OWNER = { clusterUID: 'c', nodeName: 'n' };
const PROGRAM = { image: 'app:1' };

/** The part of a request body that these tests read. */
interface Body {
  Entrypoint?: string[];
  Cmd?: string[];
  Labels: Record<string, string>;
  ExposedPorts: Record<string, unknown>;
  HostConfig: {
    PortBindings: Record<string, unknown>;
    LogConfig: { Config: Record<string, string> };
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

const body = (overrides: Partial<ContainerConfig>, logDriver = ''): Body =>
  toCreateBody(config('uid', PROGRAM, overrides), OWNER, { logDriver }) as unknown as Body;

test('a container name follows from the identity, with POD for the sandbox', () => {
  const identity = { podUid: 'u', podNamespace: 'd', podName: 'p', container: 'app', attempt: 2 };
  assert.equal(containerName(identity), 'everynode_u_app_2');
  assert.equal(containerName({ ...identity, container: '' }), 'everynode_u_POD_2');
});

test('the engine restarts no container by itself', () => {
  assert.deepEqual(body({}).HostConfig.RestartPolicy, { Name: 'no' });
});

test("the agent's labels cannot be overridden", () => {
  const { Labels } = body({ labels: { 'everynode.dev/cluster': 'other', x: 'y' } });
  assert.ok(isOwnedBy(Labels, OWNER));
  assert.equal(Labels.x, 'y');
});

test("a command replaces the entrypoint, arguments replace the command; without them the image's own apply", () => {
  const given = body({ command: ['a'], args: ['b'] });
  assert.deepEqual([given.Entrypoint, given.Cmd], [['a'], ['b']]);
  const bare = body({});
  assert.ok(!('Entrypoint' in bare) && !('Cmd' in bare));
});

test('a CPU limit is a quota per 100 ms, also above the number of CPUs, and never below 1 ms', () => {
  assert.equal(body({ cpuLimitMilli: 500 }).HostConfig.CpuQuota, 50_000);
  assert.equal(body({ cpuLimitMilli: 64_000 }).HostConfig.CpuQuota, 6_400_000);
  assert.equal(body({ cpuLimitMilli: 1 }).HostConfig.CpuQuota, 1_000);
  assert.ok(!('CpuQuota' in body({}).HostConfig));
});

test('a memory limit allows no swap', () => {
  const { Memory, MemorySwap } = body({ memoryLimitBytes: 2 ** 24 }).HostConfig;
  assert.deepEqual([Memory, MemorySwap], [2 ** 24, 2 ** 24]);
});

test('one container port may have several host ports', () => {
  const port = { containerPort: 80, protocol: 'tcp' } as const;
  const { ExposedPorts, HostConfig } = body({
    ports: [
      { ...port, hostPort: 8080 },
      { ...port, hostPort: 8081, hostIP: '127.0.0.1' },
    ],
  });
  assert.deepEqual(Object.keys(ExposedPorts), ['80/tcp']);
  assert.deepEqual(HostConfig.PortBindings['80/tcp'], [
    { HostIp: '', HostPort: '8080' },
    { HostIp: '127.0.0.1', HostPort: '8081' },
  ]);
});

test('a container in a sandbox has no host name and no hosts of its own', () => {
  const given = { hostname: 'h', extraHosts: ['a:1.2.3.4'] };
  const member = body({ ...given, network: { kind: 'container', id: 'x' } });
  assert.equal(member.HostConfig.NetworkMode, 'container:x');
  assert.ok(!('Hostname' in member) && !('ExtraHosts' in member.HostConfig));
  assert.equal(body({ ...given, network: { kind: 'bridge' } }).Hostname, 'h');
});

test('logs are bounded on engines that would let them grow', () => {
  assert.equal(body({}, 'json-file').HostConfig.LogConfig.Config['max-size'], '10m');
  assert.equal(body({}, 'k8s-file').HostConfig.LogConfig.Config['max-size'], '50m');
  assert.ok(!('LogConfig' in body({}, 'journald').HostConfig));
});

const DRIVERS: [engine: string, engineDefault: string, hasLogFiles: boolean, expected: string][] = [
  ['docker', 'json-file', true, 'json-file'],
  ['docker', 'local', true, 'json-file'],
  ['docker', 'local', false, 'local'],
  ['docker', 'journald', true, 'journald'],
  ['docker', 'gelf', true, 'gelf'],
  ['podman', 'journald', true, 'k8s-file'],
  ['podman', 'journald', false, 'journald'],
  ['podman', 'none', true, 'none'],
];
for (const [engine, engineDefault, hasLogFiles, expected] of DRIVERS) {
  const files = hasLogFiles ? 'with' : 'without';
  test(`${engine}'s default log driver ${engineDefault}, ${files} log files of Pods, becomes ${expected}`, () => {
    assert.equal(podLogDriver(engine, engineDefault, hasLogFiles), expected);
  });
}

const NEVER = '0001-01-01T00:00:00Z';
const ANSWER: InspectResponse = {
  Id: 'id',
  Created: '2026-01-01T00:00:00.5Z',
  Image: 'sha256:x',
  Config: { Labels: null },
  HostConfig: {},
  State: {
    Status: 'running',
    ExitCode: 0,
    OOMKilled: false,
    Error: '',
    StartedAt: '2026-01-01T00:00:02Z',
    FinishedAt: NEVER,
  },
  NetworkSettings: { Networks: { bridge: { IPAddress: '' }, other: { IPAddress: '172.17.0.2' } } },
};
const observe = (state: Partial<InspectResponse['State']>) =>
  toObservedContainer({ ...ANSWER, State: { ...ANSWER.State, ...state } }, 'digest');

test('the year 1 means never', () => {
  assert.equal(observe({ Status: 'created', StartedAt: NEVER }).startedAt, undefined);
  assert.equal(observe({}).finishedAt, undefined);
  assert.equal(observe({}).createdAt, Date.UTC(2026, 0, 1) + 500);
});

test('an end time is never before the start time, whatever the engine reports', () => {
  const ended = observe({ Status: 'exited', FinishedAt: '2026-01-01T00:00:01Z', ExitCode: 3 });
  assert.equal(ended.finishedAt, ended.startedAt);
  assert.equal(ended.exitCode, 3);
});

for (const [status, state] of [
  ['created', 'created'],
  ['configured', 'created'],
  ['initialized', 'created'],
  ['running', 'running'],
  ['paused', 'running'],
  ['stopping', 'running'],
  ['exited', 'exited'],
  ['stopped', 'exited'],
  ['dead', 'exited'],
] as const) {
  test(`the engine status "${status}" is the state "${state}"`, () => {
    const StartedAt = state === 'created' ? NEVER : ANSWER.State.StartedAt;
    assert.equal(observe({ Status: status, StartedAt }).state, state);
  });
}

test('a container that Podman reports as created after a power cut has ended, because it had started', () => {
  for (const status of ['created', 'configured']) {
    const { state, exitCode, startedAt, finishedAt } = observe({ Status: status });
    assert.deepEqual([state, exitCode, finishedAt], ['exited', 137, startedAt]);
  }
});

test('the Pod address is taken from the network that has one', () => {
  assert.equal(observe({}).ip, '172.17.0.2');
});

test('SELinux options become label options, one for each part of the context', () => {
  assert.deepEqual(body({ seLinuxLabels: ['type:spc_t', 'level:s0'] }).HostConfig.SecurityOpt, [
    'label=type:spc_t',
    'label=level:s0',
  ]);
  assert.deepEqual(body({}).HostConfig.SecurityOpt, []);
});
