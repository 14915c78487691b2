/** That each thing which must be at rest can be missed, and is: a product that is wrong in one place, in a history made for it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { Outbox } from '../../../agent/link/outbox.js';
import { PodWorkers } from '../../../agent/pods/pod-workers.js';
import { TerminationBarrier } from '../../../agent/pods/termination-barrier.js';
import { DaemonPodWrites } from '../../../coordinator/controllers/daemonsets/daemon-pod-writes.js';
import { NodeStatusWriter } from '../../../coordinator/hub/reports/node-status-writer.js';
import { PODS_BY_NODE } from '../../../coordinator/informers/informer.js';
import { daemonSetKind, rolloutKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetStatus } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { after, daemonSet, KILLED, SECOND, setImage } from '../cases/case-builders.js';
import type { HandoverRules, Policy, Step } from '../histories/history.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { SETTLED_RULE } from '../rules/rest-rules.js';
import { breakDuring } from './break-during.js';
import { type Proof, violationOf } from './sabotage-proof.js';
import { editHandoverAnnotation, reading, seeing, seeingPolicy } from './sabotages.js';

const POLICY: Policy = {
  ...{ soakSeconds: 0, approval: 'Automatic', maxFailed: null, deadlineSeconds: 30, action: 'Pause' },
};
const TURNS: HandoverRules = {
  windowSeconds: null,
  confirmSeconds: null,
  lockSeconds: null,
  prePulls: false,
};
const BARE: Step = after(1, { kind: 'create pod', name: 'bare-1', node: 'host-1', image: 'app:1' });

interface UnrestProof extends Proof {
  /** The expected unsettled problem. */
  unrest: RegExp;
}

/** Makes the coordinator keep the first value of a figure in a DaemonSet's status. */
function keepingFigure(figure: keyof DaemonSetStatus): Sabotage {
  return {
    wrapCore: (core) => {
      const { writeStatus } = core.registry;
      core.registry.writeStatus = (kind, ref, statusOf, preconditions) =>
        writeStatus(
          kind,
          ref,
          (current) => {
            const status = statusOf(current);
            if (kind.resource !== daemonSetKind.resource || !status) return status;
            const before = (current.status as DaemonSetStatus | undefined)?.[figure];
            return before ? { ...status, [figure]: before } : status;
          },
          preconditions,
        );
      return core;
    },
  };
}

/** One node more belongs to the DaemonSet. */
const GROWING: Step[] = [
  after(1, { kind: 'label node', node: 'host-2', zone: 'b' }),
  after(1, daemonSet('app:1', { selector: 'a' })),
  after(40, { kind: 'label node', node: 'host-2', zone: 'a' }),
];

const FIGURES: UnrestProof[] = (
  [
    'desiredNumberScheduled',
    'currentNumberScheduled',
    'numberReady',
    'numberAvailable',
    'updatedNumberScheduled',
  ] as const
).map((figure) => ({
  what: `a coordinator that counts ${figure} once`,
  unrest: new RegExp(`DaemonSet alpha says ${figure} 1, it is 2`),
  nodes: 2,
  steps: GROWING,
  sabotage: keepingFigure(figure),
}));

