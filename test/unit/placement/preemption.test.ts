/**
 * The cases of pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go, without those of plugins
 * and extenders that the product does not have.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { daemonSetOwner } from '../../../coordinator/decisions/daemonsets/daemon-pod.js';
import {
  cheapestCandidate,
  enoughCandidates,
  NO_VICTIMS,
  type NominatedNode,
  type PreemptionCandidate,
  preemptionObjection,
  preemptorOf,
  selectVictims,
} from '../../../coordinator/decisions/placement/preemption.js';
import type { SpendableBudgets } from '../../../coordinator/decisions/policy/preemption-budgets.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { Pod, PodStatus, ResourceList } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION } from '../../../shared/kube/pods/static-pod-annotations.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { nodeObject, podObject } from '../../harness/objects/object-builders.js';

const PRIORITIES = { neg: -100, low: 0, mid: 100, high: 1_000, top: 10_000 } as const;
/** Millicores, and the same number of bytes. */
const SIZES = { none: 0, small: 100, medium: 200, large: 300, huge: 500 } as const;

type Priority = keyof typeof PRIORITIES;
type Size = keyof typeof SIZES;

interface PodFacts {
  node?: string;
  start?: number;
  metadata?: object;
  status?: PodStatus;
}

function pod(name: string, priority: Priority, size: Size = 'none', facts: PodFacts = {}): Pod {
  const amount = SIZES[size];
  const requests: ResourceList = amount > 0 ? { cpu: `${amount}m`, memory: String(amount) } : {};
  const { node, start, metadata = {}, status = {} } = facts;
  const object = podObject(name, {
    containers: [{ name: 'main', image: 'app:1', resources: { requests } }],
    priority: PRIORITIES[priority],
    ...(node ? { nodeName: node } : {}),
  });
  object.metadata = { ...object.metadata, uid: name, ...metadata };
  const startTime = start === undefined ? {} : { startTime: new Date(start * 1_000).toISOString() };
  object.status = { phase: 'Running', ...startTime, ...status };
  return object;
}

/** Reads `p1.2 mid small 4` as a Pod, where 4 is its start time. */
function podOf(text: string): Pod {
  const [name = '', priority, size, start] = text.split(' ');
  return pod(name, priority as Priority, size as Size, start === undefined ? {} : { start: Number(start) });
}

const NODE = nodeObject('node1', { cpu: '500m', memory: '500', pods: '32' });

function victimsOf(preemptor: Pod, pods: readonly Pod[], reserved: readonly Pod[] = [], node = NODE): string {
  const choice = selectVictims(preemptor, { node, pods, reserved, budgets: new Map() });
  return 'victims' in choice
    ? choice.victims.map(({ metadata }) => metadata.name).join(' ')
    : choice.reasons.join(', ');
}

