/**
 * Rollouts by waves, for DaemonSets that a RolloutPolicy governs: keeps the waves' counts, writes the Rollout, and says
 * whose turn it is. What was decided is stored before anybody gets a turn by it.
 */
import { controllerOf, refText } from '../../shared/kube/meta.js';
import type { Node } from '../../shared/kube/node.js';
import {
  APPROVE_ANNOTATION,
  type Rollout,
  type RolloutPolicy,
  type RolloutPolicySpec,
  type RolloutStatus,
} from '../../shared/kube/rollout.js';
import { compileLabelSelector } from '../../shared/kube/selectors.js';
import type { ControllerRevision, DaemonSet } from '../../shared/kube/workload.js';
import { Slice } from '../../shared/process/slice.js';
import { contactOf } from '../decisions/contact.js';
import { daemonSetOwner } from '../decisions/daemon-pod.js';
import { hashOf, templateOf, withTemplate } from '../decisions/revision.js';
import { approvedIn, memoryOf, statusOf } from '../decisions/rollout-status.js';
import { rolloutStep } from '../decisions/rollout-step.js';
import { isRollingUpdate } from '../decisions/update-strategy.js';
import { assignWaves, waveNames } from '../decisions/wave-plan.js';
import { BY_NAMESPACE, BY_OWNER, type ObjectChange } from '../informers/informer.js';
import { rolloutKind } from '../kinds/index.js';
import type { DaemonSetParts } from './daemonset-parts.js';
import { type DaemonSetTally, NOT_HELD_BACK, type OtherRevision } from './daemonset-tally.js';
import { preconditionsOf } from './ownership.js';
import { revertsOf, type Turns, turnsOf } from './rollout-turns.js';
import { RolloutWaves } from './rollout-waves.js';
import type { Turn } from './worker.js';

const DEFAULT_DEADLINE_SECONDS = 600;

/** The waves of one DaemonSet, and for which count and policy they were drawn. */
interface Drawn {
  tally: DaemonSetTally;
  policy: string;
  waves: RolloutWaves;
  key: string;
}

export class Rollouts {
  readonly #parts: DaemonSetParts;
  readonly #drawn = new Map<string, Drawn>();

