/** Runs rounds with several coordinators, one after another on one cluster. */
import { until } from '../../harness/basics/wait-until.js';
import { SeededRandom } from '../../simulation/machines/seeded-random.js';
import { fakeTimeLibrary } from '../libfaketime-clock.js';
import { ChaosCluster } from './chaos-cluster.js';
import { unsettledContainers } from './cluster-check.js';
import { ClusterClients } from './cluster-clients.js';
import { type CoordinatorFault, coordinatorPlan, faultText } from './coordinator-plan.js';
import { type CoordinatorRoundOutcome, playCoordinatorRound } from './coordinator-round.js';
import { seconds, WritePauseTable } from './write-pause-table.js';

const PATIENCE_MS = 60_000;

export interface CoordinatorRoundsOptions {
  readonly seed: string;
  readonly rounds: number;
  readonly hosts: number;
  /** No round starts after this time, ms. */
  readonly longestMs: number;
  /** A round must settle within this time after its last fault. */
  readonly timeoutMs: number;
  /** True if no further round is needed. */
  isEnough?: () => boolean;
  readonly print: (line: string) => void;
}

/** A cluster that plays rounds. A test can choose the faults of each. */
export class CoordinatorRounds {
  private constructor(
    private readonly chaos: ChaosCluster,
    private readonly clients: ClusterClients,
  ) {}

  /** Resolves when the Pods run, or with the reason if this machine cannot run the cluster. */
  static async open(seed: string, hosts: number): Promise<CoordinatorRounds | string> {
    const chaos = await ChaosCluster.open(hosts);
    if (typeof chaos === 'string') return chaos;
    const clients = new ClusterClients(chaos, new SeededRandom(`${seed}/clients`));
    const rounds = new CoordinatorRounds(chaos, clients);
    try {
      await rounds.#start();
      return rounds;
    } catch (error) {
      await rounds.close();
      throw error;
    }
  }

  play(plan: readonly CoordinatorFault[], timeoutMs: number): Promise<CoordinatorRoundOutcome> {
    return playCoordinatorRound(this.chaos, this.clients, plan, timeoutMs);
  }

  get watchCounts(): { changes: number; connections: number; lists: number } {
    return this.clients.watchCounts;
  }

  lastLogLines(): string {
    return this.chaos.lastLogLines();
  }

  async close(): Promise<void> {
    await this.clients.close();
    await this.chaos.close();
  }

  async #start(): Promise<void> {
    const { clients } = this;
    await clients.start();
    await until(async () => (await clients.unsettledObjects()).join() || true, {
      ...{ timeoutMs: PATIENCE_MS, pollMs: 200, what: 'the Pods to run' },
    });
    clients.record();
    await until(() => unsettledContainers(clients.containers, clients.expectedContainers).join() || true, {
      what: 'the recorded containers to run',
    });
  }
}

/** Runs all rounds, or stops after the first failed one. Resolves with the reason if this machine cannot run them. */
export async function playCoordinatorRounds({
  seed,
  rounds,
  hosts,
  longestMs,
  timeoutMs,
  isEnough = () => false,
  print,
}: CoordinatorRoundsOptions): Promise<WritePauseTable | string> {
  const game = await CoordinatorRounds.open(seed, hosts);
  if (typeof game === 'string') return game;
  const table = new WritePauseTable();
  const without = fakeTimeLibrary() ? [] : (['step clock'] as const);
  try {
    const end = performance.now() + longestMs;
    for (let number = 1; number <= rounds && performance.now() < end && !isEnough(); number += 1) {
      const outcome = await game.play(coordinatorPlan(seed, number, without), timeoutMs);
      table.add(outcome);
      print(`round ${number}: ${outcomeText(outcome)}`);
      if (outcome.violations.length === 0) continue;
      print(game.lastLogLines());
      break;
    }
    const { changes, connections, lists } = game.watchCounts;
    print(`watch: ${changes} changes in ${connections} connections, ${lists - 1} relists after 410`);
    return table;
  } finally {
    await game.close();
  }
}

function outcomeText(outcome: CoordinatorRoundOutcome): string {
  const { faults, violations, writePauseMs, recoveryMs, settleMs, writes, refusals, notes } = outcome;
  const refused = [...refusals].map(([refusal, count]) => `${count} × ${refusal}`).join(', ');
  return [
    faults.map(faultText).join('; '),
    `${writes} writes, longest pause ${seconds(writePauseMs)}, first after the faults ${seconds(recoveryMs)}`,
    ...(refused ? [`refused ${refused}`] : []),
    ...notes,
    violations.length > 0
      ? `BROKEN\n${violations.map((violation) => `  ${violation}`).join('\n')}`
      : `settled after ${seconds(settleMs)}`,
  ].join('; ');
}
