/** The plan of one DaemonSet: simulates its rollout and describes the result. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { DaemonSetPlan, PlannedHost } from '../../../shared/kube/fleet/plan-types.js';
import { CHANGING_ACTIONS } from '../../../shared/kube/fleet/plan-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { ROLLOUT_REASON_CODES } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { CurrentRevision } from '../../decisions/daemonsets/daemon-node.js';
import { templateGenerationOf } from '../../decisions/daemonsets/daemon-pod.js';
import { revisionHistory } from '../../decisions/daemonsets/revision-history.js';
import { revisionHashOf } from '../../decisions/daemonsets/template-revision.js';
import { allowsSurge, isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import { confirmSecondsOf, handoverTerms } from '../../decisions/handovers/handover-terms.js';
import { contactOf } from '../../decisions/nodes/node-contact.js';
import { countActions, countReasons, planSentence } from '../../decisions/plan/plan-sentence.js';
import { REASON_CODES } from '../../decisions/reasons/reason-code.js';
import { measurePodTimings } from '../../decisions/rollouts/pod-timings.js';
import { BY_OWNER } from '../../informers/informer.js';
import { semanticallyEqual } from '../../kinds/validation/semantic-equality.js';
import { nodeNamesOf, observeNode, placementOn } from '../daemonsets/daemonset-node-view.js';
import { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import { fleetSettings } from '../host-values/node-template.js';
import { governingPolicy } from '../rollouts/rollout-decision.js';
import type { OverlayInformers, PlanInformers } from './overlay-informers.js';
import { type FirstReason, firstReason, maxOf, plannedHosts, plannedWaves } from './planned-hosts.js';
import { plannedVariants } from './planned-variants.js';
import { simulateRollout } from './rollout-simulation.js';
import { type RolloutStrategy, UpstreamStrategy } from './rollout-strategy.js';
import { type InitialHost, SimulatedHosts, type SimulatedHostsOptions } from './simulated-hosts.js';
import { SimulationTimeline } from './simulation-timeline.js';
import { templateRefusals } from './template-refusals.js';
import { WaveStrategy, type WaveStrategyOptions } from './wave-strategy.js';

interface PlanSubject {
  /** Absent if the apply creates it. */
  before?: DaemonSet | undefined;
  after: DaemonSet;
  overlay: OverlayInformers;
  informers: PlanInformers;
  clock: Clock;
  /** Returns why a create of this Pod would be refused now, or undefined. */
  refusalOf(pod: Pod): Promise<string | undefined>;
}

