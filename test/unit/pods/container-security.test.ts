/** The user of a container, and its isolation settings. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostIsolation } from '../../../agent/decisions/admission/host-isolation.js';
import {
  engineLimits,
  oomScore,
  sandboxLimits,
} from '../../../agent/decisions/container-spec/container-limits.js';
import {
  engineSecurity,
  isolationShortfalls,
  refusedAsRoot,
} from '../../../agent/decisions/container-spec/container-security.js';
import type {
  Container,
  ContainerSecurityContext,
  Pod,
  PodSecurityContext,
  PodSpec,
} from '../../../shared/kube/pods/pod-types.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';
import { WHOLE_HOST } from '../../harness/pods/pod-views.js';

function given(
  securityContext: ContainerSecurityContext,
  shared: PodSecurityContext = {},
  rest: Partial<Container> = {},
  spec: Partial<PodSpec> = {},
): [Pod, Container] {
  const container = { name: 'app', image: 'app:1', securityContext, ...rest };
  return [podOf('p', { containers: [container], securityContext: shared, ...spec }), container];
}

describe('runAsNonRoot', () => {
  const where = '(pod: "p_default(uid-p)", container: app)';
  const cases: [own: ContainerSecurityContext, imageUser: string, refused: string | undefined][] = [
    [{}, '', undefined],
    [{ runAsNonRoot: true, runAsUser: 0 }, '1000', `container's runAsUser breaks non-root policy ${where}`],
    [{ runAsNonRoot: true, runAsUser: 5 }, '', undefined],
    [{ runAsNonRoot: true }, '', `container has runAsNonRoot and image will run as root ${where}`],
    [{ runAsNonRoot: true }, '0:0', `container has runAsNonRoot and image will run as root ${where}`],
    [{ runAsNonRoot: true }, '1000:1000', undefined],
    [
      { runAsNonRoot: true },
      'nobody',
      `container has runAsNonRoot and image has non-numeric user (nobody), cannot verify user is non-root ${where}`,
    ],
  ];
  for (const [own, imageUser, refused] of cases) {
    test(`${JSON.stringify(own)} with the image's user "${imageUser}"`, () => {
      assert.equal(refusedAsRoot(...given(own), imageUser), refused);
    });
  }

  test("the Pod's setting applies unless the container has its own", () => {
    assert.ok(refusedAsRoot(...given({}, { runAsNonRoot: true }), ''));
    assert.equal(refusedAsRoot(...given({ runAsNonRoot: false }, { runAsNonRoot: true }), ''), undefined);
  });
});

describe('users and groups', () => {
  const security = (...args: Parameters<typeof given>) =>
    engineSecurity(...given(...args), WHOLE_HOST, '33:44');

  test("a group without a user is combined with the image's user", () => {
    assert.equal(security({ runAsGroup: 7 }).user, '33:7');
    assert.equal(security({ runAsGroup: 7, runAsUser: 1 }).user, '1:7');
  });

  test('supplemental groups and fsGroup apply to the processes', () => {
    const { user, groups } = security({}, { supplementalGroups: [10, 11], fsGroup: 12 });
    assert.deepEqual([user, groups], [undefined, ['10', '11', '12']]);
  });
});

describe('profiles', () => {
  const profiles = (own: ContainerSecurityContext, shared: PodSecurityContext = {}, host = WHOLE_HOST) => {
    const { seccomp, appArmorProfile } = engineSecurity(...given(own, shared), host, '');
    return [seccomp, appArmorProfile];
  };

  test('no profile, or the default: the engine decides', () => {
    const type = 'RuntimeDefault';
    assert.deepEqual(profiles({}), [undefined, undefined]);
    assert.deepEqual(profiles({ seccompProfile: { type }, appArmorProfile: { type } }), [
      undefined,
      undefined,
    ]);
  });

  test('unconfined, set by the Pod or the container', () => {
    const type = 'Unconfined';
    assert.deepEqual(profiles({}, { seccompProfile: { type }, appArmorProfile: { type } }), [
      { kind: 'unconfined' },
      'unconfined',
    ]);
    assert.deepEqual(profiles({ seccompProfile: { type: 'RuntimeDefault' } }, { seccompProfile: { type } }), [
      undefined,
      undefined,
    ]);
  });

  test('local profiles: a file below the agent’s folder, or a profile name in the kernel', () => {
    const seccompProfile = { type: 'Localhost', localhostProfile: 'sub/strict.json' };
    const appArmorProfile = { type: 'Localhost', localhostProfile: 'strict' };
    assert.deepEqual(profiles({ seccompProfile, appArmorProfile }), [
      { kind: 'localhost', path: '/var/lib/everynode-agent/seccomp/sub/strict.json' },
      'strict',
    ]);
  });

  test('on a host without AppArmor no profile is set', () => {
    const unconfined = { appArmorProfile: { type: 'Unconfined' } };
    assert.deepEqual(profiles(unconfined, {}, { ...WHOLE_HOST, appArmor: false }), [undefined, undefined]);
  });
});

describe('limits', () => {
  const score = (resources: Container['resources'], spec: Partial<PodSpec> = {}) =>
    oomScore(...given({}, {}, resources ? { resources } : {}, spec), 8 * 1024 ** 3);

  test('the OOM score follows the QoS class, and for burstable the memory request', () => {
    const all = { cpu: '1', memory: '1Gi' };
    assert.equal(score({ limits: all, requests: all }), -997);
    assert.equal(score(undefined), 1000);
    assert.equal(score({ requests: { memory: '2Gi' } }), 750);
    assert.equal(score({ requests: { memory: '1' } }), 999);
    assert.equal(score({ requests: { memory: '8Gi' } }), 3);
    assert.equal(score(undefined, { priorityClassName: 'system-node-critical' }), -997);
  });

  test('a host that may not lower OOM scores uses 0 and reports it', () => {
    const all = { cpu: '1', memory: '1Gi' };
    const [pod, container] = given({}, {}, { resources: { limits: all, requests: all } });
    const host = { ...WHOLE_HOST, leastOomScore: 0 };
    assert.equal(engineLimits(pod, container, host).oomScoreAdj, 0);
    assert.deepEqual(isolationShortfalls(pod, container, host), [
      "OOM score adjustment is 0, not -997: this host's engine lacks CAP_SYS_RESOURCE",
    ]);
    assert.deepEqual(isolationShortfalls(pod, container, WHOLE_HOST), []);
    assert.deepEqual(isolationShortfalls(...given({}), host), []);
  });

  test('a missing seccomp filter is reported when one is requested', () => {
    const host = { ...WHOLE_HOST, seccomp: false };
    const asked = given({ seccompProfile: { type: 'RuntimeDefault' } });
    assert.deepEqual(isolationShortfalls(...asked, host), [
      'system calls are not filtered: this host has no seccomp',
    ]);
    assert.deepEqual(isolationShortfalls(...given({}), host), []);
  });

  test('capabilities that the host lacks are reported for the containers that request them', () => {
    const host = { ...WHOLE_HOST, missingCapabilities: ['SYS_RESOURCE', 'SYS_TIME'] };
    const told = (own: ContainerSecurityContext) => isolationShortfalls(...given(own), host);
    assert.deepEqual(told({ privileged: true }), [
      'capabilities are missing on this host: SYS_RESOURCE, SYS_TIME',
    ]);
    assert.deepEqual(told({ capabilities: { add: ['CAP_SYS_TIME'] } }), [
      'capabilities are missing on this host: SYS_TIME',
    ]);
    assert.deepEqual(told({ capabilities: { add: ['NET_ADMIN'] } }), []);
  });

  test("the host's process limit, and shares within the kernel's bounds", () => {
    const [pod, container] = given({}, {}, { resources: { requests: { cpu: '1000' } } });
    const { pidsLimit, cpuShares } = engineLimits(pod, container, { ...WHOLE_HOST, podPidsLimit: 50 });
    assert.deepEqual([pidsLimit, cpuShares], [50, 262_144]);
    assert.deepEqual(sandboxLimits(WHOLE_HOST), { cpuShares: 2, oomScoreAdj: -998 });
  });

  test('the isolation of a host follows from its capabilities and its engine', () => {
    const settings = { seccompRoot: '/s', allowedUnsafeSysctls: [] };
    const engine = { appArmor: false, seccomp: true, rootless: false };
    const host = { memoryBytes: 1, missingCapabilities: [] };
    assert.equal(hostIsolation(host, engine, settings).leastOomScore, -1000);
    assert.equal(hostIsolation(host, { ...engine, rootless: true }, settings).leastOomScore, 0);
    assert.equal(
      hostIsolation({ ...host, missingCapabilities: ['SYS_RESOURCE'] }, undefined, settings).leastOomScore,
      0,
    );
    assert.equal(hostIsolation(host, engine, settings).appArmor, false);
  });
});

describe('SELinux options', () => {
  const labelsOf = (own: object | undefined, shared: object | undefined): string[] | undefined =>
    engineSecurity(
      ...given(own ? { seLinuxOptions: own as Record<string, string> } : {}, {
        ...(shared && { seLinuxOptions: shared as Record<string, string> }),
      }),
      WHOLE_HOST,
      '',
    ).seLinuxLabels;

  test('those of the container replace those of the Pod as a whole', () => {
    assert.deepEqual(labelsOf(undefined, { user: 'u', role: 'r', type: 't', level: 's0:c1' }), [
      'user:u',
      'role:r',
      'type:t',
      'level:s0:c1',
    ]);
    assert.deepEqual(labelsOf({ type: 'spc_t' }, { level: 's0' }), ['type:spc_t']);
    assert.equal(labelsOf(undefined, undefined), undefined);
  });
});
