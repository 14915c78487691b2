/** The view of the invariants: stored objects, running containers, and user requests. */
import type { HostContainer } from '../machines/simulated-engine.js';
import type { StoredState } from './stored-truth.js';

/** User requests, with or without a response. */
export interface UserRequests {
  /** Uids of objects that a user asked to delete. */
  readonly deleted: Set<string>;
  /** Uids of force-deleted objects, which do not wait for the host. */
  readonly forced: Set<string>;
  /** Uids of objects with an acknowledged deletion. */
  readonly answered: Set<string>;
}

/** The state of a host that an observer needs for its decisions. */
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
  /** The coordinator's wall clock, in ms since the epoch. */
  readonly coordinatorNowMs: number;
  /** All offsets that the coordinator's clock ever had, because hosts keep the time that they received. */
  readonly coordinatorOffsetsMs: ReadonlySet<number>;
  /** True while leaders change and nothing else happens. */
  readonly failoverAlone: boolean;
  readonly stored: StoredState;
  readonly userRequests: UserRequests;
  /** The containers that run on a host now. */
  readonly running: (node: string) => readonly HostContainer[];
  /** All that are there, running or not. */
  readonly containers: (node: string) => readonly HostContainer[];
  /** Since when a host's cable is cut; undefined = it is not. */
  readonly cutSinceMs: (node: string) => number | undefined;
  readonly hostOf: (node: string) => SimulatedHostFacts;
  /** The static Pods of a host's manifests, by their names in the store. */
  readonly staticPods: (node: string) => readonly { name: string; image: string }[];
}