describe('victims on a node', () => {
  const CASES: { rule: string; preemptor?: string; pods: string[]; expected: string }[] = [
    {
      rule: 'a lower Pod ends if the Pod then fits',
      pods: ['p1 mid large'],
      expected: 'p1',
    },
    {
      rule: 'Pods of higher priority are no victims',
      preemptor: 'p low large',
      pods: ['p1 mid large'],
      expected: NO_VICTIMS,
    },
    {
      rule: 'a Pod of equal priority is no victim',
      pods: ['p1 high large'],
      expected: NO_VICTIMS,
    },
    {
      rule: 'a medium priority Pod ends, but a lower one stays, because it is small',
      pods: ['p1.1 low small', 'p1.2 mid large'],
      expected: 'p1.2',
    },
    {
      rule: 'Pods of mixed priorities end',
      pods: ['p1.1 mid small', 'p1.2 low small', 'p1.3 mid medium', 'p1.4 high small'],
      expected: 'p1.3 p1.2',
    },
    {
      rule: 'of equal priorities the Pod that started later ends',
      pods: ['p1.1 low small 5', 'p1.2 low small 4', 'p1.3 mid medium 3', 'p1.4 high small 2'],
      expected: 'p1.3 p1.1',
    },
    {
      rule: 'a Pod that has not started counts as started now',
      pods: ['p1.1 mid medium', 'p1.2 mid medium 9'],
      expected: 'p1.1',
    },
    {
      rule: 'if the end of all lower Pods does not suffice, the reasons are those of the fit',
      preemptor: 'p high large',
      pods: ['p1 low small', 'p2 top large'],
      expected: 'Insufficient cpu, Insufficient memory',
    },
    {
      rule: 'negative priorities compare like others',
      preemptor: 'p low huge',
      pods: ['p1 neg small', 'p2 neg small'],
      expected: 'p1 p2',
    },
  ];
  for (const { rule, preemptor = 'p high large', pods, expected } of CASES) {
    test(rule, () => assert.equal(victimsOf(podOf(preemptor), pods.map(podOf)), expected));
  }

  test('a full node by number of Pods frees one place', () => {
    const node = nodeObject('node1', { pods: '1' });
    assert.equal(victimsOf(podOf('p high'), [podOf('p1 low')], [], node), 'p1');
  });

  test('a host port is freed', () => {
    const listening = (name: string, priority: Priority): Pod => {
      const made = pod(name, priority);
      made.spec.containers = [
        { name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }] },
      ];
      return made;
    };
    assert.equal(victimsOf(listening('p', 'high'), [podOf('p1 low'), listening('p2', 'mid')]), 'p2');
  });

  test('reservations and nominated Pods are not given back', () => {
    const pods = [podOf('p1 low medium'), podOf('p2 low small')];
    assert.equal(victimsOf(podOf('p high large'), pods), 'p2');
    assert.equal(victimsOf(podOf('p high large'), pods, [podOf('q high medium')]), 'p1 p2');
    assert.equal(
      victimsOf(podOf('p high large'), pods, [podOf('q high large')]),
      'Insufficient cpu, Insufficient memory',
    );
  });

  test('a Pod that fits meanwhile has no victim', () => {
    assert.equal(victimsOf(podOf('p high medium'), [podOf('p1 low medium')]), '');
  });

  test('a Pod that is ending already is the first victim, whatever its priority', () => {
    const ending = pod('ending', 'mid', 'large', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assert.equal(victimsOf(podOf('p high large'), [ending, podOf('p1 low medium')]), 'ending');
  });

  test('of equal priorities the Pod without a handover ends', () => {
    const ownerReferences = [daemonSetOwner(daemonSet('web'))];
    const successor = pod('next', 'mid', 'medium', { node: 'node1', metadata: { ownerReferences } });
    const annotations = { [HANDOVER_ANNOTATION]: JSON.stringify({ successor }) };
    const handing = pod('a', 'mid', 'medium', {
      node: 'node1',
      start: 9,
      metadata: { annotations, ownerReferences },
    });
    assert.equal(victimsOf(podOf('p high large'), [handing, podOf('b mid medium 1')]), 'b');
  });

  test('Pods that have ended and static Pods are no victims', () => {
    const ended = pod('ended', 'low', 'large', { status: { phase: 'Failed' } });
    const mirror = pod('static', 'low', 'large', {
      metadata: { annotations: { [MIRROR_ANNOTATION]: 'uid' } },
    });
    assert.equal(victimsOf(podOf('p high large'), [ended, mirror]), NO_VICTIMS);
  });
});