/** Visits every node, and each once more for every change, in time slices. */
export async function planDaemonSet(subject: PlanSubject): Promise<DaemonSetPlan> {
  const { before, after, clock, informers } = subject;
  const slice = new TimeSlice(clock);
  const current = currentOf(after, informers);
  const befores = await hostsBefore(subject, current, slice);
  const { uid = '', generation = 0 } = after.metadata;
  const timeline = new SimulationTimeline(clock.now());
  const started = timeline.now;
  const pace = measurePodTimings(informers.pods.indexed(BY_OWNER, uid));
  const { updateStrategy } = after.spec;
  const policy = isRollingUpdate(updateStrategy)
    ? governingPolicy(after, subject.overlay.policiesIn(after.metadata.namespace ?? ''))
    : undefined;
  const values = policy && fleetSettings(subject.overlay.nodeReader, after);
  const governed = values === undefined ? current : { ...current, values };
  const tally = new DaemonSetTally({ uid, generation, current: governed });
  const names = befores.map(({ name }) => name);
  const checked = { reader: subject.overlay.nodeReader, daemonSet: after, hash: current.hash };
  const refusals = await templateRefusals({ ...checked, refusalOf: subject.refusalOf }, names);
  const parts = { daemonSet: after, current, tally, timeline, pace };
  const hosts = new SimulatedHosts({
    ...{ ...parts, hosts: befores, isRefused: refusals.isRefused },
    ...handoversBy(policy, subject, timeline.now),
  });
  const strategy: RolloutStrategy = policy
    ? waveStrategy(subject, policy, { tally, timeline, pace, slice })
    : new UpstreamStrategy(after, tally);
  const reasons = new Map<string, FirstReason>();
  await simulateRollout({
    ...{ tally, hosts, names, timeline, strategy, slice },
    started: () => {
      for (const host of befores) {
        const hostState = hosts.hostState(host.name);
        const node = subject.overlay.nodeReader.nodes.get({ name: host.name });
        if (hostState) reasons.set(host.name, firstReason(host, hostState, node, after, strategy));
      }
    },
  });
  const planned = plannedHosts(befores, hosts, { reasons, strategy, started });
  const kept = keptText(befores);
  const previous = before && currentOf(before, informers).hash;
  const summary = summaryOf(subject, {
    befores,
    planned,
    strategy,
    policy,
    refusal: refusals.first,
    current,
    previous,
  });
  return {
    ...summary,
    revision: current.hash,
    ...(previous === undefined || previous === current.hash ? {} : { previousRevision: previous }),
    sentence: kept === undefined ? planSentence(summary) : `${planSentence(summary)} ${kept}.`,
    reasons: countReasons(planned, [...new Set<string>([...ROLLOUT_REASON_CODES, ...REASON_CODES])]),
    assumptions: [
      pace.isMeasured
        ? `a Pod takes ${pace.startMs / 1000} s to become ready, like the present Pods`
        : `a Pod takes ${pace.startMs / 1000} s to become ready (assumed: no Pod was measured)`,
      ...strategy.assumptions,
    ],
    ...plannedVariants(subject.overlay.nodeReader, after, planned),
    hosts: planned,
  };
}

interface PlanResult {
  befores: readonly InitialHost[];
  planned: readonly PlannedHost[];
  strategy: RolloutStrategy;
  policy: RolloutPolicy | undefined;
  refusal: string | undefined;
  current: CurrentRevision;
  /** Hash of the template before. */
  previous: string | undefined;
}

function summaryOf(
  { before, after }: PlanSubject,
  { befores, planned, strategy, policy, refusal, current, previous }: PlanResult,
) {
  const ends = planned.flatMap(({ endSeconds }) => endSeconds ?? []);
  const change = changeOf(before, after);
  const isNewTemplate = change === 'Create' || (previous !== undefined && previous !== current.hash);
  const blockedBy =
    obstacleTo(planned, refusal, isNewTemplate) ??
    unresolvedText(befores) ??
    (isChanging(planned) ? strategy.stopReason() : undefined);
  const { namespace = '', name } = after.metadata;
  return {
    ...{ namespace, name, change },
    counts: countActions(planned),
    waves: plannedWaves(strategy, planned),
    ...(ends.length > 0 ? { endSeconds: maxOf(ends) } : {}),
    ...(policy ? { policy: policy.metadata.name } : {}),
    ...(blockedBy === undefined ? {} : { blockedBy }),
  };
}

/** Describes hosts whose Pod cannot be made: a value is missing, or objects contradict each other. */
function unresolvedText(hosts: readonly InitialHost[]): string | undefined {
  const eligible = hosts.filter(({ shouldRun, isEligibleOnReturn }) => shouldRun || isEligibleOnReturn);
  return lackingText(eligible, ['host gets no new Pod', 'hosts get no new Pod']);
}

/** Describes hosts that keep an outdated Pod despite a taint. The rollout completes without them. */
function keptText(hosts: readonly InitialHost[]): string | undefined {
  const kept = hosts.filter(
    ({ shouldRun, isEligibleOnReturn, pods }) =>
      !shouldRun && !isEligibleOnReturn && pods.some(({ terminating }) => !terminating),
  );
  return lackingText(kept, ['tainted host keeps its Pod', 'tainted hosts keep their Pods']);
}

