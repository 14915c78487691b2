/** What invariants may look at: what is stored, what runs, and what users have asked for. */
import type { HostContainer } from '../machines/simulated-engine.js';
import type { StoredState } from './stored-truth.js';

/** What users asked for, whether they were answered or not. */
export interface UserRequests {
  /** Uids of objects that somebody asked to delete. */
  readonly deleted: Set<string>;
  /** Those of them that were to go at once, without waiting for the host. */
  readonly forced: Set<string>;
  /** Those whose deletion was acknowledged. */
  readonly answered: Set<string>;
}

/** What a bystander sees of a host that it decides by. */
export interface SimulatedHostFacts {
  /** How often it came up. */
  readonly boots: number;
  /** Since when it says 'not now' to who wants to replace a Pod; undefined = it does not. */
  readonly busySinceMs: number | undefined;
  /** When it last stopped saying so; undefined = never. */
  readonly busyUntilMs: number | undefined;
  /** When it was last short of memory or disk; undefined = never. */
  readonly resourcesShortAtMs: number | undefined;
  /** Since when its engine answers; undefined = it does not. */
  readonly engineUpSinceMs: number | undefined;
  /** Since when its cable is whole and the coordinator takes connections; undefined = they are not, or it does not. */
  readonly reachableSinceMs: number | undefined;
}

export interface ObservedWorld {
  /** True time since the beginning, ms. */
  readonly nowMs: number;
  /** What the coordinator's wall clock shows, ms since the epoch. */
  readonly coordinatorNowMs: number;
  /** How far its clock ever was from the truth: hosts go by what they have heard once. */
  readonly coordinatorOffsetsMs: ReadonlySet<number>;
  readonly stored: StoredState;
  readonly userRequests: UserRequests;
  /** The containers that run on a host now. */
  readonly running: (node: string) => readonly HostContainer[];
  /** All that are there, running or not. */
  readonly containers: (node: string) => readonly HostContainer[];
  /** Since when a host's cable is cut; undefined = it is not. */
  readonly cutSinceMs: (node: string) => number | undefined;
  readonly hostOf: (node: string) => SimulatedHostFacts;
  /** The static Pods whose manifests lie on a host, by their names in the store. */
  readonly staticPods: (node: string) => readonly { name: string; image: string }[];
}
