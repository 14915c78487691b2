/** The container configuration for the engine, field by field. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type ConfigContext,
  containerConfig,
  sandboxConfig,
} from '../../../agent/decisions/container-spec/container-config.js';
import { defaultPullPolicy, fullImageName } from '../../../agent/decisions/images/image-name.js';
import type { ContainerConfig } from '../../../agent/runtime/runtime-driver.js';
import type { Container, Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { WHOLE_HOST } from '../../harness/pods/pod-views.js';

const CONTEXT: ConfigContext = {
  attempt: 2,
  backoffMs: 20_000,
  bootMark: 'boot-1',
  nodeName: 'host-1',
  hostIP: '10.0.0.1',
  podIP: '172.17.0.2',
  allocatable: { cpu: '2', memory: '1Gi' },
  mounts: [],
  isolation: WHOLE_HOST,
  imageUser: '',
  resolvers: {
    host: { nameservers: ['192.0.2.53'], searches: ['host.example'], options: ['ndots:1'] },
    clusterDns: { state: 'off' },
  },
  findConfig: () => undefined,
};

function podOf(container: Partial<Container>, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod', namespace: 'ns', uid: 'uid', labels: { color: 'green' } },
    spec: { containers: [{ name: 'app', image: 'app:1', ...container }], ...spec },
  };
}

function resultOf(container: Partial<Container>, spec: Partial<PodSpec> = {}, context = {}) {
  const pod = podOf(container, spec);
  const [first] = pod.spec.containers;
  assert.ok(first);
  return containerConfig(pod, first, { ...CONTEXT, ...context });
}

function configOf(...given: Parameters<typeof resultOf>): ContainerConfig {
  const result = resultOf(...given);
  assert.equal(result.kind, 'config');
  return result.kind === 'config' ? result.config : assert.fail();
}

describe('identity', () => {
  test('the name contains Pod, container and attempt, and the labels that log collectors use', () => {
    const { identity, labels } = configOf({});
    assert.deepEqual(identity, {
      podUid: 'uid',
      podNamespace: 'ns',
      podName: 'pod',
      container: 'app',
      attempt: 2,
    });
    assert.equal(labels['io.kubernetes.pod.name'], 'pod');
    assert.equal(labels['everynode.dev/restart-backoff-ms'], '20000');
  });
});

describe('environment', () => {
  test('later variables expand earlier ones; unknown and doubled references are kept', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)2 $(C) $$(A)' },
    ];
    assert.deepEqual(configOf({ env }).env, ['A=1', 'B=12 $(C) $(A)']);
  });

  test('command and arguments expand variables', () => {
    const { command, args } = configOf({
      env: [{ name: 'A', value: '1' }],
      command: ['run', '$(A)'],
      args: ['--a=$(A)'],
    });
    assert.deepEqual([command, args], [['run', '1'], ['--a=1']]);
  });

  for (const [fieldPath, value] of [
    ['metadata.name', 'pod'],
    ['metadata.namespace', 'ns'],
    ['metadata.uid', 'uid'],
    ["metadata.labels['color']", 'green'],
    ["metadata.annotations['none']", ''],
    ['spec.nodeName', 'host-1'],
    ['status.hostIP', '10.0.0.1'],
    ['status.podIP', '172.17.0.2'],
  ]) {
    test(`fieldRef ${fieldPath} is ${JSON.stringify(value)}`, () => {
      const valueFrom = { fieldRef: { fieldPath: fieldPath ?? '' } };
      assert.deepEqual(configOf({ env: [{ name: 'A', valueFrom }] }).env, [`A=${value}`]);
    });
  }

  for (const [resource, divisor, value] of [
    ['limits.cpu', undefined, '1'],
    ['limits.cpu', '1m', '500'],
    ['limits.memory', '1Mi', '1024'],
    ['requests.memory', undefined, '0'],
  ] as const) {
    test(`resourceFieldRef ${resource} by ${divisor} is ${value}`, () => {
      const valueFrom = { resourceFieldRef: { resource, ...(divisor ? { divisor } : {}) } };
      const resources = { limits: { cpu: '500m' } };
      assert.deepEqual(configOf({ resources, env: [{ name: 'A', valueFrom }] }).env, [`A=${value}`]);
    });
  }

  test('a variable without a value rejects the container', () => {
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    assert.deepEqual(resultOf({ env }), { kind: 'refused', message: 'secret "s" not found' });
  });
});

describe('namespaces', () => {
  test('a single container has its own network, under the name of its Pod', () => {
    const { network, ipc, hostname } = configOf({});
    assert.deepEqual([network, ipc, hostname], [{ kind: 'bridge' }, { kind: 'shareable' }, 'pod']);
  });

  test('on the host network the container has the host name of the host', () => {
    const config = configOf({ ports: [{ containerPort: 80, hostPort: 80 }] }, { hostNetwork: true });
    assert.deepEqual([config.network, config.hostname, config.ports], [{ kind: 'host' }, undefined, []]);
  });

  test('containers of a Pod join the sandbox, which publishes all ports', () => {
    const containers = [
      { name: 'app', image: 'app:1', ports: [{ containerPort: 80, hostPort: 8080 }] },
      { name: 'side', image: 'side:1', ports: [{ containerPort: 53, hostPort: 53, protocol: 'UDP' }] },
    ];
    const member = configOf({}, { containers }, { sandboxID: 'sb' });
    assert.deepEqual(
      [member.network, member.ipc],
      [
        { kind: 'container', id: 'sb' },
        { kind: 'container', id: 'sb' },
      ],
    );
    assert.deepEqual(member.ports, []);
    const config = sandboxConfig(podOf({}, { containers }), 'sandbox:1', CONTEXT);
    assert.deepEqual(config.ports, [
      { containerPort: 80, hostPort: 8080, protocol: 'tcp' },
      { containerPort: 53, hostPort: 53, protocol: 'udp' },
    ]);
  });

  test('only host ports are bound', () => {
    assert.deepEqual(configOf({ ports: [{ containerPort: 80 }] }).ports, []);
  });
});

describe('resources', () => {
  test('CPU shares follow the request, quotas follow the limit', () => {
    const { cpuShares, cpuLimitMilli, memoryLimitBytes } = configOf({
      resources: { requests: { cpu: '100m', memory: '200Mi' }, limits: { cpu: '1500m', memory: '1Gi' } },
    });
    assert.deepEqual([cpuShares, cpuLimitMilli, memoryLimitBytes], [102, 1500, 1024 ** 3]);
  });

  test('without requests and limits a container has the least shares and no quota', () => {
    const { cpuShares, cpuLimitMilli, memoryLimitBytes } = configOf({});
    assert.deepEqual([cpuShares, cpuLimitMilli, memoryLimitBytes], [2, undefined, undefined]);
  });
});

describe('security', () => {
  test("the container's user overrides the Pod's", () => {
    const spec = { securityContext: { runAsUser: 1000, runAsGroup: 2000 } };
    assert.equal(configOf({}, spec).user, '1000:2000');
    assert.equal(configOf({ securityContext: { runAsUser: 5 } }, spec).user, '5:2000');
  });

  test('root is rejected where the Pod must not run as root', () => {
    const securityContext = { runAsNonRoot: true, runAsUser: 0 };
    assert.equal(resultOf({ securityContext }).kind, 'refused');
  });

  for (const [role, spec, expected] of [
    ['a container of a Pod that restarts always', {}, undefined],
    ['a container of a Pod that restarts never', { restartPolicy: 'Never' }, true],
    ['a container of a Pod that restarts on failure', { restartPolicy: 'OnFailure' }, true],
    [
      'a sidecar of a Pod that restarts never',
      {
        restartPolicy: 'Never',
        initContainers: [{ name: 'app', image: 'app:1', restartPolicy: 'Always' }],
        containers: [],
      },
      undefined,
    ],
  ] as const) {
    test(`${role} runs to completion: ${expected ?? false}`, () => {
      const pod = podOf({}, spec as Partial<PodSpec>);
      const result = containerConfig(pod, { name: 'app', image: 'app:1' }, CONTEXT);
      assert.equal(result.kind === 'config' ? result.config.runsToCompletion : 'refused', expected);
    });
  }

  test('privilege, capabilities and read-only root are passed on', () => {
    const config = configOf({
      securityContext: {
        privileged: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
      },
    });
    assert.deepEqual(
      [config.privileged, config.readOnlyRootFilesystem, config.noNewPrivileges],
      [true, true, true],
    );
    assert.deepEqual([config.capabilitiesAdd, config.capabilitiesDrop], [['NET_ADMIN'], ['ALL']]);
  });
});

describe('image names', () => {
  const id = 'a'.repeat(64);
  for (const [short, full, policy] of [
    ['nginx', 'docker.io/library/nginx:latest', 'Always'],
    ['nginx:1.25', 'docker.io/library/nginx:1.25', 'IfNotPresent'],
    ['nginx:latest', 'docker.io/library/nginx:latest', 'Always'],
    ['user/app:1', 'docker.io/user/app:1', 'IfNotPresent'],
    ['quay.io/a/b:v1', 'quay.io/a/b:v1', 'IfNotPresent'],
    ['localhost/app', 'localhost/app:latest', 'Always'],
    ['host:5000/app', 'host:5000/app:latest', 'Always'],
    [`nginx:1.25@sha256:${id}`, `docker.io/library/nginx@sha256:${id}`, 'IfNotPresent'],
    ['index.docker.io/user/app:1', 'docker.io/user/app:1', 'IfNotPresent'],
    [`nginx@sha256:${id}`, `docker.io/library/nginx@sha256:${id}`, 'IfNotPresent'],
    [`sha256:${id}`, `sha256:${id}`, 'IfNotPresent'],
  ] as const) {
    test(`${short.slice(0, 20)} is ${full.slice(0, 30)}, pulled ${policy}`, () => {
      assert.deepEqual([fullImageName(short), defaultPullPolicy(short)], [full, policy]);
    });
  }
});