const PROOFS: UnrestProof[] = [
  {
    what: 'a coordinator that does not store which hosts are connected',
    unrest: /Node host-1 is not Ready and Connected/,
    steps: [],
    breaking: (check) => breakDuring(NodeStatusWriter.prototype, { write: async () => undefined }, check),
  },
  {
    what: 'a coordinator that ignores the end of pressure',
    unrest: /Node host-1 keeps MemoryPressure/,
    steps: [
      after(20, { kind: 'press host', node: 'host-1', condition: 'MemoryPressure', forMs: 60 * SECOND }),
      after(120, { kind: 'wait' }),
    ],
    breaking: (check) => {
      const { write } = NodeStatusWriter.prototype;
      let pressed = false;
      const deaf: NodeStatusWriter['write'] = function (this: NodeStatusWriter, node, reported) {
        const conditions = reported?.conditions?.map((each) => {
          if (each.type !== 'MemoryPressure') return each;
          pressed ||= each.status === 'True';
          return pressed ? { ...each, status: 'True' as const } : each;
        });
        return write.call(this, node, reported && { ...reported, ...(conditions && { conditions }) });
      };
      return breakDuring(NodeStatusWriter.prototype, { write: deaf }, check);
    },
  },
  {
    what: 'a coordinator that ignores that a Node is cordoned',
    unrest: /Node host-1 is not tainted as unschedulable/,
    steps: [after(20, { kind: 'cordon node', node: 'host-1', isCordoned: true })],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.nodes,
        ({ spec, ...node }) => ({ ...node, spec: { ...spec, unschedulable: false } }),
      ),
    },
  },
  {
    what: 'a coordinator that ignores the taints of a Node',
    unrest: /Node host-1 keeps the taint node.kubernetes.io\/unreachable/,
    steps: [after(20, { kind: 'cut cable', node: 'host-1', forMs: 90 * SECOND })],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.nodes,
        ({ spec: { taints: _, ...spec } = {}, ...node }) => ({ ...node, spec }),
      ),
    },
  },
  {
    what: 'an agent that does not report that a Pod is deleted',
    unrest: /Pod bare-1 is still to be deleted.*bare-1 was deleted, and is there/,
    steps: [BARE, after(20, { kind: 'delete pod', node: 'host-1', index: 0, force: false })],
    breaking: (check) => breakDuring(TerminationBarrier.prototype, { putRemoved: () => undefined }, check),
  },
  {
    what: 'an agent that treats every window as closed',
    unrest: /still has a turn to come/,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set host policy', policy: POLICY, turns: { ...TURNS, windowSeconds: 100 } }),
      after(60, setImage('app:2')),
    ],
    breaking: reading((pod) =>
      editHandoverAnnotation(pod, (text) =>
        JSON.stringify({
          ...JSON.parse(text),
          windows: [{ from: '2020-01-01T00:00:00Z', until: '2020-01-01T01:00:00Z' }],
        }),
      ),
    ),
  },
  {
    what: 'a coordinator that sees a toleration of every taint',
    unrest: /Pod bare-1 stays on host-1 with the taint busy/,
    steps: [BARE, after(20, { kind: 'taint node', node: 'host-1', effect: 'NoExecute' })],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.pods,
        (pod) => ({ ...pod, spec: { ...pod.spec, tolerations: [{ operator: 'Exists' }] } }),
      ),
    },
  },
  {
    what: 'an agent that runs a wrong image',
    unrest: /Pod bare-1 runs \[docker.io\/library\/app:2\] on host-1, wanted \[docker.io\/library\/app:1\]/,
    steps: [BARE],
    breaking: reading((pod) => ({
      ...pod,
      spec: { ...pod.spec, containers: pod.spec.containers.map((each) => ({ ...each, image: 'app:2' })) },
    })),
  },
  {
    what: 'an agent that never reports a Pod as ready',
    unrest: /Pod bare-1 runs on host-1 and is not Ready/,
    steps: [BARE],
    breaking: (check) => {
      const { putPod } = TerminationBarrier.prototype;
      const shy: TerminationBarrier['putPod'] = function (this: TerminationBarrier, report) {
        const conditions = report.status.conditions?.filter(({ type }) => type !== 'Ready') ?? [];
        putPod.call(this, { ...report, status: { ...report.status, conditions } });
      };
      return breakDuring(TerminationBarrier.prototype, { putPod: shy }, check);
    },
  },
  {
    what: 'a coordinator that removes no finalizer',
    unrest: /DaemonSet alpha is still to be deleted/,
    steps: [
      after(1, daemonSet('app:1')),
      after(20, { kind: 'delete daemonset', name: 'alpha', policy: 'Foreground' }),
    ],
    sabotage: {
      wrapCore: (core) => {
        const { modify } = core.registry;
        core.registry.modify = (kind, ref, change, options) =>
          modify(
            kind,
            ref,
            (object) => {
              const { finalizers } = object.metadata;
              const answer = change(object);
              if (kind.resource === daemonSetKind.resource && finalizers)
                object.metadata.finalizers = finalizers;
              return answer;
            },
            options,
          );
        return core;
      },
    },
  },
  {
    what: 'a coordinator that creates no Pod',
    unrest: /alpha on host-1: 0 Pods, wanted 1/,
    steps: [after(1, daemonSet('app:1'))],
    breaking: (check) => breakDuring(DaemonPodWrites.prototype, { create: async () => undefined }, check),
  },
  {
    what: 'a coordinator that finds no Pods on a deleted Node',
    unrest: /Pod bare-1 is on host-1, which is no Node/,
    steps: [BARE, after(20, { kind: 'delete node', node: 'host-1' })],
    sabotage: {
      wrapCore: (core) => {
        const { pods, nodes } = core.informers;
        const { indexed } = pods;
        pods.indexed = (index, value) =>
          index === PODS_BY_NODE && !nodes.get({ name: value }) ? [] : indexed.call(pods, index, value);
        return core;
      },
    },
  },
  {
    what: 'a coordinator that does not report the observed generation',
    unrest: /DaemonSet alpha says observedGeneration 1, it is 2/,
    steps: [after(1, daemonSet('app:1')), after(20, setImage('app:2'))],
    sabotage: keepingFigure('observedGeneration'),
  },
  {
    what: 'a coordinator that treats every DaemonSet as OnDelete',
    unrest: /alpha on host-1: alpha-\w+ is of an older template/,
    steps: [after(1, daemonSet('app:1')), after(20, setImage('app:2'))],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.daemonSets,
        (each) => ({ ...each, spec: { ...each.spec, updateStrategy: { type: 'OnDelete' } } }),
      ),
    },
  },
  {
    what: 'a rollout that never finishes its soak time',
    unrest: /Rollout alpha says Soaking: 1 of 1 updated, 0 failed; wanted 1/,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: POLICY }),
      after(60, setImage('app:2')),
    ],
    sabotage: seeingPolicy(({ waves = [], ...spec }) => ({
      ...spec,
      waves: waves.map((wave) => ({ ...wave, soakSeconds: 1_000_000 })),
    })),
  },
  {
    what: 'a coordinator that ignores the deletion of a policy',
    unrest: /alpha has a Rollout and no policy/,
    steps: [
      after(1, daemonSet('app:1')),
      after(1, { kind: 'set policy', policy: POLICY }),
      after(60, setImage('app:2')),
      after(60, { kind: 'delete policy' }),
    ],
    sabotage: {
      wrapCore: (core) => {
        const right = core.registry.delete;
        core.registry.delete = async (kind, ref, options) =>
          kind.resource === rolloutKind.resource
            ? { object: (await core.registry.get(kind, ref)).object(), isRemoved: true }
            : right(kind, ref, options);
        return core;
      },
    },
  },
  {
    what: 'an agent that does not report orphaned containers',
    unrest: /host-1 has a container of bare-1, which is no Pod of it/,
    steps: [
      BARE,
      after(9, {
        kind: 'kill agent',
        node: 'host-1',
        crashAt: KILLED,
        downMs: 20 * SECOND,
        damagesCache: true,
      }),
      after(12, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ],
    breaking: (check) => breakDuring(PodWorkers.prototype, { orphanedUids: () => [] }, check),
  },
  {
    what: 'an agent that does not report its static Pods',
    unrest: /static Pods of host-1 are shown as \[\], wanted \[static-1-host-1 of app:1\]/,
    steps: [after(1, { kind: 'write manifest', node: 'host-1', name: 'static-1', image: 'app:1' })],
    breaking: (check) => breakDuring(Outbox.prototype, { putMirrors: () => undefined }, check),
  },
  ...FIGURES,
];

describe('a fault that keeps the product from settling is found', () => {
  for (const proof of PROOFS) {
    test(proof.what, async () => {
      const violation = await violationOf(proof);
      assert.ok(violation.startsWith(SETTLED_RULE), violation);
      assert.match(violation, proof.unrest);
    });
  }
});
