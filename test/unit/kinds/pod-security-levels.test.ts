/** The Pod Security Standards, check by check, with upstream's messages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  levelFor,
  levelViolation,
  validateLevelLabels,
} from '../../../coordinator/kinds/pods/security-standards/security-levels.js';
import type { Container, Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';

type Level = 'baseline' | 'restricted';

/** A container within `restricted`. */
const GOOD: Container = {
  name: 'a',
  image: 'i',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};
const GOOD_SPEC: PodSpec = {
  containers: [GOOD],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
};

function pod(spec: Partial<PodSpec>, annotations: Record<string, string> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { ...GOOD_SPEC, ...spec },
  };
}

function container(change: Partial<Container>): Partial<PodSpec> {
  return {
    containers: [
      { ...GOOD, ...change, securityContext: { ...GOOD.securityContext, ...change.securityContext } },
    ],
  };
}

function found(level: Level, given: Pod, version = 'latest'): string | undefined {
  return levelViolation(given, { level, version })?.replace(
    `violates PodSecurity "${level}:${version}": `,
    '',
  );
}

const B: Container = { ...GOOD, name: 'b' };
const context = (securityContext: Container['securityContext']) => container({ securityContext });

const TABLE: [
  title: string,
  level: Level,
  spec: Partial<PodSpec>,
  text: string | undefined,
  version?: string,
][] = [
  ['a Pod within restricted', 'restricted', {}, undefined],
  ['a Pod within baseline', 'baseline', {}, undefined],
  [
    'host namespaces',
    'baseline',
    { hostNetwork: true, hostPID: true, hostIPC: true },
    'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  ],
  [
    'privilege',
    'baseline',
    context({ privileged: true }),
    'privileged (container "a" must not set securityContext.privileged=true)',
  ],
  [
    'capabilities',
    'baseline',
    context({ capabilities: { add: ['SYS_TIME', 'CHOWN', 'NET_RAW'] } }),
    'non-default capabilities (container "a" must not include "NET_RAW", "SYS_TIME" in securityContext.capabilities.add)',
  ],
  [
    'a hostPath',
    'baseline',
    { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    'hostPath volumes (volume "v")',
  ],
  [
    'several hostPaths',
    'baseline',
    {
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', hostPath: { path: '/' } },
      ],
    },
    'hostPath volumes (volumes "v", "w")',
  ],
  [
    'host ports',
    'baseline',
    container({
      ports: [
        { containerPort: 1, hostPort: 81 },
        { containerPort: 2, hostPort: 80 },
      ],
    } as Partial<Container>),
    'hostPort (container "a" uses hostPorts 80, 81)',
  ],
  [
    'a port that is not the host’s',
    'baseline',
    container({ ports: [{ containerPort: 1, hostPort: 0 }] } as Partial<Container>),
    undefined,
  ],
  [
    'AppArmor off',
    'baseline',
    context({ appArmorProfile: { type: 'Unconfined' } }),
    'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
  ],
  [
    'seccomp disabled for a container',
    'baseline',
    context({ seccompProfile: { type: 'Unconfined' } }),
    'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'seccomp disabled for all',
    'baseline',
    { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'unmasked /proc',
    'baseline',
    context({ procMount: 'Unmasked' }),
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'unmasked /proc in a user namespace',
    'baseline',
    { ...context({ procMount: 'Unmasked' }), hostUsers: false },
    undefined,
  ],
  [
    'SELinux',
    'baseline',
    { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)',
  ],
  [
    'an SELinux type that a later version allows',
    'baseline',
    { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
    'v1.30',
  ],
  [
    'a sysctl',
    'baseline',
    { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    'forbidden sysctls (kernel.msgmax)',
  ],
  [
    'a sysctl that the latest version allows',
    'baseline',
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } },
    undefined,
  ],
  [
    'a sysctl that an older version forbids',
    'baseline',
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } },
    'forbidden sysctls (net.ipv4.tcp_rmem)',
    'v1.31',
  ],
  [
    'a Windows host process',
    'baseline',
    { securityContext: { windowsOptions: { hostProcess: true } } },
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    'a probe of another host',
    'baseline',
    container({ livenessProbe: { httpGet: { host: 'h', port: 1 } } }),
    'probe or lifecycle host (container "a" uses probe or lifecycle host "h")',
  ],
  [
    'a probe of another host, in an older version',
    'baseline',
    container({ livenessProbe: { httpGet: { host: 'h', port: 1 } } }),
    undefined,
    'v1.33',
  ],
  [
    'init containers too',
    'baseline',
    { initContainers: [{ ...B, securityContext: { privileged: true } }], ...context({ privileged: true }) },
    'privileged (containers "b", "a" must not set securityContext.privileged=true)',
  ],
  [
    'escalation',
    'restricted',
    { containers: [{ ...GOOD, securityContext: { capabilities: { drop: ['ALL'] } } }] },
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
  ],
  [
    'capabilities kept',
    'restricted',
    context({ capabilities: {} }),
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"])',
  ],
  [
    'capabilities added',
    'restricted',
    context({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'CHOWN'] } }),
    'unrestricted capabilities (container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    'volumes',
    'restricted',
    {
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', nfs: {} },
      ],
    },
    'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
  ],
  [
    'allowed volume types',
    'restricted',
    {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', projected: {} },
      ],
    },
    undefined,
  ],
  [
    'root by default',
    'restricted',
    { containers: [GOOD, B], securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    'runAsNonRoot != true (pod or containers "a", "b" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'root by a setting of the Pod',
    'restricted',
    { securityContext: { runAsNonRoot: false, seccompProfile: { type: 'Localhost' } } },
    'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
  ],
  [
    'a container that sets runAsNonRoot itself',
    'restricted',
    { ...context({ runAsNonRoot: true }), securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    undefined,
  ],
  [
    'user 0',
    'restricted',
    { ...context({ runAsUser: 0 }), securityContext: { ...GOOD_SPEC.securityContext, runAsUser: 0 } },
    'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
  ],
  ['user 0, then', 'restricted', context({ runAsUser: 0 }), undefined, 'v1.22'],
  [
    'no seccomp',
    'restricted',
    { securityContext: { runAsNonRoot: true } },
    'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'a Pod without a security context',
    'restricted',
    { containers: [{ name: 'a', image: 'i' }], securityContext: {}, hostNetwork: true },
    'host namespaces (hostNetwork=true), allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'Windows Pods have fewer requirements',
    'restricted',
    {
      containers: [{ name: 'a', image: 'i' }],
      os: { name: 'windows' },
      securityContext: { runAsNonRoot: true },
    },
    undefined,
  ],
  [
    'Windows Pods have fewer requirements, in an older version',
    'restricted',
    {
      containers: [{ ...GOOD, securityContext: { capabilities: { drop: ['ALL'] } } }],
      os: { name: 'windows' },
    },
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
    'v1.24',
  ],
];

describe('Pod Security:', () => {
  for (const [title, level, spec, text, version = 'latest'] of TABLE) {
    test(`${title}${version === 'latest' ? '' : ` (${version})`}`, () => {
      assert.equal(found(level, pod(spec), version), text);
    });
  }

  test('AppArmor by annotation', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/a';
    assert.equal(
      found('baseline', pod({}, { [key]: 'unconfined' })),
      `forbidden AppArmor profile (annotation ${key}="unconfined")`,
    );
    assert.equal(found('baseline', pod({}, { [key]: 'runtime/default' })), undefined);
  });

  test('a privileged level allows everything', () => {
    const all = pod({ hostNetwork: true, ...context({ privileged: true }) });
    assert.equal(levelViolation(all, { level: 'privileged', version: 'latest' }), undefined);
  });
});

test('labels set the level and the version', () => {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'baseline',
    'pod-security.kubernetes.io/enforce-version': 'v1.29',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  assert.deepEqual(levelFor(labels, 'enforce'), { level: 'baseline', version: 'v1.29' });
  assert.deepEqual(levelFor(labels, 'warn'), { level: 'restricted', version: 'latest' });
  assert.deepEqual(levelFor(labels, 'audit'), { level: 'privileged', version: 'latest' });
  assert.deepEqual(levelFor(undefined, 'enforce'), { level: 'privileged', version: 'latest' });
});

test('invalid labels are rejected, and mean the strictest level where they exist all the same', () => {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'strict',
    'pod-security.kubernetes.io/warn-version': '1.2',
  };
  assert.deepEqual(
    validateLevelLabels(labels).map(({ field }) => field),
    [
      'metadata.labels[pod-security.kubernetes.io/enforce]',
      'metadata.labels[pod-security.kubernetes.io/warn-version]',
    ],
  );
  assert.equal(levelFor(labels, 'enforce').level, 'restricted');
});
