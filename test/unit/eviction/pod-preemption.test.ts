/** Which Pods end for a critical Pod (pkg/kubelet/preemption/preemption_test.go, pkg/kubelet/types/pod_update_test.go). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  distance,
  podsToPreempt,
  type Requirement,
  remaining,
  requirementsText,
} from '../../../agent/decisions/admission/pod-preemption.js';
import {
  isCritical,
  isPreemptable,
  type PodOfHost,
  priorityOf,
} from '../../../agent/decisions/admission/pod-priority.js';
import { podRequests } from '../../../shared/kube/pods/pod-requests.js';
import type { PodSpec, ResourceList } from '../../../shared/kube/pods/pod-types.js';

const MIB = 1024 ** 2;

interface NamedPod extends PodOfHost {
  name: string;
}

function podWith(
  name: string,
  requests: ResourceList,
  changes: Partial<PodSpec> & { isGuaranteed?: true } = {},
) {
  const { isGuaranteed, ...spec } = changes;
  const resources = { requests, ...(isGuaranteed && { limits: requests }) };
  const pod = { spec: { containers: [{ name, image: 'app:1', resources }], ...spec } };
  return { name, pod, isStatic: false } satisfies NamedPod;
}

const SMALL = { cpu: '100m', memory: '100Mi' };
const LARGE = { cpu: '300m', memory: '300Mi' };
const PODS = {
  tiny: podWith('tiny', { cpu: '1m', memory: '1Mi' }),
  bestEffort: podWith('bestEffort', {}),
  clusterCritical: podWith('clusterCritical', SMALL, {
    priority: 2_000_000_000,
    priorityClassName: 'system-cluster-critical',
  }),
  nodeCritical: podWith('nodeCritical', SMALL, {
    priority: 2_000_000_100,
    priorityClassName: 'system-node-critical',
  }),
  burstable: podWith('burstable', SMALL),
  guaranteed: podWith('guaranteed', SMALL, { isGuaranteed: true }),
  highBurstable: podWith('highBurstable', LARGE),
  highGuaranteed: podWith('highGuaranteed', LARGE, { isGuaranteed: true }),
};
type Name = keyof typeof PODS;

/** Millicores, MiB and Pods to free. */
type Needs = readonly [cpu: number, memory: number, pods: number];

function requirements([cpu, memory, pods]: Needs): Requirement[] {
  const all = [
    { resource: 'cpu', quantity: cpu },
    { resource: 'memory', quantity: memory * MIB },
    { resource: 'pods', quantity: pods },
  ];
  return all.filter(({ quantity }) => quantity > 0);
}

/** Names of the victims, sorted; `unmet` if there are not enough. */
function victims(preemptor: PodOfHost, pods: readonly NamedPod[], needs: Needs): string {
  const choice = podsToPreempt(preemptor, pods, requirements(needs));
  if (choice.kind === 'unmet') return 'unmet';
  return choice.pods
    .map(({ name }) => name)
    .sort()
    .join();
}

