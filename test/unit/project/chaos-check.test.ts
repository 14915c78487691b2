/** The chaos checker finds each possible problem. A checker that found nothing would pass every run. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  duplicateContainers,
  type ExpectedState,
  type ObservedFleet,
  type ObservedHost,
  type ObservedHostContainer,
  problemsOf,
  replacedContainers,
  stoppedWithoutRequest,
} from '../../chaos/chaos-check.js';
import { type FaultKind, isFault, OF_WHOLE_HOSTS, planOf } from '../../chaos/chaos-plan.js';

const SINCE = '2026-01-01T00:00:00Z';
const template = (version: string) => ({
  spec: { containers: [{ name: 'alpha-v1', image: 'app:1', env: [{ name: 'VERSION', value: version }] }] },
});

/** The complete observation, which a case changes. */
interface Whole extends ObservedFleet {
  hosts: (ObservedHost & { containers: ObservedHostContainer[] })[];
  nodes: Node[];
  pods: Pod[];
  daemonSets: DaemonSet[];
}

/** A correct state with one host, one DaemonSet and one Pod. A case changes the part under test. */
function whole(): Whole {
  const spec = template('v1').spec;
  return {
    hosts: [
      {
        name: 'host-1',
        bystander: 'other',
        containers: [
          { id: 'other', image: 'app:1', state: 'exited' },
          {
            ...{
              id: 'c1',
              image: 'docker.io/library/app:1',
              state: 'running',
              podName: 'alpha-x',
              podUID: 'u1',
            },
            ...{ container: 'alpha-v1', attempt: 0, startedAt: SINCE },
          },
        ],
      },
    ],
    nodes: [
      {
        ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'host-1' } },
        status: { conditions: ['Ready', 'Connected'].map((type) => ({ type, status: 'True' as const })) },
      },
    ],
    daemonSets: [
      {
        ...{
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name: 'alpha', uid: 'd1', generation: 1 },
        },
        spec: { selector: {}, template: template('v1') },
        status: {
          ...{ observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 1 },
          ...{ numberAvailable: 1, updatedNumberScheduled: 1, numberMisscheduled: 0 },
        },
      },
    ],
    pods: [
      {
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: {
          ...{ name: 'alpha-x', uid: 'u1' },
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'alpha', uid: 'd1', controller: true },
          ],
        },
        spec: { ...spec, nodeName: 'host-1' },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [
            {
              ...{ name: 'alpha-v1', ready: true, restartCount: 0, image: 'app:1', imageID: '' },
              ...{ containerID: 'docker://c1', state: { running: { startedAt: SINCE } } },
            },
          ],
        },
      },
    ],
  };
}

const wanted = (isBusy = false): ExpectedState => ({
  daemonSets: [
    { name: 'alpha', container: 'alpha-v1', image: 'app:1', version: 'v1', zone: null, surges: false },
  ],
  belongs: () => !isBusy,
  clockErrorsMs: [],
});
const container = (seen: Whole): ObservedHostContainer =>
  seen.hosts[0]?.containers[1] as ObservedHostContainer;
const pod = (seen: Whole): Pod => seen.pods[0] as Pod;

