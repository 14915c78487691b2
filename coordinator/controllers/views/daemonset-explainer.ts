/** Explains why a DaemonSet does or does not run on nodes (`Explain` of the API), from informers. Writes nothing. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import { type ObjectRef, type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { CurrentRevision } from '../../decisions/daemonsets/daemon-node.js';
import { templateGenerationOf } from '../../decisions/daemonsets/daemon-pod.js';
import { revisionHistory } from '../../decisions/daemonsets/revision-history.js';
import { revisionHashOf } from '../../decisions/daemonsets/template-revision.js';
import { explainPlacement, type RuleResult } from '../../decisions/placement/placement-explanation.js';
import {
  type CreateRefusal,
  type NodeRolloutStatus,
  REASON_CODES,
  type Reason,
  type ReasonCode,
  reasonFor,
} from '../../decisions/reasons/reason-code.js';
import { fleetSentence, reasonSentence } from '../../decisions/reasons/reason-sentence.js';
import { BY_OWNER, type Informers } from '../../informers/informer.js';
import { daemonSetKind, nodeKind, rolloutKind } from '../../kinds/index.js';
import type { CreateRefusals } from '../daemonsets/create-refusals.js';
import { nodeNamesOf, podsOnNode } from '../daemonsets/daemonset-node-view.js';
import type { ActiveRollouts } from '../rollouts/rollout-constraints.js';

/** The reason for one node. `rules`: [] if there is no Node object. */
interface NodeAnswer {
  code: ReasonCode;
  sentence: string;
  rules: RuleResult[];
  pod?: string;
  failedCreate?: FailedCreate;
  /** Set if a policy governs the DaemonSet. */
  rollout?: { code: RolloutReasonCode; wave: string };
}

/** The reasons for the whole fleet. Each node has exactly one code. Codes without nodes are omitted. */
interface FleetAnswer {
  sentence: string;
  total: number;
  reasons: { code: ReasonCode; count: number; nodes: string[] }[];
  failedCreate?: FailedCreate;
}

/** Refused creates of Pods, as counted by the Event of this reason. */
interface FailedCreate {
  message: string;
  count: number;
  firstTime: Timestamp;
  lastTime: Timestamp;
}

/** Filter and page of a rollout's hosts. */
interface HostsWish {
  codes: readonly string[];
  wave?: string;
  after?: string;
  limit: number;
}

/** One page of a rollout's hosts, by name. */
interface HostList {
  total: number;
  hosts: { node: string; code: RolloutReasonCode; wave: string; sentence: string }[];
  continue?: string;
}

function isMeant({ code, wave }: NodeRolloutStatus, wish: HostsWish): boolean {
  return (
    (wish.codes.length === 0 || wish.codes.includes(code)) && (wish.wave === undefined || wish.wave === wave)
  );
}

interface ExplainerParts {
  informers: Pick<Informers, 'pods' | 'nodes' | 'daemonSets' | 'controllerRevisions'>;
  clock: Clock;
  rollouts: Pick<ActiveRollouts, 'nodeStatus' | 'rolloutOf'>;
  refusals: Pick<CreateRefusals, 'of'>;
}

/** A DaemonSet, with data that is the same for all nodes. */
interface Subject {
  daemonSet: DaemonSet;
  matcher: Matcher;
  current: CurrentRevision;
  refusal: CreateRefusal | undefined;
}

export class DaemonSetExplainer {
  readonly #parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  /**
   * The cost is proportional to the Pods on the node. Throws 404 for an unknown DaemonSet, and for a node that neither
   * exists nor has Pods of it.
   */
  explainNode(ref: ObjectRef, nodeName: string): NodeAnswer {
    const subject = this.#subject(ref);
    const { daemonSet } = subject;
    const node = this.#parts.informers.nodes.get({ name: nodeName });
    const pods = this.#ownedPods(subject, nodeName);
    if (!node && pods.length === 0) throw notFound(nodeKind, nodeName);
    const rollout = this.#parts.rollouts.nodeStatus(ref, nodeName);
    const reason = reasonFor({ ...subject, node, pods, rollout });
    return {
      code: reason.code,
      sentence: sentenceOf(subject, nodeName, reason),
      rules: node ? explainPlacement(node, daemonSet.spec.template.spec) : [],
      ...(reason.pod === undefined ? {} : { pod: reason.pod }),
      ...(reason.code === 'FailedCreate' ? refusalIn(subject) : {}),
      ...(rollout ? { rollout: { code: rollout.code, wave: rollout.wave } } : {}),
    };
  }