describe("upstream's choice of Pods to preempt", () => {
  const all: Name[] = ['bestEffort', 'burstable', 'highBurstable', 'guaranteed', 'highGuaranteed'];
  const cases: [rule: string, preemptor: Name, pods: Name[], Needs, expected: string][] = [
    ['no requirements', 'clusterCritical', [], [0, 0, 0], ''],
    ['no pods', 'clusterCritical', [], [0, 0, 1], 'unmet'],
    ['equal pods and resources requirements', 'clusterCritical', ['burstable'], [100, 100, 1], 'burstable'],
    ['higher requirements than pod requests', 'clusterCritical', ['burstable'], [200, 200, 2], 'unmet'],
    [
      'choose between bestEffort and burstable',
      'clusterCritical',
      ['burstable', 'bestEffort'],
      [0, 0, 1],
      'bestEffort',
    ],
    [
      'choose between burstable and guaranteed',
      'clusterCritical',
      ['burstable', 'guaranteed'],
      [0, 0, 1],
      'burstable',
    ],
    [
      'choose lower request burstable if it meets requirements',
      'clusterCritical',
      ['bestEffort', 'highBurstable', 'burstable'],
      [100, 100, 0],
      'burstable',
    ],
    [
      'choose higher request burstable if lower does not meet requirements',
      'clusterCritical',
      ['bestEffort', 'burstable', 'highBurstable'],
      [150, 150, 0],
      'highBurstable',
    ],
    ['multiple pods required', 'clusterCritical', all, [350, 350, 0], 'burstable,highBurstable'],
    [
      'evict guaranteed when we have to, and dont evict the extra burstable',
      'clusterCritical',
      all,
      [0, 550, 0],
      'highBurstable,highGuaranteed',
    ],
    [
      'evict cluster critical pod for node critical pod',
      'nodeCritical',
      ['clusterCritical'],
      [100, 0, 0],
      'clusterCritical',
    ],
    [
      'can not evict node critical pod for cluster critical pod',
      'clusterCritical',
      ['nodeCritical'],
      [100, 0, 0],
      'unmet',
    ],
    ['critical pods cannot be preempted', 'clusterCritical', ['clusterCritical'], [0, 0, 1], 'unmet'],
    [
      'best effort pods are not preempted when attempting to free resources',
      'clusterCritical',
      ['bestEffort'],
      [0, 1, 0],
      'unmet',
    ],
    [
      'multiple pods evicted',
      'clusterCritical',
      ['clusterCritical', ...all],
      [0, 550, 0],
      'highBurstable,highGuaranteed',
    ],
  ];
  for (const [rule, preemptor, pods, needs, expected] of cases) {
    test(rule, () => {
      assert.equal(
        victims(
          PODS[preemptor],
          pods.map((name) => PODS[name]),
          needs,
        ),
        expected,
      );
    });
  }

  test('of 110 small Pods as many end as are needed', () => {
    const pods = Array.from({ length: 110 }, (_, index) => ({ ...PODS.tiny, name: `tiny-${index}` }));
    assert.equal(victims(PODS.nodeCritical, pods, [70, 0, 0]).split(',').length, 70);
  });
});

describe('Pods with priorities', () => {
  const ranked = (name: string, priority: number, requests: ResourceList = SMALL, isGuaranteed?: true) =>
    podWith(name, requests, { priority, ...(isGuaranteed && { isGuaranteed }) });
  const cases: [rule: string, pods: NamedPod[], Needs, expected: string][] = [
    [
      'a guaranteed Pod of low priority ends before a best-effort Pod of high priority',
      [ranked('high', 1000, {}), ranked('low', 0, SMALL, true)],
      [0, 0, 1],
      'low',
    ],
    [
      'a Pod of high priority stays if all lower Pods together free enough',
      [ranked('a', 0), ranked('b', 5), ranked('high', 1000, LARGE)],
      [200, 0, 0],
      'a,b',
    ],
    [
      'a Pod of high priority ends if it must, and then the lower Pods stay that are not needed',
      [ranked('a', 0), ranked('b', 5), ranked('high', 1000, LARGE)],
      [300, 0, 0],
      'high',
    ],
    [
      'a negative priority is lower than none',
      [podWith('none', SMALL), ranked('negative', -1)],
      [100, 0, 0],
      'negative',
    ],
    [
      'a Pod that later choices make superfluous stays',
      [
        podWith('both', { cpu: '80m', memory: '80Mi' }),
        podWith('cpu', { cpu: '90m', memory: '10Mi' }),
        podWith('memory', { cpu: '10m', memory: '90Mi' }),
      ],
      [100, 100, 0],
      'cpu,memory',
    ],
  ];
  for (const [rule, pods, needs, expected] of cases) {
    test(rule, () => assert.equal(victims(PODS.nodeCritical, pods, needs), expected));
  }

  test('the victims free enough, none of them could stay, and each may be preempted', () => {
    const amount = fc.integer({ min: 0, max: 4 }).map((number) => number * 50);
    const aPod = fc
      .record({
        cpu: amount,
        memory: amount,
        priority: fc.integer({ min: 0, max: 2 }),
        critical: fc.boolean(),
      })
      .map(({ cpu, memory, priority, critical }) =>
        ranked('pod', critical ? 2_000_000_000 + priority * 1000 : priority, {
          cpu: `${cpu}m`,
          memory: `${memory}Mi`,
        }),
      );
    const needs = fc.tuple(amount, amount, fc.integer({ min: 0, max: 3 }));
    let chosen = 0;
    fc.assert(
      fc.property(fc.array(aPod, { maxLength: 8 }), needs, (pods, needed) => {
        const wanted = requirements(needed);
        const preemptor = ranked('critical', 2_000_001_000);
        const left = (of: readonly NamedPod[]) =>
          remaining(
            wanted,
            of.map(({ pod }) => ({ requests: podRequests(pod.spec) })),
          ).length;
        const choice = podsToPreempt(preemptor, pods, wanted);
        if (choice.kind === 'unmet') return left(pods.filter((pod) => isPreemptable(preemptor, pod))) > 0;
        chosen += choice.pods.length;
        return (
          left(choice.pods) === 0 &&
          choice.pods.every((pod) => isPreemptable(preemptor, pod)) &&
          choice.pods.every((pod) => left(choice.pods.filter((other) => other !== pod)) > 0)
        );
      }),
      { seed: 19 },
    );
    assert.ok(chosen > 0);
  });
});

