/** The host policy, by which the owner of a host forbids Pods. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostIsolation } from '../../../agent/decisions/admission/host-isolation.js';
import {
  type HostPolicy,
  parseHostPolicy,
  policyRefusal,
} from '../../../agent/decisions/admission/host-policy.js';
import { podRejection } from '../../../agent/decisions/admission/pod-admission.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import type { Container, Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { attempt, viewOf } from '../../harness/pods/pod-views.js';

function pod(spec: Partial<PodSpec>): Pod {
  const containers = [{ name: 'a', image: 'i' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers, ...spec } };
}

function withContext(securityContext: Container['securityContext']): Pod {
  return pod({ containers: [{ name: 'a', image: 'i', ...(securityContext ? { securityContext } : {}) }] });
}

function mounting(path: string, readOnly = true): Pod {
  const volumeMounts = [{ name: 'v', mountPath: '/m', readOnly }];
  return pod({
    containers: [{ name: 'a', image: 'i', volumeMounts }],
    volumes: [{ name: 'v', hostPath: { path } }],
  });
}

const LOGS = parseHostPolicy({
  hostPaths: [{ path: '/var/log', readOnly: true }, { path: '/proc/', readOnly: true }, '/srv/data/'],
});
/** A writable path below a path that is read-only for Pods: a symbolic link in it may lead anywhere. */
const MIXED = parseHostPolicy({ hostPaths: [{ path: '/', readOnly: true }, '/srv/data'] });
const BELOW_WRITABLE =
  'is not allowed: Pods may write "/srv/data" and replace directories below it by links; the policy allows "/srv/data" itself';

