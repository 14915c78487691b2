/** That each rule can be broken, and says so: a product that is wrong in one place, in a history made for it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { HandoverConfirmations } from '../../../agent/handovers/handover-confirmations.js';
import { ZoneEvictions } from '../../../coordinator/controllers/nodes/zone-evictions.js';
import { RolloutReconciler } from '../../../coordinator/controllers/rollouts/rollout-reconciler.js';
import { NodeObjects } from '../../../coordinator/hub/desired/node-objects.js';
import { daemonSetKind, nodeKind } from '../../../coordinator/kinds/index.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { after, daemonSet, SECOND, setImage } from '../cases/case-builders.js';
import type { HandoverRules, Policy } from '../histories/history.js';
import { Availability } from '../rules/daemonset-availability.js';
import { failoverRules } from '../rules/failover-rules.js';
import { invariants } from '../rules/invariants.js';
import { jobRules } from '../rules/job-rules.js';
import { preemptionRules } from '../rules/preemption-rules.js';
import { valueRules } from '../rules/value-rules.js';
import { WaveHistory } from '../rules/wave-rules.js';
import { breakDuring } from './break-during.js';
import { FAILOVER_PROOFS } from './failover-proofs.js';
import { type Proof, violationOf } from './sabotage-proof.js';
import { editHandoverAnnotation, reading, seeing, seeingPolicy } from './sabotages.js';

const POLICY: Policy = {
  ...{ soakSeconds: 60, approval: 'Automatic', maxFailed: null, deadlineSeconds: 30, action: 'Pause' },
};
const TURNS: HandoverRules = {
  windowSeconds: null,
  confirmSeconds: null,
  lockSeconds: null,
  prePulls: false,
};

interface RuleProof extends Proof {
  rule: RegExp;
}

const PROOFS: RuleProof[] = [
  {
    what: 'a rollout that ignores that its policy is paused',
    rule: /only what is in an open wave.* while the policy is paused/,
    nodes: 2,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: POLICY }),
      after(40, { kind: 'pause policy', isPaused: true }),
      after(60, setImage('app:2')),
    ],
    sabotage: seeingPolicy(({ paused: _, ...spec }) => spec),
  },
  {
    what: 'a rollout that ignores a freeze',
    rule: /only what is in an open wave.* in a freeze/,
    nodes: 2,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: POLICY }),
      after(40, { kind: 'freeze', forSeconds: 120 }),
      after(60, setImage('app:2')),
    ],
    sabotage: seeingPolicy(({ freezes: _, ...spec }) => spec),
  },
  {
    what: 'a rollout that confuses its waves',
    rule: /only what is in an open wave.* its wave is second/,
    nodes: 2,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: POLICY }),
      after(60, setImage('app:2')),
    ],
    sabotage: seeingPolicy(({ waves = [], ...spec }) => {
      const selectors = waves.map(({ nodeSelector }) => nodeSelector).reverse();
      return { ...spec, waves: waves.map((wave, at) => ({ ...wave, nodeSelector: selectors[at] ?? {} })) };
    }),
  },
  {
    what: 'a rollout that ignores closed waves when it creates a missing Pod',
    rule: /not open is of the last completed revision/,
    nodes: 2,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: { ...POLICY, approval: 'Manual' } }),
      after(60, setImage('app:2')),
      after(60, { kind: 'delete pod', node: 'host-2', index: 0, force: true }),
    ],
    breaking: (check) => {
      const { reconcile: step } = RolloutReconciler.prototype;
      const forgetful: RolloutReconciler['reconcile'] = async function (
        this: RolloutReconciler,
        subject,
        policy,
        tally,
        turn,
      ) {
        const { constraints, ...rest } = await step.call(this, subject, policy, tally, turn);
        return { constraints: { ...constraints, pinnedRevision: () => undefined }, ...rest };
      };
      return breakDuring(RolloutReconciler.prototype, { reconcile: forgetful }, check);
    },
  },
  {
    what: 'a rollout that counts no failures',
    rule: /failed on more hosts than its budget allows/,
    nodes: 2,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, {
        kind: 'set policy',
        policy: { ...POLICY, soakSeconds: 0, approval: 'Manual', maxFailed: 0 },
      }),
      after(60, setImage('app:crash')),
      after(90, { kind: 'approve wave', name: 'alpha', wave: 'second' }),
    ],
    sabotage: seeingPolicy(({ failureBudget: _, ...spec }) => spec),
  },
  {
    what: 'a disk that acknowledges a write too early',
    rule: /no acknowledged write is lost/,
    nodes: 1,
    steps: Array.from({ length: 10 }, (_, step) =>
      after(2, { kind: 'label node', node: 'host-1', zone: step % 2 === 0 ? 'a' : 'b' }),
    ),
    sabotage: { isDiskLying: true },
  },
  {
    what: 'a coordinator that treats a running Pod as deleted',
    rule: /a container is stopped only when its Pod was deleted.* nobody asked for that/,
    nodes: 1,
    steps: [after(1, daemonSet('app:1')), after(20, { kind: 'reset connections', node: 'host-1' })],
    breaking: (check) => {
      const { object } = NodeObjects.prototype;
      const blind: NodeObjects['object'] = function (this: NodeObjects, node, uid) {
        const found = object.call(this, node, uid);
        const { status } = (found ?? {}) as Partial<Pod>;
        return status?.phase === 'Running' ? undefined : found;
      };
      return breakDuring(NodeObjects.prototype, { object: blind }, check);
    },
  },
  {
    what: 'a coordinator that deletes a Node when there is a DaemonSet',
    rule: /no object goes that nobody deleted/,
    nodes: 1,
    steps: [after(1, daemonSet('app:1'))],
    sabotage: {
      wrapCore: (core) => {
        const { create } = core.registry;
        core.registry.create = async (kind, namespace, object, options) => {
          if (kind.resource === daemonSetKind.resource)
            await core.registry.delete(nodeKind, { name: 'host-1' }, {});
          return create(kind, namespace, object, options);
        };
        return core;
      },
    },
  },
  {
    what: 'a coordinator that ignores tolerationSeconds',
    rule: /a taint drives no Pod out for as long as that tolerates it/,
    nodes: 1,
    steps: [
      after(1, { kind: 'create tolerant pod', name: 'bare-1', node: 'host-1', image: 'app:1', seconds: 60 }),
      after(60, { kind: 'taint node', node: 'host-1', effect: 'NoExecute' }),
    ],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.pods,
        (pod) => ({
          ...pod,
          spec: {
            ...pod.spec,
            tolerations: pod.spec.tolerations?.map((each) => ({ ...each, tolerationSeconds: 0 })) ?? [],
          },
        }),
      ),
    },
  },
  {
    what: 'a coordinator that evicts Pods while all hosts are unreachable',
    rule: /while no node at all is Ready, none is emptied for its silence/,
    nodes: 2,
    steps: [
      after(1, { kind: 'create tolerant pod', name: 'bare-1', node: 'host-1', image: 'app:1', seconds: 60 }),
      after(20, { kind: 'cut zone', zone: null, forMs: 240 * SECOND }),
      after(250, { kind: 'wait' }),
    ],
    breaking: (check) => {
      const { changed } = ZoneEvictions.prototype;
      const told = new WeakSet<ZoneEvictions>();
      const hopeful: ZoneEvictions['changed'] = function (this: ZoneEvictions, previous, current) {
        // Somewhere there is always a node that is well.
        if (!told.has(this)) changed.call(this, undefined, { zone: 'nowhere', isReady: true });
        told.add(this);
        changed.call(this, previous, current);
      };
      return breakDuring(ZoneEvictions.prototype, { changed: hopeful }, check);
    },
  },
  {
    what: 'a coordinator that sends handovers without the windows of the policy',
    rule: /only in the hours that the policy had then: the turn to .* may begin in/,
    nodes: 1,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, {
        kind: 'set host policy',
        policy: POLICY,
        turns: { ...TURNS, windowSeconds: 60, lockSeconds: 30 },
      }),
      after(100, setImage('app:2')),
    ],
    sabotage: seeingPolicy(({ windows: _, ...spec }) => spec),
  },
  {
    what: 'an agent that replaces a handed-over Pod by a Pod that it created itself',
    rule: /only by a turn that was given.* was not told to/,
    nodes: 1,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: POLICY, turns: { ...TURNS, confirmSeconds: 15 } }),
      after(60, setImage('app:2')),
    ],
    breaking: reading((pod) =>
      editHandoverAnnotation(pod, (text) => {
        const turn = JSON.parse(text);
        turn.successor.metadata.uid = 'of-its-own';
        return JSON.stringify(turn);
      }),
    ),
  },
  {
    what: 'an agent that ignores the update lock of its host',
    rule: /a host that says "not now" has its Pod replaced only when/,
    nodes: 1,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: POLICY, turns: { ...TURNS, lockSeconds: 120 } }),
      after(40, { kind: 'busy host', node: 'host-1', forMs: 150 * SECOND }),
      after(30, setImage('app:2')),
    ],
    breaking: reading((pod) =>
      editHandoverAnnotation(pod, (text) => text.replace(/,?"maxLockSeconds":\d+/, '')),
    ),
  },
  {
    what: 'an agent that ignores that a Pod is ready',
    rule: /a host takes a Pod back only when.* has run well/,
    nodes: 1,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: POLICY, turns: { ...TURNS, confirmSeconds: 60 } }),
      after(60, setImage('app:2')),
    ],
    breaking: (check) =>
      breakDuring(HandoverConfirmations.prototype, { onReadiness: () => undefined }, check),
  },
  {
    what: 'an agent that ignores which Pods belong to one DaemonSet',
    rule: /containers of two Pods of one DaemonSet never run on a node at once/,
    nodes: 1,
    steps: [
      after(1, daemonSet('app:stubborn', { graceSeconds: 30 })),
      after(20, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ],
    breaking: reading(({ metadata: { ownerReferences: _, generateName: __, ...metadata }, ...pod }) => ({
      ...pod,
      metadata: { ...metadata, name: [...metadata.name].reverse().join('') },
    })),
  },
];

/** Shown in `simulation.test.ts`, by histories that are drawn. */
const ELSEWHERE = /while the budget is used up|when its Pod leaves the store|never tells a lie/;