describe('victims under PodDisruptionBudgets', () => {
  const labelled = (text: string, app: string) => {
    const one = podOf(text);
    one.metadata = { ...one.metadata, namespace: 'default', labels: { app } };
    return one;
  };
  /** A budget of the Pods with this label. */
  const budgetOf = (app: string, allowed: number): SpendableBudgets => {
    const matcher = compileLabelSelector({ matchLabels: { app } });
    return new Map([['default', [{ matcher, allowed, disrupted: {} }]]]);
  };
  const choice = (pods: Pod[], budgets: SpendableBudgets) => {
    const found = selectVictims(podOf('p high medium'), { node: NODE, pods, reserved: [], budgets });
    assert.ok('victims' in found);
    return {
      names: found.victims.map(({ metadata }) => metadata.name).join(' '),
      violations: found.violations,
    };
  };

  test('a Pod whose end violates a budget returns to the node before a more important one', () => {
    const pods = [labelled('p1.1 mid medium 0', 'other'), labelled('p1.2 low medium 1', 'kept')];
    assert.deepEqual(choice(pods, new Map()), { names: 'p1.2', violations: 0 });
    assert.deepEqual(choice(pods, budgetOf('kept', 0)), { names: 'p1.1', violations: 0 });
    assert.deepEqual(choice(pods, budgetOf('kept', 1)), { names: 'p1.2', violations: 0 });
  });
  test('violations are counted, and come first among the victims', () => {
    const pods = [labelled('p1.1 mid medium 0', 'kept'), labelled('p1.2 low medium 1', 'kept')];
    assert.deepEqual(choice(pods, budgetOf('kept', 0)), { names: 'p1.2', violations: 1 });
    assert.deepEqual(choice(pods, budgetOf('kept', 1)), { names: 'p1.1', violations: 0 });
  });
  test('the node with the fewest violations is chosen, whatever the priorities', () => {
    const candidates: PreemptionCandidate[] = [
      { node: 'node1', victims: [podOf('a low small 0')], violations: 1 },
      { node: 'node2', victims: [podOf('b mid large 0'), podOf('c mid small 0')], violations: 0 },
    ];
    assert.equal(cheapestCandidate(candidates)?.node, 'node2');
  });
});

describe('choice among nodes', () => {
  /** Nodes with their victims, most important first. */
  function chosen(nodes: Record<string, string[]>): string | undefined {
    const candidates: PreemptionCandidate[] = Object.entries(nodes).map(([node, victims]) => ({
      node,
      victims: victims.map(podOf),
      violations: 0,
    }));
    return cheapestCandidate(candidates)?.node;
  }

  const CASES: [string, Record<string, string[]>, string][] = [
    ['the first of equal nodes', { node1: ['a mid large 0'], node2: ['b mid large 0'] }, 'node1'],
    [
      'the node with the lowest highest priority',
      {
        node1: ['a mid medium 0', 'b mid large 0'],
        node2: ['c mid medium 0', 'd low medium 0'],
        node3: ['e low medium 0', 'f low medium 0'],
      },
      'node3',
    ],
    [
      'with equal highest priorities, the smallest sum of priorities',
      {
        node1: ['a mid medium 0', 'b mid large 0'],
        node2: ['c mid large 0', 'd low medium 0'],
        node3: ['e mid medium 0', 'f mid medium 0'],
      },
      'node2',
    ],
    [
      'with equal highest priorities and sums, the smallest number of Pods',
      {
        node1: ['a mid small 0', 'b mid small 0', 'c neg small 0', 'd neg small 0'],
        node2: ['e mid large 0', 'f neg medium 0'],
        node3: ['g mid medium 0', 'h low small 0', 'i neg small 0'],
      },
      'node2',
    ],
    [
      'fewer victims of negative priority are better than more',
      {
        node1: ['a mid small 0', 'b neg small 0', 'c neg small 0'],
        node2: ['d mid large 0', 'e neg medium 0'],
        node3: ['f mid medium 0', 'g low small 0', 'h neg small 0'],
      },
      'node2',
    ],
    [
      'the rules apply one after another',
      {
        node1: ['a mid small 0', 'b low small 0', 'c low small 0'],
        node2: ['d high large 0'],
        node3: ['e mid medium 0', 'f low small 0', 'g low small 0', 'h low medium 0'],
        node4: ['i mid medium 0', 'j mid small 0', 'k mid small 0', 'l neg small 0'],
      },
      'node1',
    ],
    [
      'then the node whose victims started last',
      {
        node1: ['a mid medium 2', 'b mid medium 2'],
        node2: ['c mid medium 3', 'd mid medium 3'],
        node3: ['e mid medium 1', 'f mid medium 1'],
      },
      'node2',
    ],
    [
      'of each node the earliest start counts',
      {
        node1: ['a mid medium 2', 'b mid medium 4'],
        node2: ['c mid medium 1', 'd mid medium 5'],
        node3: ['e mid medium 3', 'f mid medium 6'],
      },
      'node3',
    ],
    [
      'only victims of the highest priority count for the start',
      {
        node1: ['a mid medium 2', 'b low medium 4'],
        node2: ['c mid medium 6', 'd low medium 1'],
        node3: ['e mid medium 5', 'f low medium 3'],
      },
      'node2',
    ],
  ];
  for (const [rule, nodes, expected] of CASES) test(rule, () => assert.equal(chosen(nodes), expected));

  test('without a candidate there is no choice', () => assert.equal(cheapestCandidate([]), undefined));

  test('100 candidates are enough, or a tenth of the nodes', () => {
    assert.deepEqual([1, 100, 1_000, 5_000].map(enoughCandidates), [100, 100, 100, 500]);
  });
});