  /** Visits all nodes in time slices. Throws 404. */
  async explainFleet(ref: ObjectRef): Promise<FleetAnswer> {
    const subject = this.#subject(ref);
    const slice = new TimeSlice(this.#parts.clock);
    const nodesByCode = new Map<ReasonCode, string[]>(REASON_CODES.map((code) => [code, []]));
    for (const nodeName of nodeNamesOf(this.#parts.informers, subject.daemonSet)) {
      nodesByCode.get(this.#reason(subject, nodeName).code)?.push(nodeName);
      await slice.yieldIfUsedUp();
    }
    const reasons = [...nodesByCode]
      .filter(([, nodes]) => nodes.length > 0)
      .map(([code, nodes]) => ({ code, count: nodes.length, nodes: nodes.sort() }));
    const { namespace = '', name } = subject.daemonSet.metadata;
    return {
      sentence: fleetSentence({ namespace, daemonSet: name }, reasons, subject.refusal),
      total: reasons.reduce((sum, { count }) => sum + count, 0),
      reasons,
      ...refusalIn(subject),
    };
  }

  /** Visits all nodes in time slices, and makes sentences for one page. Throws 404. */
  async rolloutHosts(ref: ObjectRef, wish: HostsWish): Promise<HostList> {
    const subject = this.#subject(ref);
    const posted = this.#parts.rollouts.rolloutOf(ref);
    if (!posted) throw notFound(rolloutKind, ref.name);
    const slice = new TimeSlice(this.#parts.clock);
    const found: { node: string; stance: NodeRolloutStatus }[] = [];
    for (const node of nodeNamesOf(this.#parts.informers, subject.daemonSet)) {
      const stance = posted.stanceOf(node);
      if (isMeant(stance, wish)) found.push({ node, stance });
      await slice.yieldIfUsedUp();
    }
    found.sort((a, b) => (a.node < b.node ? -1 : 1));
    const left = wish.after === undefined ? found : found.filter(({ node }) => node > (wish.after ?? ''));
    const page = left.slice(0, wish.limit);
    const last = page.at(-1);
    return {
      total: found.length,
      hosts: page.map(({ node, stance: { code, wave } }) => {
        return { node, code, wave, sentence: sentenceOf(subject, node, this.#reason(subject, node)) };
      }),
      ...(last && left.length > page.length ? { continue: last.node } : {}),
    };
  }

  #subject(ref: ObjectRef): Subject {
    const { daemonSets, controllerRevisions } = this.#parts.informers;
    const daemonSet = daemonSets.get(ref);
    if (!daemonSet) throw notFound(daemonSetKind, ref.name);
    const owned = controllerRevisions.indexed(BY_OWNER, daemonSet.metadata.uid ?? '');
    const { current } = revisionHistory(daemonSet, owned);
    return {
      daemonSet,
      matcher: compileLabelSelector(daemonSet.spec.selector),
      current: {
        hash: current.kind === 'keep' ? revisionHashOf(current.revision) : '',
        templateGeneration: templateGenerationOf(daemonSet),
      },
      refusal: daemonSet.metadata.deletionTimestamp
        ? undefined
        : this.#parts.refusals.of(daemonSet.metadata.uid ?? ''),
    };
  }

  #ownedPods({ daemonSet, matcher }: Subject, nodeName: string): Pod[] {
    return podsOnNode(this.#parts.informers, daemonSet, matcher, nodeName).owned;
  }

  #reason(subject: Subject, nodeName: string): Reason {
    const node = this.#parts.informers.nodes.get({ name: nodeName });
    const rollout = this.#parts.rollouts.nodeStatus(subject.daemonSet.metadata, nodeName);
    return reasonFor({ ...subject, node, pods: this.#ownedPods(subject, nodeName), rollout });
  }
}

function sentenceOf({ daemonSet }: Subject, node: string, reason: Reason): string {
  const { namespace = '', name } = daemonSet.metadata;
  return reasonSentence(reason, { namespace, daemonSet: name, node });
}

function refusalIn({ refusal }: Subject): { failedCreate?: FailedCreate } {
  if (!refusal) return {};
  const { message, count, firstAt, lastAt } = refusal;
  return {
    failedCreate: { message, count, firstTime: toTimestamp(firstAt), lastTime: toTimestamp(lastAt) },
  };
}
