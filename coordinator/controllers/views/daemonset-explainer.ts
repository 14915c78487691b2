/** Explains where a DaemonSet runs and where not. Implements the API's `Explain` from the informers, without writes. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
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
import { type ShownValue, shownSettings } from '../../decisions/host-values/shown-value.js';
import { explainPlacement, type RuleResult } from '../../decisions/placement/placement-explanation.js';
import {
  type CreateRefusal,
  type NodeRolloutStatus,
  REASON_CODES,
  type Reason,
  type ReasonCode,
  type ReasonInput,
  reasonFor,
} from '../../decisions/reasons/reason-code.js';
import { fleetSentence, reasonSentence } from '../../decisions/reasons/reason-sentence.js';
import { BY_OWNER, type Informers } from '../../informers/informer.js';
import { daemonSetKind, nodeKind, rolloutKind } from '../../kinds/index.js';
import type { CreateRefusals } from '../daemonsets/create-refusals.js';
import { currentOn, nodeNamesOf, podsOnNode, preemptorOn } from '../daemonsets/daemonset-node-view.js';
import { nodeTemplate } from '../host-values/node-template.js';
import type { ActiveRollouts } from '../rollouts/rollout-constraints.js';
import { type PodVersion, PodVersions } from './pod-versions.js';

/** The reason for one node. `rules` is [] if the Node does not exist. */
interface NodeAnswer {
  code: ReasonCode;
  sentence: string;
  rules: RuleResult[];
  pod?: string;
  /** Overridden fields and values of the node's Pod. Absent: there are none, or one of them is missing. */
  values?: ShownValue[];
  failedCreate?: FailedCreate;
  /** Present if a policy governs the DaemonSet. */
  rollout?: { code: RolloutReasonCode; wave: string };
}

/** The reasons for the whole fleet. Each node is under exactly one code. Codes without a node are omitted. */
interface FleetAnswer {
  sentence: string;
  total: number;
  reasons: { code: ReasonCode; count: number; nodes: string[] }[];
  versions: PodVersion[];
  failedCreate?: FailedCreate;
}

/** Pods that the API refused to create, counted as in their Event of this reason. */
interface FailedCreate {
  message: string;
  count: number;
  firstTime: Timestamp;
  lastTime: Timestamp;
}

interface HostsFilter {
  codes: readonly string[];
  wave?: string;
  after?: string;
  limit: number;
}

/** One page of a rollout's hosts, sorted by name. */
interface HostList {
  total: number;
  hosts: { node: string; code: RolloutReasonCode; wave: string; sentence: string }[];
  continue?: string;
}

function isSelected({ code, wave }: NodeRolloutStatus, filter: HostsFilter): boolean {
  return (
    (filter.codes.length === 0 || filter.codes.includes(code)) &&
    (filter.wave === undefined || filter.wave === wave)
  );
}

interface DaemonSetExplainerDeps {
  informers: Pick<
    Informers,
    'pods' | 'nodes' | 'daemonSets' | 'controllerRevisions' | 'hostValues' | 'daemonSetOverrides'
  >;
  clock: Clock;
  rollouts: Pick<ActiveRollouts, 'nodeStatus' | 'rolloutOf'>;
  refusals: Pick<CreateRefusals, 'of'>;
}

/** A DaemonSet with the data that is equal for all its nodes. */
interface Subject {
  daemonSet: DaemonSet;
  matcher: Matcher;
  current: CurrentRevision;
  refusal: CreateRefusal | undefined;
}

export class DaemonSetExplainer {
  readonly #deps: DaemonSetExplainerDeps;

  constructor(deps: DaemonSetExplainerDeps) {
    this.#deps = deps;
  }

