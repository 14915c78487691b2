/** That each rule on preemption can be broken, and says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { NodeReservations } from '../../../coordinator/controllers/nodes/node-reservations.js';
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import { podKind } from '../../../coordinator/kinds/index.js';
import { conflict } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { after, daemonSet } from '../cases/case-builders.js';
import type { Rank, Step, UserStep } from '../histories/history.js';
import { preemptionRules } from '../rules/preemption-rules.js';
import { isLeaving } from '../rules/stored-truth.js';
import { breakDuring } from './break-during.js';
import { type Proof, violationOf } from './sabotage-proof.js';
import { seeing } from './sabotages.js';

const NODE = 'host-1';

const ranked = (name: string, rank: Rank, cpu: string): UserStep => ({
  ...{ kind: 'create ranked pod', name, node: NODE, rank, cpu, graceSeconds: 2 },
});

/** A DaemonSet whose containers ignore the stop signal, and its rank. */
function daemons(name: string, rank: Rank): Step[] {
  return [
    after(1, daemonSet('app:stubborn', { name, graceSeconds: 30 })),
    after(3, { kind: 'rank daemonset', name, rank, cpu: '1' }),
  ];
}

/** Makes the scheduler check all waiting Pods of the node again. */
const NUDGE: Step[] = [
  after(5, { kind: 'create pod', name: 'bare-1', node: NODE, image: 'app:1' }),
  after(5, { kind: 'replace pod', name: 'bare-1', node: NODE, image: 'app:1' }),
];

const CLASSES = after(1, { kind: 'create classes' });

const seeingPods = (change: (pod: Pod) => Pod) => ({
  wrapCore: seeing(({ informers }) => informers.pods, change),
});

const withPriority = (pod: Pod, priority: number): Pod => ({ ...pod, spec: { ...pod.spec, priority } });

/** Makes the reservations ignore Pods that wait for a node. */
const blindReservations = (check: () => Promise<void>) =>
  breakDuring(
    NodeReservations.prototype,
    {
      nominatedOn: () => [],
      tryReserveNew(this: NodeReservations, pod, nodeName) {
        return this.tryReserve(pod, nodeName);
      },
    },
    check,
  );

/** Makes the coordinator see three CPUs where there are four. */
const smallerNode = seeing(
  ({ informers }: CoordinatorCore) => informers.nodes,
  (node) => ({ ...node, status: { ...node.status, allocatable: { ...node.status?.allocatable, cpu: '3' } } }),
);

interface RuleProof extends Proof {
  rule: RegExp;
}

const PROOFS: RuleProof[] = [
  {
    what: 'a scheduler that preempts Pods of equal priority',
    rule: /a Pod is preempted only for a Pod of higher priority/,
    steps: [CLASSES, ...daemons('alpha', 'high'), after(60, ranked('ranked-1', 'high', '3500m'))],
    sabotage: seeingPods((pod) => (pod.metadata.name.startsWith('alpha') ? withPriority(pod, -1) : pod)),
  },
  {
    what: 'a scheduler that chooses again while a victim is ending',
    rule: /nobody is preempted for a Pod while its earlier victims are ending/,
    steps: [
      ...[CLASSES, ...daemons('alpha', 'low'), ...daemons('beta', 'low')],
      ...[after(60, ranked('ranked-1', 'high', '2500m')), ...NUDGE],
    ],
    sabotage: seeingPods((pod) => (isLeaving(pod) ? withPriority(pod, 1_000_000) : pod)),
  },
  {
    what: 'a scheduler that believes its node to be smaller',
    rule: /without any one of the victims the preemptor would not fit/,
    steps: [CLASSES, ...daemons('alpha', 'low'), after(90, ranked('ranked-1', 'high', '2500m')), ...NUDGE],
    sabotage: { wrapCore: smallerNode },
  },
  {
    what: 'a scheduler that nominates a node for a Pod that does not fit beside a nominated one',
    rule: /without any one of the victims the preemptor would not fit/,
    steps: [
      ...[CLASSES, after(1, ranked('ranked-1', 'low', '1')), after(10, ranked('ranked-2', 'low', '3'))],
      after(90, {
        ...{ kind: 'create rivals', node: NODE, graceSeconds: 2 },
        rivals: [
          { name: 'ranked-3', rank: 'high', cpu: '1' },
          { name: 'ranked-4', rank: 'mid', cpu: '4' },
        ],
      }),
      ...NUDGE,
    ],
    breaking: (check) => breakDuring(NodeReservations.prototype, { reservedAgainst: () => [] }, check),
  },
  {
    what: 'reservations that ignore nominated Pods',
    rule: /a Pod that is bound leaves the room of every nominated Pod of higher priority/,
    steps: [
      ...[CLASSES, ...daemons('alpha', 'low')],
      ...[after(60, ranked('ranked-1', 'high', '3500m')), after(3, ranked('ranked-2', 'low', '1500m'))],
    ],
    breaking: blindReservations,
  },
  {
    what: "a scheduler whose preemptor cannot be bound before the victim's successor",
    rule: /one Pod never preempts a Pod and its successor/,
    steps: [
      ...[CLASSES, ...daemons('alpha', 'low'), after(60, { kind: 'wait' }), ...NUDGE],
      ...[after(1, ranked('ranked-1', 'high', '2500m')), after(60, { kind: 'wait' }), ...NUDGE],
    ],
    breaking: blindReservations,
    // Only with a smaller node does the preemptor not fit beside the successor, which other rules judge.
    sabotage: {
      wrapCore: (core) => {
        const { bind } = core.registry;
        core.registry.bind = (ref, ...others) => {
          if (ref.name === 'ranked-1') throw conflict(podKind, ref.name);
          return bind(ref, ...others);
        };
        return smallerNode(core);
      },
    },
  },
];

describe('rules on preemption find', () => {
  for (const { rule, ...proof } of PROOFS)
    test(proof.what, async () => assert.match(await violationOf(proof), rule));

  test('a fault for every rule on preemption', () => {
    const rules = preemptionRules().flatMap(({ rule }) => rule);
    assert.deepEqual(
      rules.filter((text) => text !== '' && !PROOFS.some(({ rule }) => rule.test(text))),
      [],
    );
  });
});