function lackingText(
  hosts: readonly InitialHost[],
  [one, many]: readonly [one: string, many: string],
): string | undefined {
  const unresolved = hosts.filter(({ updateRefusal }) => updateRefusal !== undefined);
  const [first] = unresolved.sort((a, b) => (a.name < b.name ? -1 : 1));
  return first && `${countText(unresolved.length, one, many)}: ${first.updateRefusal}`;
}

function isChanging(hosts: readonly PlannedHost[]): boolean {
  return hosts.some(({ action }) => CHANGING_ACTIONS.includes(action));
}

/** Reports a refusal of a new template even if no host gets a Pod of it now. */
function obstacleTo(
  hosts: readonly PlannedHost[],
  refusal: string | undefined,
  isNewTemplate: boolean,
): string | undefined {
  if (refusal === undefined) return undefined;
  const isMet = isNewTemplate || hosts.some(({ code }) => code === 'FailedCreate');
  return isMet ? `the API refuses its Pods: ${refusal}` : undefined;
}

/** Returns which hosts replace their Pods themselves, and how long each watches its new Pod. */
function handoversBy(
  policy: RolloutPolicy | undefined,
  { after, overlay }: PlanSubject,
  now: number,
): Pick<SimulatedHostsOptions, 'confirmMs' | 'isHandover'> {
  if (!policy || allowsSurge(after.spec.updateStrategy)) return { confirmMs: 0, isHandover: () => false };
  const termsFor = handoverTerms(policy.spec, undefined, now);
  const labelsOf = (name: string) => overlay.nodeReader.nodes.get({ name })?.metadata.labels;
  return {
    confirmMs: confirmSecondsOf(policy.spec) * 1000,
    isHandover: (name) => termsFor({ name, labels: labelsOf(name) }) !== undefined,
  };
}

function waveStrategy(
  { after, overlay, informers }: PlanSubject,
  policy: RolloutPolicy,
  parts: Pick<WaveStrategyOptions, 'tally' | 'timeline' | 'pace' | 'slice'>,
): WaveStrategy {
  const { namespace = '', name, uid = '' } = after.metadata;
  const nodes = [...overlay.nodeReader.nodes.list()];
  return new WaveStrategy({
    ...parts,
    ...{ daemonSet: after, policy },
    rollout: informers.rollouts.get({ namespace, name }),
    revisions: informers.controllerRevisions.indexed(BY_OWNER, uid),
    pods: informers.pods.indexed(BY_OWNER, uid),
    nodeOf: (node) => overlay.nodeReader.nodes.get({ name: node }),
    fleetSize: nodes.length,
  });
}

function currentOf(daemonSet: DaemonSet, { controllerRevisions }: PlanInformers): CurrentRevision {
  const owned = controllerRevisions.indexed(BY_OWNER, daemonSet.metadata.uid ?? '');
  return {
    hash: revisionHashOf(revisionHistory(daemonSet, owned).current.revision),
    templateGeneration: templateGenerationOf(daemonSet),
  };
}

async function hostsBefore(
  { after, overlay }: PlanSubject,
  current: CurrentRevision,
  slice: TimeSlice,
): Promise<InitialHost[]> {
  const { nodeReader: places } = overlay;
  const hosts: InitialHost[] = [];
  for (const name of nodeNamesOf(places, after)) {
    const node = places.nodes.get({ name });
    hosts.push({
      ...observeNode(places, after, current, name).node,
      contact: node ? contactOf(node) : 'here',
      pinnedTo: (other) => placementOn(node, after, other),
    });
    await slice.yieldIfUsedUp();
  }
  return hosts;
}

function changeOf(before: DaemonSet | undefined, after: DaemonSet): DaemonSetPlan['change'] {
  if (!before) return 'Create';
  const isSame =
    semanticallyEqual(before.spec, after.spec) &&
    semanticallyEqual(before.metadata.labels, after.metadata.labels);
  return isSame ? 'None' : 'Update';
}