  /**
   * The cost depends on the number of Pods on the node. Throws 404 if the DaemonSet does not exist, or if the node
   * neither exists nor has Pods of it.
   */
  explainNode(ref: ObjectRef, nodeName: string): NodeAnswer {
    const subject = this.#subject(ref);
    const { daemonSet } = subject;
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    const pods = this.#ownedPods(subject, nodeName);
    if (!node && pods.length === 0) throw notFound(nodeKind, nodeName);
    const rollout = this.#deps.rollouts.nodeStatus(ref, nodeName);
    const preemptor = this.#preemptor(pods, nodeName);
    const reason = reasonFor({
      ...subject,
      ...this.#valuesOf(subject, node),
      node,
      pods,
      rollout,
      preemptor,
    });
    return {
      code: reason.code,
      ...this.#shownValues(subject, node),
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
    const slice = new TimeSlice(this.#deps.clock);
    const nodesByCode = new Map<ReasonCode, string[]>(REASON_CODES.map((code) => [code, []]));
    const versions = new PodVersions();
    for (const nodeName of nodeNamesOf(this.#deps.informers, subject.daemonSet)) {
      const pods = this.#ownedPods(subject, nodeName);
      nodesByCode.get(this.#reason(subject, nodeName, pods).code)?.push(nodeName);
      for (const pod of pods) versions.add(nodeName, pod);
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
      versions: versions.mostFrequentFirst(),
      ...refusalIn(subject),
    };
  }

  /** Visits all nodes in time slices, and builds the sentences of one page. Throws 404. */
  async rolloutHosts(ref: ObjectRef, filter: HostsFilter): Promise<HostList> {
    const subject = this.#subject(ref);
    const posted = this.#deps.rollouts.rolloutOf(ref);
    if (!posted) throw notFound(rolloutKind, ref.name);
    const slice = new TimeSlice(this.#deps.clock);
    const found: { node: string; stance: NodeRolloutStatus }[] = [];
    for (const node of nodeNamesOf(this.#deps.informers, subject.daemonSet)) {
      const stance = posted.stanceOf(node);
      if (isSelected(stance, filter)) found.push({ node, stance });
      await slice.yieldIfUsedUp();
    }
    found.sort((a, b) => (a.node < b.node ? -1 : 1));
    const left = filter.after === undefined ? found : found.filter(({ node }) => node > (filter.after ?? ''));
    const page = left.slice(0, filter.limit);
    const last = page.at(-1);
    return {
      total: found.length,
      hosts: page.map(({ node, stance: { code, wave } }) => {
        const reason = this.#reason(subject, node, this.#ownedPods(subject, node));
        return { node, code, wave, sentence: sentenceOf(subject, node, reason) };
      }),
      ...(last && left.length > page.length ? { continue: last.node } : {}),
    };
  }

  #subject(ref: ObjectRef): Subject {
    const { daemonSets, controllerRevisions } = this.#deps.informers;
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
        : this.#deps.refusals.of(daemonSet.metadata.uid ?? ''),
    };
  }

  #ownedPods({ daemonSet, matcher }: Subject, nodeName: string): Pod[] {
    return podsOnNode(this.#deps.informers, daemonSet, matcher, nodeName).owned;
  }

  #preemptor(pods: readonly Pod[], nodeName: string): Pod | undefined {
    const [unbound] = pods.filter(({ spec, metadata }) => !spec.nodeName && !metadata.deletionTimestamp);
    return unbound && preemptorOn(this.#deps.informers, nodeName, unbound);
  }

  #reason(subject: Subject, nodeName: string, pods: readonly Pod[]): Reason {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    const rollout = this.#deps.rollouts.nodeStatus(subject.daemonSet.metadata, nodeName);
    const preemptor = this.#preemptor(pods, nodeName);
    return reasonFor({ ...subject, ...this.#valuesOf(subject, node), node, pods, rollout, preemptor });
  }

  /** Returns the revision with the node's values, and the refusal of values that cannot be rendered. */
  #valuesOf(
    { daemonSet, current }: Subject,
    node: Node | undefined,
  ): Pick<ReasonInput, 'current' | 'refusedValues'> {
    const { own, updateRefusal } = currentOn(this.#deps.informers, daemonSet, current, node);
    return { current: own, refusedValues: updateRefusal };
  }

  #shownValues({ daemonSet }: Subject, node: Node | undefined): Pick<NodeAnswer, 'values'> {
    const made = node && nodeTemplate(this.#deps.informers, daemonSet, node);
    const shown = made?.kind === 'resolved' ? shownSettings(made) : [];
    return shown.length > 0 ? { values: shown } : {};
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
