/** The waves of one rollout as sets of nodes, kept up by the tally: no event costs more than its own node. */

import type { Contact } from '../decisions/contact.js';
import type { NodeRecord } from '../decisions/node-record.js';
import { type Fleet, SITUATIONS, type Situation } from '../decisions/rolling-update.js';
import { deadlineOf, type Lane, laneOf, type NodeFacts } from '../decisions/rollout-lane.js';
import type { WaveCounts } from '../decisions/rollout-step.js';

/** Lanes whose nodes hold an old Pod. */
const OLD: readonly Lane[] = [
  'oldAvailable',
  'oldUnavailable',
  'pairAvailable',
  'pairUnavailable',
  'deferred',
];

/** Lanes whose nodes hold one of the revision. */
const TOUCHED: readonly Lane[] = [
  'newAvailable',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
  'failed',
];

type Lanes = Record<Lane, Set<string>>;

function emptyLanes(): Lanes {
  const lanes: Lane[] = [...SITUATIONS, 'deferred', 'failed'];
  return Object.fromEntries(lanes.map((lane) => [lane, new Set<string>()])) as Lanes;
}

export interface RolloutWavesOptions {
  /** The wave of each node. One that is not named joins the last. */
  plan: ReadonlyMap<string, number>;
  waves: number;
  contact: (node: string) => Contact;
  /** How long a new Pod may take; absent: no host counts as failed. */
  deadlineMs?: number;
  now: () => number;
}

export class RolloutWaves {
  readonly #options: RolloutWavesOptions;
  readonly #lanes: Lanes[];
  readonly #facts = new Map<string, NodeFacts>();
  readonly #placed = new Map<string, { wave: number; lane: Lane }>();
  /** Nodes whose new Pod is not available yet, and when it will have failed. */
  readonly #deadlines = new Map<string, number>();

  constructor(options: RolloutWavesOptions) {
    this.#options = options;
    this.#lanes = Array.from({ length: options.waves }, emptyLanes);
  }

  /** Where the tally sees a node now. */
  put(name: string, situation: Situation | undefined, record: NodeRecord | undefined): void {
    if (situation === undefined) {
      this.#facts.delete(name);
      this.#place(name, undefined);
      return;
    }
    const { trouble, createdAt } = record?.newPod ?? {};
    this.#facts.set(name, {
      situation,
      contact: this.#options.contact(name),
      ...(trouble === undefined ? {} : { trouble }),
      ...(createdAt === undefined ? {} : { newPodAt: createdAt }),
    });
    this.#judge(name);
  }

  /** A node went out of contact or came back. True when that moved it. */
  contactChanged(name: string): boolean {
    const facts = this.#facts.get(name);
    if (!facts) return false;
    const before = this.#placed.get(name)?.lane;
    this.#facts.set(name, { ...facts, contact: this.#options.contact(name) });
    this.#judge(name);
    return this.#placed.get(name)?.lane !== before;
  }

  /** Moves nodes whose time is up; answers when the next one's is. */
  expire(): number | undefined {
    const now = this.#options.now();
    let next: number | undefined;
    for (const [name, at] of this.#deadlines) {
      if (at <= now) this.#judge(name);
      else next = Math.min(next ?? at, at);
    }
    return next;
  }

  counts(): WaveCounts[] {
    return this.#lanes.map((lanes) => ({
      nodes: Object.values(lanes).reduce((sum, names) => sum + names.size, 0),
      updated: lanes.newAvailable.size,
      failed: lanes.failed.size,
      deferred: lanes.deferred.size,
      old: OLD.reduce((sum, lane) => sum + lanes[lane].size, 0),
      touched: TOUCHED.reduce((sum, lane) => sum + lanes[lane].size, 0),
    }));
  }

  /** A wave as upstream's choice takes it; hosts that failed or are out of reach use none of its budget. */
  fleet(wave: number): Fleet {
    const nodes = this.#lanes[wave] ?? emptyLanes();
    const desired = SITUATIONS.reduce((sum, situation) => sum + nodes[situation].size, 0);
    return { nodes, desired, covered: desired };
  }

  failed(wave: number): ReadonlySet<string> {
    return this.#lanes[wave]?.failed ?? new Set();
  }

  /** The wave that the node is in, or would be. */
  waveOf(name: string): number {
    const last = this.#options.waves - 1;
    return Math.min(this.#options.plan.get(name) ?? last, last);
  }

  #judge(name: string): void {
    const facts = this.#facts.get(name);
    if (!facts) return;
    const { now, deadlineMs } = this.#options;
    const lane = laneOf(facts, now(), deadlineMs);
    this.#place(name, lane);
    const deadline = lane === 'failed' ? undefined : deadlineOf(facts, deadlineMs);
    if (deadline === undefined) this.#deadlines.delete(name);
    else this.#deadlines.set(name, deadline);
  }

  #place(name: string, lane: Lane | undefined): void {
    const before = this.#placed.get(name);
    if (before) this.#lanes[before.wave]?.[before.lane].delete(name);
    if (lane === undefined) {
      this.#placed.delete(name);
      this.#deadlines.delete(name);
      return;
    }
    const wave = this.waveOf(name);
    this.#placed.set(name, { wave, lane });
    this.#lanes[wave]?.[lane].add(name);
  }
}