describe('a fault in the product breaks the rule that covers it', () => {
  const shown = new Set<string>();
  const rules = invariants().flatMap(({ rule }) => (rule === '' ? [] : rule));
  /** Their proofs are in files of their own, which check that none is missing. */
  const others = [
    ...[...preemptionRules(), ...failoverRules(), ...jobRules()],
    ...valueRules(new Availability(), new WaveHistory()),
  ];
  const provenElsewhere = new Set(others.flatMap(({ rule }) => rule));
  for (const proof of PROOFS) {
    test(proof.what, async () => {
      const violation = await violationOf(proof);
      assert.match(violation, proof.rule);
      for (const each of rules) if (violation.startsWith(each)) shown.add(each);
    });
  }
  test('there is a proof for every rule', () => {
    assert.deepEqual(
      rules.filter((rule) => !shown.has(rule) && !ELSEWHERE.test(rule) && !provenElsewhere.has(rule)),
      [],
    );
  });
});

test('there is a proof for every rule on failovers, and each proof breaks one of them', () => {
  const rules = failoverRules().map(({ rule }) => rule);
  const proven = FAILOVER_PROOFS.map((proof) => rules.filter((rule) => rule.startsWith(proof.rule)));
  assert.deepEqual(
    proven.map(({ length }) => length),
    proven.map(() => 1),
  );
  assert.deepEqual([...new Set(proven.flat())].sort(), [...rules].sort());
});
