/** Counts of one DaemonSet, kept as sums of one record for each node, so that no event has to visit the fleet. */
import type { CurrentRevision } from '../../decisions/daemonsets/daemon-node.js';
import type { StatusCounts } from '../../decisions/daemonsets/daemonset-status.js';
import type { FailedPodBackoff } from '../../decisions/daemonsets/failed-pod-backoff.js';
import type { NodeRecord } from '../../decisions/daemonsets/node-record.js';
import {
  type Fleet,
  NODE_UPDATE_STATES,
  type NodeUpdateState,
} from '../../decisions/daemonsets/rolling-update.js';
import { sameJson } from '../../registry/encoding/json-value.js';
import type { RolloutConstraints } from '../rollouts/rollout-constraints.js';

/**
 * An action that the fleet reconciler orders for a node: create a Pod next to the old one, replace the old one, delete
 * the new one, or withdraw a handover.
 */
export type NodeAction = 'create' | 'replace' | 'revert' | 'withdraw';

/**
 * `wasCovered`: the node had an available Pod when the action was ordered. If it had none and has one now, the action
 * is dropped.
 */
export interface OrderedAction {
  action: NodeAction;
  wasCovered: boolean;
}

const COUNTED = ['desired', 'current', 'misscheduled', 'ready', 'available', 'updated'] as const;

/** The subject of a tally. If it changes, a new tally is started. */
export interface TallySubject {
  uid: string;
  generation: number;
  current: CurrentRevision;
}

/** Called when a node's state changes. `updateState`: undefined for a node that left the update. */
type TallyFollower = (
  name: string,
  updateState: NodeUpdateState | undefined,
  record: NodeRecord | undefined,
) => void;

/**
 * Records are replaced as a whole, so the sums cannot drift. After an event or an ordered action, the node counts as in
 * progress until it is observed again. The rolling update therefore never spends the same budget twice.
 */
export class DaemonSetTally implements Fleet {
  readonly subject: TallySubject;
  readonly counts: StatusCounts = {
    desired: 0,
    current: 0,
    misscheduled: 0,
    ready: 0,
    available: 0,
    updated: 0,
  };
  readonly nodes: Record<NodeUpdateState, Set<string>>;
  /** Back-off for failed Pods, by node. */
  readonly backoffs = new Map<string, FailedPodBackoff>();
  /** Nodes that lack capacity for the successor of a handover, and since when, in ms since the epoch. */
  readonly lackingCapacitySince = new Map<string, number>();
  /** Nodes whose next Pod cannot be rendered, with the message of their last Event. */
  readonly refusedValues = new Map<string, string>();
  /** True when every node has been counted. Before that, sums and status are not valid. */
  isComplete = false;
  #covered = 0;
  readonly #records = new Map<string, NodeRecord>();
  readonly #inProgress = new Set<string>();
  readonly #actions = new Map<string, OrderedAction>();
  readonly #deferred = new Set<string>();
  /** Number of nodes with Pods of each revision. */
  readonly #hashes = new Map<string, number>();

  #follower: TallyFollower | undefined;

  constructor(subject: TallySubject) {
    this.subject = subject;
    const empty = NODE_UPDATE_STATES.map((updateState) => [updateState, new Set<string>()]);
    this.nodes = Object.fromEntries(empty);
  }

  get desired(): number {
    return this.counts.desired;
  }

  get covered(): number {
    return this.#covered;
  }

  /** Revisions of which at least one Pod exists. */
  get carriedHashes(): { has(hash: string): boolean } {
    return this.#hashes;
  }

  /** Replaces the follower, which is called for changes from now on. */
  subscribe(follower: TallyFollower | undefined): void {
    this.#follower = follower;
  }

  /** Names of all nodes that are part of the update. */
  nodeNames(): Iterable<string> {
    return new Set(Object.values(this.nodes).flatMap((names) => [...names]));
  }

  /** Calls the follower with the node's state. */
  notify(name: string): void {
    const record = this.#records.get(name);
    const updateState = this.#inProgress.has(name) ? 'inProgress' : record?.updateStatus?.state;
    this.#follower?.(name, updateState, record);
  }

  /** Replaces the record of a node. Returns true if it changed. */
  record(name: string, record: NodeRecord): boolean {
    const before = this.#records.get(name);
    const wasInProgress = this.#inProgress.delete(name);
    this.#count(name, before, -1, wasInProgress);
    const isEmpty = !record.updateStatus && !record.share.misscheduled && record.hashes.length === 0;
    if (isEmpty) this.#records.delete(name);
    else this.#records.set(name, record);
    this.#count(name, isEmpty ? undefined : record, 1, false);
    this.notify(name);
    return wasInProgress || !sameJson(before, record);
  }

  /** Counts the node as in progress until it is observed again. */
  markInProgress(name: string): void {
    if (this.#inProgress.has(name)) return;
    const record = this.#records.get(name);
    this.#count(name, record, -1, false);
    this.#inProgress.add(name);
    this.#count(name, record, 1, true);
    this.notify(name);
  }

  /** Returns the last observation of a node. */
  recordOf(name: string): NodeRecord | undefined {
    return this.#records.get(name);
  }

  /** Returns true if the node is frozen. `takeUnfrozen` returns its name when it is not frozen any longer. */
  deferIfFrozen(name: string, { isFrozen }: RolloutConstraints): boolean {
    if (!isFrozen(name)) return false;
    this.#deferred.add(name);
    return true;
  }

  /** Returns deferred nodes that are not frozen any longer, each once. */
  takeUnfrozen({ isFrozen }: RolloutConstraints): string[] {
    const unfrozen = [...this.#deferred].filter((name) => !isFrozen(name));
    for (const name of unfrozen) this.#deferred.delete(name);
    return unfrozen;
  }

  orderAction(name: string, action: NodeAction): void {
    this.markInProgress(name);
    this.#actions.set(name, {
      action: action,
      wasCovered: this.#records.get(name)?.updateStatus?.covered ?? false,
    });
  }

  /** Returns nodes whose handover was not withdrawn yet. */
  withdrawableHandovers(): string[] {
    return [...this.nodes.handedOver].filter((name) => !this.recordOf(name)?.handover?.withdrawn);
  }

  /** Returns and removes the action that was ordered for the node. */
  takeAction(name: string): OrderedAction | undefined {
    const given = this.#actions.get(name);
    this.#actions.delete(name);
    return given;
  }

  #count(name: string, record: NodeRecord | undefined, sign: 1 | -1, isInProgress: boolean): void {
    if (isInProgress) change(this.nodes.inProgress, name, sign);
    if (!record) return;
    for (const key of COUNTED) {
      if (record.share[key]) this.counts[key] += sign;
    }
    for (const hash of record.hashes) this.#countHash(hash, sign);
    if (!record.updateStatus || isInProgress) return;
    if (record.updateStatus.covered) this.#covered += sign;
    change(this.nodes[record.updateStatus.state], name, sign);
  }

  #countHash(hash: string, sign: 1 | -1): void {
    const count = (this.#hashes.get(hash) ?? 0) + sign;
    if (count > 0) this.#hashes.set(hash, count);
    else this.#hashes.delete(hash);
  }
}

function change(names: Set<string>, name: string, sign: 1 | -1): void {
  if (sign === 1) names.add(name);
  else names.delete(name);
}
