/** People who steer rollouts: the policy of a history, and what they ask of single Rollouts. */
import { daemonSetKind, podKind, rolloutKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { DAEMON_JOB_LABEL } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { REVERTED_CONDITION } from '../../../shared/kube/handovers/host-handover.js';
import { isNotFound } from '../../../shared/kube/objects/api-status.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { controllerOf, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { steeringAnnotation } from '../../../shared/kube/rollouts/steering-requests.js';
import type { AcknowledgedWrite } from '../rules/invariants.js';
import { changed, created, deleted, type Request, refOf, type UserDeps } from './api-request-steps.js';
import type { HandoverRules, Policy, UserStep } from './history.js';
import { POLICY, policySpec, setImage } from './history-manifests.js';

type PolicyStep = Extract<
  UserStep,
  { kind: 'set policy' | 'set host policy' | 'freeze' | 'pause policy' | 'approve wave' | 'delete policy' }
>;

export function policyRequests(step: PolicyStep, parts: UserDeps): Request[] {
  switch (step.kind) {
    case 'set policy':
      return [(registry) => setPolicy(registry, step.policy)];
    case 'set host policy':
      return [(registry) => setPolicy(registry, step.policy, step.turns)];
    case 'freeze':
      return [
        (registry) =>
          changed(registry, rolloutPolicyKind, refOf(POLICY), ({ spec }) => {
            const now = parts.now();
            const to = toTimestamp(now + step.forSeconds * 1_000);
            spec.freezes = [{ from: toTimestamp(now), to }];
          }),
      ];
    case 'pause policy':
      return [
        (registry) =>
          changed(registry, rolloutPolicyKind, refOf(POLICY), ({ spec }) => {
            spec.paused = step.isPaused;
          }),
      ];
    case 'approve wave':
      return [
        (registry) =>
          changed(registry, rolloutKind, refOf(step.name), ({ metadata }) => {
            metadata.annotations = { ...metadata.annotations, [steeringAnnotation('approve')]: step.wave };
          }),
      ];
    case 'delete policy':
      return [(registry) => deleted(registry, rolloutPolicyKind, refOf(POLICY), parts, {})];
  }
}

/** Returns the requests after which a policy no longer delays a rollout, except for failing hosts. */
export function repairPolicy({ stored: truth }: UserDeps): Request[] {
  if (!truth.policy) return [];
  return [
    (registry) =>
      changed(registry, rolloutPolicyKind, refOf(POLICY), ({ spec }) => {
        delete spec.paused;
        delete spec.freezes;
        for (const wave of spec.waves ?? []) delete wave.approval;
      }),
  ];
}

/**
 * A reverted Pod is only replaced by a rollout. A terminal Pod without an owner is not replaced at all. An orphaned Pod
 * keeps the name that a later DaemonJob needs. The user deletes all of them.
 */
export function repairPods(parts: UserDeps): Request[] {
  const kept = [...parts.stored.pods.values()].filter(
    ({ metadata, status }) =>
      isConditionTrue(status?.conditions, REVERTED_CONDITION) ||
      (!controllerOf(metadata) &&
        (status?.phase === 'Failed' || metadata.labels?.[DAEMON_JOB_LABEL] !== undefined)),
  );
  return kept.map(
    ({ metadata }) =>
      (registry) =>
        deleted(registry, podKind, refOf(metadata.name), parts, {}),
  );
}

/** A revision that has failed is not tried again, and one that failed on all hosts of a wave goes no further: another takes its place. */
export function repairRollouts({ stored: truth }: UserDeps): Request[] {
  const stuck = [...truth.rollouts.values()].filter(
    ({ status }) => status?.failure !== undefined || status?.phase === 'AwaitingHosts',
  );
  return stuck.map(
    ({ metadata }) =>
      (registry) =>
        changed(registry, daemonSetKind, refOf(metadata.name), ({ spec }) => {
          const isFirst = spec.template.spec.containers[0]?.image === 'app:1';
          setImage(spec, isFirst ? 'app:2' : 'app:1');
        }),
  );
}

/** As `kubectl apply`. */
async function setPolicy(
  registry: Registry,
  policy: Policy,
  turns?: HandoverRules,
): Promise<AcknowledgedWrite[]> {
  const spec = policySpec(policy, turns);
  try {
    return await changed(registry, rolloutPolicyKind, refOf(POLICY), (present) => {
      present.spec = spec;
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return created(registry, rolloutPolicyKind, { metadata: { name: POLICY }, spec });
  }
}