const TABLE: [title: string, given: Pod, policy: HostPolicy, refusal: string | undefined][] = [
  ['an unrestricted policy', pod({ hostNetwork: true, hostPID: true }), {}, undefined],
  ['everything allowed by name', pod({ hostNetwork: true }), { hostNetwork: true }, undefined],
  ['the host’s network', pod({ hostNetwork: true }), { hostNetwork: false }, 'hostNetwork is not allowed'],
  ['the host’s process namespace', pod({ hostPID: true }), { hostPID: false }, 'hostPID is not allowed'],
  ['the host’s IPC namespace', pod({ hostIPC: true }), { hostIPC: false }, 'hostIPC is not allowed'],
  [
    'privilege',
    withContext({ privileged: true }),
    { privileged: false },
    'container "a": privileged is not allowed',
  ],
  [
    'a privileged init container',
    pod({ initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }] }),
    { privileged: false },
    'container "i": privileged is not allowed',
  ],
  ['a path that is listed', mounting('/var/log'), LOGS, undefined],
  ['a path below a listed one', mounting('/var/log/pods/'), LOGS, undefined],
  ['the listed path without its trailing slash', mounting('/proc'), LOGS, undefined],
  [
    'a path that only shares the prefix',
    mounting('/var/logs'),
    LOGS,
    'volume "v": the path "/var/logs" of the host is not allowed',
  ],
  [
    'a way out',
    mounting('/var/log/../../etc'),
    LOGS,
    'volume "v": the path "/var/log/../../etc" of the host is not allowed',
  ],
  ['the root', mounting('/'), LOGS, 'volume "v": the path "/" of the host is not allowed'],
  [
    'any path when the root is listed',
    mounting('/etc', false),
    parseHostPolicy({ hostPaths: ['/'] }),
    undefined,
  ],
  ['a writable path', mounting('/srv/data', false), LOGS, undefined],
  ['a writable path, mounted read-only', mounting('/srv/data'), LOGS, undefined],
  [
    'a path below a writable one, where a Pod may have created a symbolic link',
    mounting('/srv/data/etc', false),
    LOGS,
    `volume "v": the path "/srv/data/etc" of the host ${BELOW_WRITABLE}`,
  ],
  [
    'the same read-only, and below a read-only path',
    mounting('/srv/data/etc'),
    MIXED,
    `volume "v": the path "/srv/data/etc" of the host ${BELOW_WRITABLE}`,
  ],
  ['a writable path below a read-only one', mounting('/srv/data', false), MIXED, undefined],
  ['a path next to the writable one', mounting('/srv/database'), MIXED, undefined],
  [
    'write access to a read-only path',
    mounting('/var/log', false),
    LOGS,
    'volume "v": the path "/var/log" of the host is allowed read-only: container "a" must mount it with readOnly: true',
  ],
  [
    'write access by one of several containers',
    pod({
      initContainers: [{ name: 'i', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/m' }] }],
      volumes: [{ name: 'v', hostPath: { path: '/proc' } }],
    }),
    LOGS,
    'volume "v": the path "/proc" of the host is allowed read-only: container "i" must mount it with readOnly: true',
  ],
  [
    'no path at all',
    mounting('/tmp'),
    { hostPaths: [] },
    'volume "v": the path "/tmp" of the host is not allowed',
  ],
  [
    'a capability that is listed',
    withContext({ capabilities: { add: ['CAP_NET_ADMIN'] } }),
    { capabilities: ['NET_ADMIN'] },
    undefined,
  ],
  [
    'a capability that is not listed',
    withContext({ capabilities: { add: ['ALL'] } }),
    { capabilities: ['NET_ADMIN'] },
    'container "a": the capability ALL is not allowed',
  ],
  [
    'all capabilities by privilege',
    withContext({ privileged: true }),
    { capabilities: [] },
    'container "a": privileged gives capabilities that are not allowed',
  ],
];

describe('the policy of a host', () => {
  for (const [title, given, policy, refusal] of TABLE) {
    test(title, () => assert.equal(policyRefusal(given, policy), refusal));
  }

  test('fails a forbidden Pod with the reason', () => {
    const settings = { seccompRoot: '/s', allowedUnsafeSysctls: [], policy: { privileged: false } };
    const isolation = hostIsolation({ memoryBytes: 1, missingCapabilities: [] }, undefined, settings);
    assert.deepEqual(podRejection(withContext({ privileged: true }), isolation), {
      reason: 'HostPolicy',
      message: 'forbidden by the policy of this host: container "a": privileged is not allowed',
    });
    assert.equal(podRejection(pod({}), isolation), undefined);
  });

  test('applies to a Pod that already runs', () => {
    const running = { spec: { hostNetwork: true }, containers: [attempt({})] };
    assert.equal(nextAction(viewOf(running)).kind, 'wait');
    const isolation = { policy: { hostNetwork: false } };
    assert.equal(nextAction(viewOf({ ...running, isolation })).kind, 'reject');
    const givenUp = { reason: 'HostPolicy', message: 'no', deadline: 0 };
    assert.equal(nextAction(viewOf({ ...running, isolation, givenUp })).kind, 'stop-containers');
  });

  test('is read completely', () => {
    const document = {
      privileged: false,
      hostPaths: ['/a/', { path: '/b', readOnly: true }],
      capabilities: ['cap_net_raw'],
    };
    const hostPaths = [
      { path: '/a', readOnly: false },
      { path: '/b', readOnly: true },
    ];
    assert.deepEqual(parseHostPolicy(document), { ...document, hostPaths, capabilities: ['NET_RAW'] });
    assert.deepEqual(parseHostPolicy(null), {});
  });

  for (const document of [
    [],
    'no',
    { privileged: 'no' },
    { hostPath: [] },
    { hostPaths: ['a'] },
    { hostPaths: '/' },
    { hostPaths: [7] },
    { hostPaths: [{ path: '/a', readOnly: 'yes' }] },
    { hostPaths: [{ path: '/a', readonly: true }] },
    { hostPaths: ['/a', '/a/b'] },
    { hostPaths: ['/a', { path: '/a/b', readOnly: true }] },
    { capabilities: [1] },
  ]) {
    test(`is rejected when it is ${JSON.stringify(document)}`, () =>
      assert.throws(() => parseHostPolicy(document)));
  }
});
