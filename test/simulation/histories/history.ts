/** A history: what users do and what breaks, when. Plain data, made from a seed (`draw-history.ts`); leaving steps out makes another history. */
import type { FleetFault } from '../coordinators/fleet-faults.js';
import type { CrashPoint } from '../machines/program-lifetime.js';

/** The update strategy of a DaemonSet. */
export interface Strategy {
  type: 'RollingUpdate' | 'OnDelete';
  maxUnavailable?: number | string;
  maxSurge?: number | string;
}

export type UserStep =
  | {
      kind: 'create daemonset';
      name: string;
      image: string;
      strategy: Strategy;
      minReadySeconds: number;
      graceSeconds: number;
      selector: Zone | null;
    }
  | { kind: 'set image'; name: string; image: string }
  | { kind: 'set strategy'; name: string; strategy: Strategy }
  | { kind: 'set selector'; name: string; selector: Zone | null }
  | { kind: 'delete daemonset'; name: string; policy: 'Background' | 'Foreground' | 'Orphan' }
  | { kind: 'label node'; node: string; zone: Zone | null }
  | { kind: 'taint node'; node: string; effect: 'NoSchedule' | 'NoExecute' | null }
  | { kind: 'delete pod'; node: string; index: number; force: boolean }
  | { kind: 'evict pod'; node: string; index: number }
  | { kind: 'create pod'; name: string; node: string; image: string }
  | { kind: 'replace pod'; name: string; node: string; image: string }
  | { kind: 'delete node'; node: string }
  | { kind: 'create tolerant pod'; name: string; node: string; image: string; seconds: number }
  | { kind: 'cordon node'; node: string; isCordoned: boolean }
  | { kind: 'set policy'; policy: Policy }
  | { kind: 'set host policy'; policy: Policy; turns: HandoverRules }
  | { kind: 'freeze'; forSeconds: number }
  | { kind: 'pause policy'; isPaused: boolean }
  | { kind: 'approve wave'; name: string; wave: Wave }
  | { kind: 'delete policy' }
  /** The PriorityClasses of all ranks. */
  | { kind: 'create classes' }
  | { kind: 'rank daemonset'; name: string; rank: Rank | null; cpu: string | null }
  /** A bare Pod that is pinned to a node and not bound to it. */
  | { kind: 'create ranked pod'; name: string; node: string; rank: Rank; cpu: string; graceSeconds: number }
  | { kind: 'delete ranked pod'; name: string }
  /** Pods that wait for a cordoned node, which becomes schedulable for all of them at once. */
  | { kind: 'create rivals'; node: string; rivals: Rival[]; graceSeconds: number }
  /** A long time without a step: timers expire, handovers are confirmed, hosts become unreachable. */
  | { kind: 'wait' }
  | ValueStep
  | JobStep;

/** Steps with values of hosts. `use values`: the Pods of a DaemonSet get these values. */
export type ValueStep =
  | { kind: 'use values'; name: string; uses: readonly ValueUse[] }
  /** Creates the HostValues or replaces its spec. With `nodes` it names hosts, otherwise it selects a zone or all. */
  | {
      kind: 'set values';
      object: string;
      priority: number;
      zone: Zone | null;
      nodes: readonly string[];
      key: ValueKey;
      value: string;
    }
  | { kind: 'delete values'; object: string };

/** `store`: the key of HostValues that DaemonSets use. `zone`: the label of the Node. */
export type ValueUse = 'store' | 'zone';
/** No DaemonSet uses the key `spare`. */
export type ValueKey = 'store' | 'spare';

/** Steps with DaemonJobs. */
export type JobStep =
  | { kind: 'create job'; name: string; job: JobRules }
  | { kind: 'suspend job'; name: string; isSuspended: boolean }
  | { kind: 'rerun job'; name: string }
  | { kind: 'set parallelism'; name: string; parallelism: number | string }
  | { kind: 'delete job'; name: string; policy: 'Background' | 'Foreground' | 'Orphan' }
  | { kind: 'delete job result'; name: string; node: string }
  /** Changes the annotations by which the controller counts the Pods of a host. */
  | { kind: 'edit job pod'; name: string; node: string; attempt: string; run: string };

