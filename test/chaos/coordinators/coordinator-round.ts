/** One round with several coordinators: a release, faults, their repair, and a wait until all members agree. */
import { pause } from '../../harness/basics/wait-until.js';
import type { ChaosCluster } from './chaos-cluster.js';
import {
  differentDatabases,
  disagreements,
  lostWrites,
  unsettledContainers,
  wrongContainers,
} from './cluster-check.js';
import type { ClusterClients } from './cluster-clients.js';
import { CoordinatorFaults } from './coordinator-faults.js';
import type { CoordinatorFault } from './coordinator-plan.js';
import { MACHINES } from './machine-network.js';

const POLL_MS = 250;
const WRITE_POLL_MS = 25;

export interface CoordinatorRoundOutcome {
  readonly faults: readonly CoordinatorFault[];
  /** Longest time without an acknowledged write from the first fault on, ms. */
  readonly writePauseMs: number;
  /** Time from the end of the last fault to the first acknowledged write, ms. */
  readonly recoveryMs: number;
  /** Time from the end of the last fault until all members agreed and all Pods ran, ms. */
  readonly settleMs: number;
  /** Number of acknowledged writes. */
  readonly writes: number;
  /** Refusals by code and reason. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly notes: readonly string[];
  readonly violations: readonly string[];
}

/** Rejects if a fault cannot be injected or repaired. `timeoutMs`: a round that has not settled by then has failed. */
export async function playCoordinatorRound(
  chaos: ChaosCluster,
  clients: ClusterClients,
  plan: readonly CoordinatorFault[],
  timeoutMs: number,
): Promise<CoordinatorRoundOutcome> {
  clients.takeTimes();
  clients.takeRefusals();
  clients.startWriting();
  const began = performance.now();
  const faults = new CoordinatorFaults(chaos, plan.length === 1);
  const ends = await Promise.allSettled([
    clients.release(),
    ...plan.map(async (fault) => {
      await pause(fault.atMs);
      await faults.carryOut(fault);
    }),
  ]);
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [`not repaired: ${end.reason}`] : []));
  const repaired = performance.now();
  const blocked = await untilWritten(clients, repaired, timeoutMs);
  const times = clients.takeTimes();
  const unsettled = blocked ?? (await untilSettled(chaos, clients, timeoutMs));
  const refusals = clients.takeRefusals();
  const firstFaultAt = began + Math.min(...plan.map(({ atMs }) => atMs));
  return {
    faults: plan,
    writePauseMs: longestPause(firstFaultAt, times),
    recoveryMs: (times.find((time) => time >= repaired) ?? performance.now()) - repaired,
    settleMs: performance.now() - repaired,
    writes: times.length,
    refusals,
    notes: faults.notes,
    violations: [
      ...failures,
      ...faults.violations,
      ...missingRefusals(plan, refusals),
      ...(unsettled ? [`not settled after ${timeoutMs / 1_000} s: ${unsettled}`] : []),
      ...(await violations(clients)),
    ],
  };
}

/**
 * Waits until a write succeeds after the repair and each writer has its acknowledgement: faults leave effects, such as
 * the lease of a coordinator that is down. Returns which writes have no answer at the timeout.
 */
async function untilWritten(
  clients: ClusterClients,
  repaired: number,
  timeoutMs: number,
): Promise<string | undefined> {
  const isLate = () => performance.now() > repaired + timeoutMs;
  while (!isLate() && (clients.lastWriteAt ?? 0) <= repaired) await pause(WRITE_POLL_MS);
  let isStopped = false;
  void clients.stopWriting().then(() => {
    isStopped = true;
  });
  while (!isLate() && !isStopped) await pause(WRITE_POLL_MS);
  if (isStopped) return undefined;
  const waiting = clients.acknowledged.map(({ name, turn }) => `${name} at turn ${turn}`);
  await clients.abandon();
  return `a write is not acknowledged (${waiting.join(', ')})`;
}

/** Returns what has not settled at the timeout. */
async function untilSettled(
  chaos: ChaosCluster,
  clients: ClusterClients,
  timeoutMs: number,
): Promise<string | undefined> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const [problem] = await unsettled(chaos, clients).catch((error: unknown) => [String(error)]);
    if (problem === undefined) return undefined;
    if (performance.now() > end) return problem;
    await pause(POLL_MS);
  }
}

async function unsettled(chaos: ChaosCluster, clients: ClusterClients): Promise<string[]> {
  const leader = await chaos.storage.leader();
  const reports = await Promise.all(
    chaos.cluster.members.map(async ({ server }, index) => ({
      address: server,
      coordinators: await chaos.reportAt(index),
    })),
  );
  const problems = [
    ...disagreements(reports, leader?.memberId, MACHINES),
    ...unsettledContainers(clients.containers, clients.expectedContainers),
    ...(await clients.unsettledObjects()),
    ...clients.unseen(),
  ];
  // Reading the databases is slow, so it waits for the rest.
  return problems.length > 0 ? problems : differentDatabases(digests(chaos));
}

function digests(chaos: ChaosCluster): Map<string, string> {
  return new Map(chaos.cluster.members.map(({ server }, index) => [server, chaos.databaseDigest(index)]));
}

async function violations(clients: ClusterClients): Promise<string[]> {
  const stored = await clients.stored().catch((error: unknown) => String(error));
  const unseen = clients.unseen();
  return [
    ...(typeof stored === 'string' ? [stored] : lostWrites(clients.acknowledged, stored)),
    ...unseen,
    ...wrongContainers(clients.containers, clients.expectedContainers),
    ...clients.takeViolations(),
  ];
}

/** Without a quorum or space in etcd, clients must get a clear refusal and not only silence. */
function missingRefusals(plan: readonly CoordinatorFault[], refusals: ReadonlyMap<string, number>): string[] {
  const [only] = plan;
  if (plan.length !== 1 || (only?.kind !== 'lose quorum' && only?.kind !== 'fill etcd')) return [];
  return refusals.has('503 ServiceUnavailable') ? [] : [`no write was refused with 503 (${only.kind})`];
}

/** The longest time between two of `times` after `from`; `from` counts as one of them. */
function longestPause(from: number, times: readonly number[]): number {
  let last = from;
  let longest = 0;
  for (const time of times) {
    if (time < from) continue;
    longest = Math.max(longest, time - last);
    last = time;
  }
  return longest;
}