describe('a Pod that may be preempted', () => {
  const plain = podWith('plain', SMALL);
  const fixed = { ...podWith('static', SMALL), isStatic: true };
  const rankedStatic = (priority: number) => ({ ...podWith('static', SMALL, { priority }), isStatic: true });
  const cases: [rule: string, preemptor: PodOfHost, other: PodOfHost, expected: boolean][] = [
    ['critical over plain', PODS.clusterCritical, plain, true],
    ['static over plain', fixed, plain, true],
    ['plain over plain', plain, plain, false],
    ['plain over critical', plain, PODS.clusterCritical, false],
    ['critical over a static Pod without priority', PODS.nodeCritical, fixed, false],
    ['critical over a static Pod of lower priority', PODS.nodeCritical, rankedStatic(1000), true],
    ['equal priorities', PODS.nodeCritical, PODS.nodeCritical, false],
    [
      'a higher priority over a lower one',
      podWith('a', {}, { priority: 2 }),
      podWith('b', {}, { priority: 1 }),
      true,
    ],
  ];
  for (const [rule, preemptor, other, expected] of cases) {
    test(`${rule}: ${expected}`, () => assert.equal(isPreemptable(preemptor, other), expected));
  }

  test('a system class has a priority, critical Pods are static or have a priority from 2000000000 on', () => {
    const classed = (priorityClassName: string) => podWith('a', {}, { priorityClassName }).pod;
    assert.deepEqual(
      ['system-cluster-critical', 'system-node-critical', 'other'].map((name) =>
        priorityOf(classed(name).spec),
      ),
      [2_000_000_000, 2_000_001_000, undefined],
    );
    const ofPriority = (priority: number) => isCritical(podWith('a', {}, { priority }).pod, false);
    assert.deepEqual([1_999_999_999, 2_000_000_000].map(ofPriority), [false, true]);
    assert.deepEqual([isCritical(plain.pod, false), isCritical(plain.pod, true)], [false, true]);
  });
});

describe('requirements', () => {
  const distances: [rule: string, Needs, Name, number][] = [
    ['no requirements', [0, 0, 0], 'burstable', 0],
    ['no requests, some requirements', [100, 100, 1], 'bestEffort', 2],
    ['equal requests and requirements', [100, 100, 1], 'burstable', 0],
    ['higher requests than requirements', [50, 50, 0], 'burstable', 0],
  ];
  for (const [rule, needs, name, expected] of distances) {
    test(`distance: ${rule}`, () =>
      assert.equal(distance(requirements(needs), podRequests(PODS[name].pod.spec)), expected));
  }

  const subtractions: [rule: string, Needs, Name, Needs][] = [
    ['subtract a pod from no requirements', [0, 0, 0], 'burstable', [0, 0, 0]],
    ['subtract no requests from some requirements', [100, 100, 1], 'bestEffort', [100, 100, 0]],
    ['equal requests and requirements', [100, 100, 1], 'burstable', [0, 0, 0]],
    ['subtract higher requests than requirements', [50, 50, 0], 'burstable', [0, 0, 0]],
    ['subtract lower requests than requirements', [200, 200, 1], 'burstable', [100, 100, 0]],
  ];
  for (const [rule, needs, name, expected] of subtractions) {
    test(rule, () => {
      const requests = podRequests(PODS[name].pod.spec);
      assert.deepEqual(remaining(requirements(needs), [{ requests }]), requirements(expected));
    });
  }

  test("have upstream's text", () => {
    assert.equal(requirementsText(requirements([100, 0, 2])), '[(res: cpu, q: 100), (res: pods, q: 2), ]');
  });
});