/** Null: the field is absent. */
export interface JobRules {
  image: string;
  isSuspended: boolean;
  retry: 'AtLeastOnce' | 'AtMostOnce';
  parallelism: number | string;
  backoffLimit: number | null;
  deadlineSeconds: number | null;
  /** After the creation. */
  untilSeconds: number | null;
  maxFailed: number | null;
  ttlSeconds: number | null;
  zone: Zone | null;
}

export type Fault =
  | { kind: 'kill agent'; node: string; crashAt: CrashPoint; downMs: number; damagesCache: boolean }
  | { kind: 'stop agent'; node: string; downMs: number }
  | { kind: 'kill coordinator'; crashAt: CrashPoint; downMs: number }
  | { kind: 'stop coordinator'; downMs: number }
  /** One of `FLEET_FAULTS`. `draw`: seed of its duration. */
  | { kind: 'coordinator fault'; fault: FleetFault; who: 'leader' | 'follower'; draw: number }
  | { kind: 'cut power'; node: string; downMs: number; damagesCache: boolean }
  | { kind: 'cut cable'; node: string; forMs: number }
  | { kind: 'cut zone'; zone: Domain | null; forMs: number }
  | { kind: 'reset connections'; node: string }
  | { kind: 'stop engine'; node: string; forMs: number; killsContainers: boolean }
  | { kind: 'end container'; node: string; index: number; code: number }
  | { kind: 'jump clock'; node: string | null; byMs: number }
  | { kind: 'fill disk'; forMs: number }
  | { kind: 'back up' }
  /** `back`: 0 = the backup that was taken last, 1 = the one before it …; the first where there are not so many. */
  | { kind: 'restore backup'; back: number; downMs: number; confirmAfterMs: number }
  | { kind: 'fill host disk'; node: string; forMs: number }
  /** `node`: null = all hosts are busy at once, like shops during opening hours. */
  | { kind: 'busy host'; node: string | null; forMs: number }
  /** When this host next begins a turn, and before that can be confirmed. */
  | { kind: 'spoil turn'; node: string; by: 'cut' | 'reboots' | 'failover'; forMs: number }
  | { kind: 'press host'; node: string; condition: Pressure; forMs: number }
  | { kind: 'starve host'; node: string; of: ScarceResource; forMs: number }
  | { kind: 'hang engine'; node: string; forMs: number }
  | { kind: 'remove container'; node: string; index: number }
  /** A host that joins late. */
  | { kind: 'add host'; index: number }
  | { kind: 'write manifest'; node: string; name: string; image: string | null };

/** The names of PriorityClasses. */
export type Rank = 'low' | 'mid' | 'high';
export interface Rival {
  name: string;
  rank: Rank;
  cpu: string;
}
export type Zone = 'a' | 'b';
/** Failure domains, by `topology.kubernetes.io/zone`: hosts of odd numbers, and of even ones. */
export type Domain = 'east' | 'west';
export type Wave = 'first' | 'second';
export type ScarceResource = 'memory' | 'disk';
export type Pressure = 'MemoryPressure' | 'DiskPressure';

/** The RolloutPolicy of all DaemonSets: the hosts of zone a, then those of zone b, then the rest. */
export interface Policy {
  soakSeconds: number;
  /** Approval of the second wave. */
  approval: 'Automatic' | 'Manual';
  /** Hosts that may fail; null = no budget, nothing stops a rollout. */
  maxFailed: number | null;
  deadlineSeconds: number;
  action: 'Pause' | 'RollBack';
}

/** The handover options of a policy. Null disables the option. */
export interface HandoverRules {
  /** Pods are replaced in the first so many seconds of every third minute. */
  windowSeconds: number | null;
  /** Time limit for the confirmation of a successor. */
  confirmSeconds: number | null;
  /** Maximum time for which a busy host may postpone a handover. */
  lockSeconds: number | null;
  /** Images are fetched ahead. */
  prePulls: boolean;
}

export type Step = { afterMs: number } & (UserStep | Fault);

export interface History {
  /** Seed of all random choices: delays, losses, generated names. */
  seed: string;
  nodes: number;
  /** How slow everything outside of memory is, as a factor. */
  speed: number;
  /** Absent: one. */
  coordinators?: number;
  steps: Step[];
}

/** The failure domain of a host, counted from 1. */
export function domainOf(index: number): Domain {
  return index % 2 === 1 ? 'east' : 'west';
}

export function nodeName(index: number): string {
  return `host-${index}`;
}
