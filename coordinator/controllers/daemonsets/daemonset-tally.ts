/** The running count of one DaemonSet: a small record per node, summed, so that no event costs a walk over the fleet. */
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

/** What the fleet step lets a node do: a new Pod beside the old one, the old one replaced, the new one deleted, or a host's turn taken back. */
export type NodeAction = 'create' | 'replace' | 'revert' | 'withdraw';

/** A turn, and whether the node was covered when it was given: a Pod that was of no use goes whatever the budget, if it still is. */
export interface OrderedAction {
  action: NodeAction;
  wasCovered: boolean;
}

/** What is summed. */
const SHARES = ['desired', 'current', 'misscheduled', 'ready', 'available', 'updated'] as const;

/** For what a tally was counted: when this changes, all is counted anew. */
export interface TallySubject {
  uid: string;
  /** metadata.generation of the DaemonSet. */
  generation: number;
  current: CurrentRevision;
}

/** Hears where a node stands whenever that changes; undefined for a node that has no part in the update any more. */
type TallyFollower = (
  name: string,
  situation: NodeUpdateState | undefined,
  record: NodeRecord | undefined,
) => void;

/**
 * Records are replaced whole, so the sums cannot drift. A node where something happened or was ordered counts as under
 * way until it was looked at again: the rolling update never spends the same budget twice.
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
  /** Memory of failed Pods by node. */
  readonly backoffs = new Map<string, FailedPodBackoff>();
  /** Since when nodes have no room for the Pod that their host was to put in the old one's place, ms. */
  readonly lackingCapacitySince = new Map<string, number>();
  /** Every node has been counted: sums and status may be believed. */
  isComplete = false;
  #covered = 0;
  readonly #records = new Map<string, NodeRecord>();
  readonly #underWay = new Set<string>();
  readonly #turns = new Map<string, OrderedAction>();
  readonly #still = new Set<string>();
  /** How many nodes carry Pods of each revision. */
  readonly #hashes = new Map<string, number>();

  #follower: TallyFollower | undefined;

  constructor(subject: TallySubject) {
    this.subject = subject;
    const empty = NODE_UPDATE_STATES.map((situation) => [situation, new Set<string>()]);
    this.nodes = Object.fromEntries(empty);
  }

  get desired(): number {
    return this.counts.desired;
  }

  get covered(): number {
    return this.#covered;
  }

  /** Revisions that some Pod carries. */
  get carriedHashes(): { has(hash: string): boolean } {
    return this.#hashes;
  }

  /** One at a time: it hears of changes from now on. Undefined: nobody. */
  subscribe(follower: TallyFollower | undefined): void {
    this.#follower = follower;
  }

  /** All nodes that have a part in the update. */
  nodeNames(): Iterable<string> {
    return new Set(Object.values(this.nodes).flatMap((names) => [...names]));
  }

  /** Tells the follower of a node as it stands. */
  notify(name: string): void {
    const record = this.#records.get(name);
    const situation = this.#underWay.has(name) ? 'inProgress' : record?.updateStatus?.state;
    this.#follower?.(name, situation, record);
  }

  /** Takes in what a look at the node found. True when that is news. */
  record(name: string, record: NodeRecord): boolean {
    const before = this.#records.get(name);
    const wasUnderWay = this.#underWay.delete(name);
    this.#count(name, before, -1, wasUnderWay);
    const isEmpty = !record.updateStatus && !record.share.misscheduled && record.hashes.length === 0;
    if (isEmpty) this.#records.delete(name);
    else this.#records.set(name, record);
    this.#count(name, isEmpty ? undefined : record, 1, false);
    this.notify(name);
    return wasUnderWay || !sameJson(before, record);
  }

  /** The node must be looked at before it is trusted again. */
  markInProgress(name: string): void {
    if (this.#underWay.has(name)) return;
    const record = this.#records.get(name);
    this.#count(name, record, -1, false);
    this.#underWay.add(name);
    this.#count(name, record, 1, true);
    this.notify(name);
  }

  /** What was last seen of a node. */
  recordOf(name: string): NodeRecord | undefined {
    return this.#records.get(name);
  }

  /** Whether nothing may be done on the node, though there is something to do: `takeThawed` names it once there may. */
  deferIfFrozen(name: string, { isFrozen }: RolloutConstraints): boolean {
    if (!isFrozen(name)) return false;
    this.#still.add(name);
    return true;
  }

  /** Nodes that were held still and need not be any longer, once. */
  takeUnfrozen({ isFrozen }: RolloutConstraints): string[] {
    const thawed = [...this.#still].filter((name) => !isFrozen(name));
    for (const name of thawed) this.#still.delete(name);
    return thawed;
  }

  orderAction(name: string, turn: NodeAction): void {
    this.markInProgress(name);
    this.#turns.set(name, {
      action: turn,
      wasCovered: this.#records.get(name)?.updateStatus?.covered ?? false,
    });
  }

  /** Nodes whose host has a turn that was not taken back. */
  withdrawableHandovers(): string[] {
    return [...this.nodes.handedOver].filter((name) => !this.recordOf(name)?.handover?.withdrawn);
  }

  /** The turn given to the node, once. */
  takeAction(name: string): OrderedAction | undefined {
    const given = this.#turns.get(name);
    this.#turns.delete(name);
    return given;
  }

  #count(name: string, record: NodeRecord | undefined, sign: 1 | -1, underWay: boolean): void {
    if (underWay) change(this.nodes.inProgress, name, sign);
    if (!record) return;
    for (const key of SHARES) {
      if (record.share[key]) this.counts[key] += sign;
    }
    for (const hash of record.hashes) this.#countHash(hash, sign);
    if (!record.updateStatus || underWay) return;
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