  /** `moved` hears the key of a DaemonSet whose nodes came or went out of contact. */
  constructor(parts: DaemonSetParts, moved: (fleetKey: string) => void) {
    this.#parts = parts;
    parts.informers.nodes.onChange((change) => this.#contactChanged(change, moved));
  }

  /** The first by name, of those of the namespace that select the DaemonSet. */
  policyOf({ metadata }: DaemonSet): RolloutPolicy | undefined {
    const policies = this.#parts.informers.rolloutPolicies.indexed(BY_NAMESPACE, metadata.namespace ?? '');
    return policies
      .filter((policy) => !policy.metadata.deletionTimestamp)
      .filter((policy) => compileLabelSelector(policy.spec.selector).matches(metadata.labels))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  }

  /** Nothing is kept in memory of the DaemonSet any more. */
  forget({ metadata }: Pick<DaemonSet, 'metadata'>): void {
    const key = refText(metadata);
    this.#drawn.get(key)?.tally.follow(undefined);
    this.#drawn.delete(key);
    this.#parts.rollouts.post(metadata, undefined);
  }

  /** Nothing governs the DaemonSet (any more): upstream's rules hold, and its Rollout, which would not be true, goes. */
  async dismiss(daemonSet: DaemonSet, tally: DaemonSetTally, turn: Turn): Promise<void> {
    this.forget(daemonSet);
    tally.heldBack = NOT_HELD_BACK;
    const rollout = this.#own(daemonSet);
    if (!rollout?.status || rollout.metadata.deletionTimestamp) return;
    const result = await this.#parts.registry.delete(rolloutKind, rollout.metadata, {
      preconditions: preconditionsOf(rollout),
    });
    turn.wrote('deleted' in result ? result.deleted : result.terminating);
  }

  /** Until the waves of a new tally are known, Pods are made of the stable revision, or one might escape its wave. */
  holdBack(daemonSet: DaemonSet, tally: DaemonSetTally): void {
    const { status } = this.#own(daemonSet) ?? {};
    if (!status || !isRollingUpdate(daemonSet.spec.updateStrategy) || !this.policyOf(daemonSet)) return;
    const isCurrent = status.revision === tally.subject.current.hash;
    if (isCurrent && status.completionTime) return;
    const stable = isCurrent || !status.completionTime ? status.stableRevision : status.revision;
    const other = this.#revision(daemonSet, stable);
    tally.heldBack = () => other;
  }

  /** Takes the rollout as far as the policy lets it, and answers whose turn it is. `tally` is whole. */
  async step(daemonSet: DaemonSet, policy: RolloutPolicy, tally: DaemonSetTally, turn: Turn): Promise<Turns> {
    const { clock } = this.#parts;
    const waves = await this.#wavesOf(daemonSet, policy, tally);
    const deadline = waves.expire();
    const rollout = this.#own(daemonSet);
    const counts = waves.counts();
    const verdict = rolloutStep({
      spec: policy.spec,
      revision: tally.subject.current.hash,
      memory: memoryOf(rollout, policy.spec),
      previous: this.#previous(daemonSet, tally.subject.current.hash),
      waves: counts,
      approved: approvedIn(rollout),
      now: clock.now(),
    });
    await this.#store(daemonSet, rollout, statusOf(policy, verdict, counts), turn);
    const stable = this.#revision(daemonSet, verdict.memory.stable);
    const isOpen = (name: string) =>
      verdict.memory.failure === undefined && waves.waveOf(name) <= verdict.memory.wave;
    tally.heldBack = (name) => (isOpen(name) ? undefined : stable);
    const { phase, message } = verdict;
    const names = waveNames(policy.spec.waves ?? []);
    this.#parts.rollouts.post(daemonSet.metadata, (node) => {
      const wave = names[waves.waveOf(node)] ?? '';
      return { phase, message, wave, isOpen: isOpen(node) };
    });
    const next = Math.min(
      deadline ?? Number.POSITIVE_INFINITY,
      verdict.lookAgainAt ?? Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(next)) turn.againAfter(Math.max(0, next - clock.now()));
    return verdict.revert
      ? revertsOf(daemonSet, policy, waves)
      : turnsOf(daemonSet, policy, waves, verdict.openUpTo);
  }

  /** One of a DaemonSet of this name that is gone is for the garbage collector; until then ours cannot be made. */
  #own(daemonSet: DaemonSet): Rollout | undefined {
    const found = this.#parts.informers.rollouts.get(refOf(daemonSet));
    const owner = found && controllerOf(found.metadata);
    return !owner || owner.uid === daemonSet.metadata.uid ? found : undefined;
  }

  #revisions({ metadata }: DaemonSet): readonly ControllerRevision[] {
    return this.#parts.informers.controllerRevisions.indexed(BY_OWNER, metadata.uid ?? '');
  }

  /** Hash of the newest revision but this one. */
  #previous(daemonSet: DaemonSet, hash: string): string | undefined {
    const others = this.#revisions(daemonSet).filter((revision) => hashOf(revision) !== hash);
    const newest = [...others].sort((a, b) => b.revision - a.revision)[0];
    return newest && hashOf(newest);
  }

  #revision(daemonSet: DaemonSet, hash: string | undefined): OtherRevision | undefined {
    const revision = hash && this.#revisions(daemonSet).find((one) => hashOf(one) === hash);
    const template = revision && templateOf(revision);
    return template ? { daemonSet: withTemplate(daemonSet, template), hash } : undefined;
  }

  /** Drawn anew for another count or policy: visits all nodes, in slices. */
  async #wavesOf(daemonSet: DaemonSet, policy: RolloutPolicy, tally: DaemonSetTally): Promise<RolloutWaves> {
    const key = refText(daemonSet.metadata);
    const { uid = '', generation = 0 } = policy.metadata;
    const present = this.#drawn.get(key);
    if (present?.tally === tally && present.policy === `${uid}/${generation}`) return present.waves;
    this.forget(daemonSet);
    const { spec } = policy;
    const { informers, clock } = this.#parts;
    const nodes = [...tally.names()].map((name) => ({
      name,
      labels: informers.nodes.get({ name })?.metadata.labels,
    }));
    const waves = new RolloutWaves({
      plan: assignWaves(nodes, spec.waves ?? [], uid),
      waves: (spec.waves?.length ?? 0) + 1,
      contact: (name) => {
        const node = informers.nodes.get({ name });
        return node ? contactOf(node) : 'here';
      },
      ...deadlineIn(spec),
      now: () => clock.now(),
    });
    tally.follow((name, situation, record) => waves.put(name, situation, record));
    const slice = new Slice(clock);
    for (const { name } of nodes) {
      tally.tell(name);
      await slice.pause();
    }
    this.#drawn.set(key, { tally, policy: `${uid}/${generation}`, waves, key });
    return waves;
  }

  #contactChanged({ previous, current }: ObjectChange<Node>, moved: (fleetKey: string) => void): void {
    if (!previous || !current || contactOf(previous) === contactOf(current)) return;
    for (const { waves, key } of this.#drawn.values()) {
      if (waves.contactChanged(current.metadata.name)) moved(key);
    }
  }

  async #store(
    daemonSet: DaemonSet,
    present: Rollout | undefined,
    status: RolloutStatus,
    turn: Turn,
  ): Promise<void> {
    const { registry, recordRollout } = this.#parts;
    if (present && JSON.stringify(present.status) === JSON.stringify(status)) return;
    const rollout = present ?? (await this.#create(daemonSet));
    const record = await registry.writeStatus(
      rolloutKind,
      rollout.metadata,
      () => status,
      preconditionsOf(rollout),
    );
    turn.wrote(record.object());
    if (rollout.status && rollout.status.wave !== status.wave) await this.#dropApproval(rollout, turn);
    if (rollout.status?.phase === status.phase && rollout.status.wave === status.wave) return;
    const type = status.phase === 'Failed' ? 'Warning' : 'Normal';
    recordRollout(daemonSet, type, `Rollout${status.phase}`, status.message);
  }

  async #create(daemonSet: DaemonSet): Promise<Rollout> {
    const { namespace, name } = daemonSet.metadata;
    const metadata = { name, ownerReferences: [daemonSetOwner(daemonSet)] };
    return (await this.#parts.registry.create(rolloutKind, namespace, { metadata })).object();
  }

  /** It was for one wave of one revision. */
  async #dropApproval(rollout: Rollout, turn: Turn): Promise<void> {
    if (rollout.metadata.annotations?.[APPROVE_ANNOTATION] === undefined) return;
    const record = await this.#parts.registry.modify(rolloutKind, rollout.metadata, ({ metadata }) => {
      delete metadata.annotations?.[APPROVE_ANNOTATION];
      return undefined;
    });
    turn.wrote(record.object());
  }
}

/** Without a budget no host counts as failed: it holds its wave, as upstream. */
function deadlineIn({ failureBudget }: RolloutPolicySpec): { deadlineMs?: number } {
  if (!failureBudget) return {};
  return { deadlineMs: (failureBudget.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS) * 1000 };
}

function refOf({ metadata }: DaemonSet) {
  return { ...(metadata.namespace ? { namespace: metadata.namespace } : {}), name: metadata.name };
}
