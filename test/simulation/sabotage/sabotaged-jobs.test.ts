/** That each rule on DaemonJobs can be broken, and says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import { daemonJobKind, daemonJobResultKind, podKind } from '../../../coordinator/kinds/index.js';
import type { DaemonJobSpec, DaemonJobStatus } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { after, job } from '../cases/case-builders.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { jobRules } from '../rules/job-rules.js';
import { type Proof, violationOf } from './sabotage-proof.js';
import { seeing } from './sabotages.js';

interface RuleProof extends Proof {
  rule: RegExp;
}

/** Makes the coordinator read DaemonJobs differently. */
const seeingJobs = (change: Partial<DaemonJobSpec>): Sabotage => ({
  wrapCore: seeing(
    ({ informers }) => informers.daemonJobs,
    (each) => ({ ...each, spec: { ...each.spec, ...change } }),
  ),
});

/** Does something after each object of a kind that the coordinator has created, or changes the object before. */
function creating(
  resource: string,
  {
    before,
    afterwards,
  }: { before?: (object: KubeObject) => void; afterwards?: (core: CoordinatorCore) => Promise<unknown> },
): Sabotage {
  return {
    wrapCore: (core) => {
      const { create } = core.registry;
      core.registry.create = async (kind, namespace, object, options) => {
        const isMeant = kind.resource === resource;
        if (isMeant) before?.(object as KubeObject);
        const made = await create(kind, namespace, object, options);
        if (isMeant) await afterwards?.(core);
        return made;
      };
      return core;
    },
  };
}

/** Writes one host too many into each status. */
const miscounting: Sabotage = {
  wrapCore: (core) => {
    const { writeStatus } = core.registry;
    core.registry.writeStatus = (kind, ref, change, preconditions) =>
      writeStatus(
        kind,
        ref,
        (object) => {
          const status = change(object) as DaemonJobStatus | undefined;
          if (kind.resource !== daemonJobKind.resource || !status) return status as ReturnType<typeof change>;
          return { ...status, hosts: (status.hosts ?? 0) + 1 } as ReturnType<typeof change>;
        },
        preconditions,
      );
    return core;
  },
};

/** Hides a host from whoever lists the Nodes. */
const hidingHost: Sabotage = {
  wrapCore: (core) => {
    const { nodes } = core.informers;
    const { list } = nodes;
    nodes.list = () => [...list.call(nodes)].filter(({ metadata }) => metadata.name !== 'host-2');
    return core;
  },
};

const PROOFS: RuleProof[] = [
  {
    what: 'a controller that reads a success as a failure',
    rule: /a host never starts a DaemonJob again after it succeeded there/,
    steps: [after(1, job('job:short')), after(60, { kind: 'wait' })],
    sabotage: {
      wrapCore: seeing(
        ({ informers }) => informers.pods,
        ({ status, ...pod }) => ({
          ...pod,
          ...(status && {
            status: { ...status, phase: status.phase === 'Succeeded' ? 'Failed' : status.phase },
          }),
        }),
      ),
    },
  },
  {
    what: 'a controller that tries again with AtMostOnce',
    rule: /with AtMostOnce no other one of its run does on its host: .* of the same run/,
    steps: [after(1, job('job:fails', { retry: 'AtMostOnce' })), after(60, { kind: 'wait' })],
    sabotage: seeingJobs({ backoffLimit: 3 }),
  },
  {
    what: 'a controller that ignores that a job is suspended',
    rule: /a suspended or ended DaemonJob makes no Pod/,
    steps: [
      after(1, job('job:short', { isSuspended: true, untilSeconds: 400 })),
      after(45, { kind: 'add host', index: 2 }),
    ],
    sabotage: seeingJobs({ suspend: false }),
  },
  {
    what: 'a controller that ignores the parallelism',
    rule: /a DaemonJob runs on no more hosts at once than its parallelism/,
    nodes: 3,
    steps: [after(40, job('job:long', { parallelism: 1 }))],
    sabotage: seeingJobs({ parallelism: '100%' }),
  },
  {
    what: 'a controller whose Pods leave the store before they are counted',
    rule: /the end of a Pod of a DaemonJob is in the result of its host/,
    steps: [
      after(1, job('job:long')),
      after(10, { kind: 'delete pod', node: 'host-1', index: 0, force: true }),
    ],
    sabotage: creating(podKind.resource, { before: ({ metadata }) => delete metadata.finalizers }),
  },
  {
    what: 'a coordinator that deletes a result',
    rule: /the result of a host never loses a success or an attempt/,
    steps: [after(1, job('job:short'))],
    sabotage: creating(daemonJobResultKind.resource, {
      afterwards: (core) =>
        core.registry.delete(daemonJobResultKind, { namespace: 'default', name: 'sweep.host-1' }, {}),
    }),
  },
  {
    what: 'a controller that counts a host too many',
    rule: /the counts of a DaemonJob add up to its hosts/,
    steps: [after(1, job('job:short'))],
    sabotage: miscounting,
  },
  {
    what: 'a controller that forgets a host',
    rule: /a DaemonJob ends when each of its hosts has succeeded.*host-2 has no result with a reason/,
    nodes: 2,
    steps: [after(5, job('job:long')), after(60, { kind: 'wait' })],
    sabotage: hidingHost,
  },
];

describe('rules on DaemonJobs find', () => {
  const shown = new Set<string>();
  const rules = jobRules().flatMap(({ rule }) => (rule === '' ? [] : rule));
  for (const { rule, ...proof } of PROOFS)
    test(proof.what, async () => {
      const violation = await violationOf(proof);
      assert.match(violation, rule);
      for (const each of rules) if (violation.startsWith(each)) shown.add(each);
    });

  test('a fault for every rule on DaemonJobs', () => {
    assert.deepEqual(
      rules.filter((rule) => !shown.has(rule)),
      [],
    );
  });
});