describe('eligibility', () => {
  const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const victim = (reason: string, priority: Priority = 'low'): Pod =>
    pod('p1', priority, 'none', {
      metadata: terminating,
      status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] },
    });
  const WAITS = 'not eligible due to a terminating pod on the nominated node.';

  const CASES: [string, NominatedNode | undefined, string | undefined][] = [
    ['a Pod without a nominated node', undefined, undefined],
    [
      'a nominated node that cannot fit any longer',
      { pods: [victim('PreemptionByScheduler')], isFinal: true },
      undefined,
    ],
    ['a victim that is ending', { pods: [victim('PreemptionByScheduler')], isFinal: false }, WAITS],
    [
      'a Pod that is ending for another reason',
      {
        pods: [victim('EvictionByEvictionAPI'), pod('p2', 'low', 'none', { metadata: terminating })],
        isFinal: false,
      },
      undefined,
    ],
    [
      'a victim of a higher Pod',
      { pods: [victim('PreemptionByScheduler', 'top')], isFinal: false },
      undefined,
    ],
  ];
  for (const [rule, nominated, expected] of CASES) {
    test(rule, () => assert.equal(preemptionObjection(podOf('p high'), nominated), expected));
  }

  test('the policy Never', () => {
    const never = podOf('p high');
    never.spec.preemptionPolicy = 'Never';
    assert.equal(preemptionObjection(never, undefined), 'not eligible due to preemptionPolicy=Never.');
  });
});

describe('the Pod that has taken the room', () => {
  const taker = (priority: Priority, nominatedNodeName = 'node1') =>
    pod('taker', priority, 'small', { status: { nominatedNodeName } });
  const waiting = podOf('waiting mid small');
  const CASES: [string, Pod, Pod, string | undefined][] = [
    ['a higher Pod with this nominated node', waiting, taker('high'), 'taker'],
    ['an equal Pod', waiting, taker('mid'), undefined],
    ['a higher Pod that found free room', waiting, podOf('taker high small'), undefined],
    ['a higher Pod for another node', waiting, taker('high', 'node2'), undefined],
    ['a Pod that is bound', pod('w', 'mid', 'small', { node: 'node1' }), taker('high'), undefined],
    ['a Pod that exceeds the node', podOf('waiting mid huge'), taker('high'), undefined],
    ['a Pod that fits beside the other', podOf('waiting mid none'), taker('high'), undefined],
  ];
  const nodeOf = (cpu: string) => {
    const node = nodeObject('node1');
    node.status = { ...node.status, allocatable: { cpu, memory: '1000' } };
    return node;
  };
  for (const [rule, pending, other, expected] of CASES) {
    test(rule, () => assert.equal(preemptorOf(pending, nodeOf('150m'), [other])?.metadata.name, expected));
  }

  const bystander = (name: string, facts: PodFacts = {}) => pod(name, 'low', 'small', facts);
  const WITH_OTHERS: [string, Pod[], string | undefined][] = [
    ['capacity that another Pod uses as well', [bystander('b', { node: 'node1' })], undefined],
    [
      'a Pod that is ending',
      [bystander('b', { node: 'node1', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
      'taker',
    ],
    [
      'a lower Pod that is only nominated',
      [bystander('b', { status: { nominatedNodeName: 'node1' } })],
      'taker',
    ],
    ['two preemptors', [{ ...taker('top'), metadata: { name: 'second', uid: 'second' } }], 'taker'],
  ];
  for (const [rule, others, expected] of WITH_OTHERS) {
    test(`beside ${rule}`, () => {
      const found = preemptorOf(waiting, nodeOf('150m'), [taker('high'), ...others]);
      assert.equal(found?.metadata.name, expected);
    });
  }
});