describe('the chaos checker', () => {
  test('accepts a start time that matches the coordinator’s wrong clock, and no other wrong time', () => {
    const seen = whole();
    const ms = Date.parse(SINCE);
    for (const [asideMs, problems] of [
      [-31_536_000_000 + 9_000, 0],
      [-31_536_000_000 + 11_000, 1],
      [3_600_000, 1],
    ] as const) {
      Object.assign(container(seen), { startedAt: new Date(ms - asideMs).toISOString() });
      assert.equal(problemsOf(seen, { ...wanted(), clockErrorsMs: [-31_536_000_000] }).length, problems);
    }
  });

  test('reports nothing for a healthy fleet', () => {
    assert.deepEqual(problemsOf(whole(), wanted()), []);
  });

  const cases: [string, (seen: Whole) => void, RegExp][] = [
    [
      'a container that exited',
      (seen) => Object.assign(container(seen), { state: 'exited' }),
      /0 running containers/,
    ],
    [
      'two containers of a Pod',
      (seen) => seen.hosts[0]?.containers.push({ ...container(seen), id: 'c2' }),
      /2 running containers/,
    ],
    [
      'a container of a deleted Pod',
      (seen) =>
        seen.hosts[0]?.containers.push({ ...container(seen), id: 'c2', podUID: 'u0', state: 'exited' }),
      /which is not a Pod of this host/,
    ],
    [
      'a bystander that was removed',
      (seen) => seen.hosts[0]?.containers.shift(),
      /lost the bystander container/,
    ],
    [
      'an engine that is down',
      (seen) => Object.assign(seen.hosts[0] ?? {}, { containers: undefined }),
      /does not respond/,
    ],
    [
      'a surplus Pod',
      (seen) =>
        seen.pods.push({ ...pod(seen), metadata: { ...pod(seen).metadata, name: 'alpha-y', uid: 'u2' } }),
      /2 Pods on host-1, wanted 1/,
    ],
    ['a missing Pod', (seen) => seen.pods.pop(), /0 Pods on host-1, wanted 1/],
    [
      'a terminating Pod',
      (seen) => Object.assign(pod(seen).metadata, { deletionTimestamp: SINCE }),
      /still terminating/,
    ],
    [
      'a Pod with an older template',
      (seen) => Object.assign(pod(seen).spec, template('v0').spec),
      /has version v0, wanted v1/,
    ],
    [
      'a Pod without a controller',
      (seen) => Object.assign(pod(seen).metadata, { ownerReferences: [] }),
      /belongs to no DaemonSet/,
    ],
    [
      'a lost write',
      (seen) => Object.assign(seen.daemonSets[0]?.spec ?? {}, { template: template('v0') }),
      /acknowledged were v1/,
    ],
    ['a lost creation', (seen) => seen.daemonSets.pop(), /was requested and does not exist/],
    [
      'a deletion that was undone',
      (seen) =>
        seen.daemonSets.push({ ...(seen.daemonSets[0] as DaemonSet), metadata: { name: 'beta', uid: 'd2' } }),
      /was deleted and exists/,
    ],
    [
      'a false figure',
      (seen) => Object.assign(seen.daemonSets[0]?.status ?? {}, { numberReady: 0 }),
      /numberReady 0, expected 1/,
    ],
    [
      'a Pod that is not reported ready',
      (seen) => Object.assign(pod(seen).status ?? {}, { conditions: [] }),
      /reports Ready undefined, expected True/,
    ],
    [
      'a container other than the reported one',
      (seen) => Object.assign(container(seen), { id: 'c2' }),
      /containerID c1, expected c2/,
    ],
    [
      'a restart that is not reported',
      (seen) => Object.assign(container(seen), { attempt: 1 }),
      /restartCount 0, expected 1/,
    ],
    [
      'a start time other than the reported one',
      (seen) => Object.assign(container(seen), { startedAt: '2026-01-01T00:01:00Z' }),
      /startedAt 2026-01-01T00:00:00Z, not 2026-01-01T00:01:00Z/,
    ],
    ['a dark node', (seen) => Object.assign(seen.nodes[0]?.status ?? {}, { conditions: [] }), /is not Ready/],
    [
      'a taint that was not removed',
      (seen) =>
        Object.assign(seen.nodes[0] ?? {}, {
          spec: { taints: [{ key: 'node.kubernetes.io/x', effect: 'NoSchedule' }] },
        }),
      /keeps the taint/,
    ],
  ];
  for (const [what, spoil, told] of cases) {
    test(`sees ${what}`, () => {
      const seen = whole();
      spoil(seen);
      assert.match(problemsOf(seen, wanted()).join('\n'), told);
    });
  }

  test('reports a Pod on a node where none belongs', () => {
    assert.match(problemsOf(whole(), wanted(true)).join('\n'), /1 Pods on host-1, wanted 0/);
  });

  test('reports a replaced container on an undisturbed host, and ignores it on a disturbed one', () => {
    const [before, after] = [whole(), whole()];
    Object.assign(container(after), { id: 'c2' });
    assert.match(
      replacedContainers(before.hosts, after, () => false).join(),
      /was replaced without a fault or a request/,
    );
    assert.deepEqual(
      replacedContainers(before.hosts, after, () => true),
      [],
    );
    Object.assign(pod(after).metadata, { uid: 'u2' });
    assert.deepEqual(
      replacedContainers(before.hosts, after, () => false),
      [],
      'its Pod was replaced',
    );
  });

  test('reports Pods that ended before a restore was confirmed, except deleted Pods and disturbed hosts', () => {
    const [before, after] = [whole(), whole()];
    const ended = (kept: Pod[], isHit: boolean) =>
      stoppedWithoutRequest(before.hosts, after.hosts, { kept, isDisturbed: () => isHit });
    assert.deepEqual(ended(before.pods, false), []);
    Object.assign(container(after), { state: 'exited' });
    assert.match(
      ended(before.pods, false).join(),
      /alpha-x on host-1 stopped before the restore was confirmed/,
    );
    assert.deepEqual(ended([], false), []);
    assert.deepEqual(ended(before.pods, true), []);
  });

  test('reports containers that run twice, unless their DaemonSet surges', () => {
    const seen = whole();
    const twice = [container(seen), { ...container(seen), id: 'c2', podUID: 'u2' }];
    assert.deepEqual(duplicateContainers(twice, new Set()), ['alpha-v1']);
    assert.deepEqual(duplicateContainers(twice, new Set(['alpha-v1'])), []);
    assert.deepEqual(
      duplicateContainers([container(seen), { ...container(seen), state: 'exited' }], new Set()),
      [],
    );
  });
});

describe('a chaos plan', () => {
  const plans = (without: readonly FaultKind[]) =>
    Array.from({ length: 200 }, (_, number) => planOf('s', number, { hosts: 3, without }));

  test('is the same for the same seed', () => {
    assert.deepEqual(plans([]), plans([]));
    assert.notDeepEqual(
      plans([]),
      Array.from({ length: 200 }, (_, number) => planOf('t', number, { hosts: 3, without: [] })),
    );
  });

  test('contains every kind of fault except those that the hosts do not support', () => {
    const kinds = (without: readonly FaultKind[]) =>
      new Set(plans(without).flatMap((steps) => steps.filter(isFault).map(({ kind }) => kind)));
    assert.equal(kinds([]).size, 26);
    assert.equal(kinds(OF_WHOLE_HOSTS).size, 24);
  });
});
