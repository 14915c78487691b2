/**
 * The `rounds` form of rolling-update.json: a small fleet on which the controller's passes run until nothing changes.
 */
import type { DaemonNode, DaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { syncPass } from '../../harness/controllers/sync-pass.js';
import {
  type ConformanceCase,
  requireCaseKeys,
  requireKeys,
  requireOneOf,
  type Verdict,
} from './conformance-table.js';

interface Round {
  action: string;
  at?: number;
  updateStrategy?: DaemonSetUpdateStrategy;
  minReadySeconds?: number;
  nowTainted?: string[];
  revision?: string;
  node?: string;
  pods?: 'updated' | 'outdated-without-updated-sibling';
  count?: number;
  expected?: Record<string, number>;
}

const ROUND_KEYS = [
  'action',
  'at',
  'updateStrategy',
  'minReadySeconds',
  'nowTainted',
  'revision',
  'node',
  'pods',
  'count',
  'expected',
  'note',
];

/** Limit for a controller that never settles. No case needs nearly as many passes. */
const MOST_PASSES = 10_000;

interface FleetPod {
  name: string;
  node: string;
  revision: string;
  createdAt: number;
  /** Clock time in seconds; undefined: not ready. */
  readySince?: number;
}

/** Nodes and Pods after the passes. Deleted Pods vanish at once; created ones start unready. */
class RoundsFleet {
  readonly #nodes = new Map<string, { tainted: boolean }>();
  #pods: FleetPod[] = [];
  #clock = 0;
  #serial = 0;
  #revision: string | undefined;
  #strategy: DaemonSetUpdateStrategy | undefined;
  #minReadySeconds: number;

  constructor(count: number, strategy: DaemonSetUpdateStrategy | undefined, minReadySeconds: number) {
    for (let index = 0; index < count; index += 1) this.#nodes.set(`node-${index}`, { tainted: false });
    this.#strategy = strategy;
    this.#minReadySeconds = minReadySeconds;
  }

  /** Runs one round: applies its settings and its action, then runs passes until the controller settles. */
  play(round: Round): Record<string, number> {
    if (round.at !== undefined) this.#clock = round.at;
    if (round.updateStrategy) this.#strategy = round.updateStrategy;
    if (round.minReadySeconds !== undefined) this.#minReadySeconds = round.minReadySeconds;
    for (const name of round.nowTainted ?? []) this.#node(name).tainted = true;
    this.#act(round);
    const { created, deleted } = this.#settle();
    const readyPods = this.#pods.filter((pod) => pod.readySince !== undefined).length;
    return { created, deleted, readyPods };
  }

  #act(round: Round): void {
    switch (round.action) {
      case 'create':
        this.#revision = 'r1';
        break;
      case 'updateTemplate':
        if (!round.revision) throw new Error('updateTemplate needs a revision');
        this.#revision = round.revision;
        break;
      case 'setStrategy':
      case 'wait':
        break;
      case 'addNode':
        this.#nodes.set(round.node ?? '', { tainted: false });
        break;
      case 'deletePod':
        this.#deleteByHand(round.node ?? '');
        break;
      case 'markReady':
      case 'markNotReady':
        this.#mark(round);
        break;
      default:
        throw new Error(`unknown action ${JSON.stringify(round.action)}`);
    }
  }

  #node(name: string): { tainted: boolean } {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`no node ${name}`);
    return node;
  }

  #deleteByHand(node: string): void {
    const index = this.#pods.findIndex((pod) => pod.node === node);
    if (index < 0) throw new Error(`no pod on ${node}`);
    this.#pods.splice(index, 1);
  }

  #mark({ action, pods, count = Number.POSITIVE_INFINITY }: Round): void {
    requireOneOf(pods, [undefined, 'updated', 'outdated-without-updated-sibling'], 'pods');
    const ready = action === 'markReady';
    const eligible = this.#pods.filter(
      (pod) => (pod.readySince !== undefined) !== ready && this.#isMeant(pod, pods),
    );
    for (const pod of eligible.slice(0, count)) {
      if (ready) pod.readySince = this.#clock;
      else delete pod.readySince;
    }
  }

  #isMeant(pod: FleetPod, pods: Round['pods']): boolean {
    const updated = pod.revision === this.#revision;
    if (pods === undefined) return true;
    if (pods === 'updated') return updated;
    return !updated && !this.#pods.some((other) => other !== pod && other.node === pod.node);
  }

  #settle(): { created: number; deleted: number } {
    let [created, deleted] = [0, 0];
    for (let pass = 0; this.#revision !== undefined; pass += 1) {
      if (pass > MOST_PASSES) throw new Error('the controller does not come to rest');
      const { step, deletePods, createOnNodes } = this.#pass(this.#revision);
      if (step === 'none') break;
      this.#pods = this.#pods.filter((pod) => !deletePods.includes(pod.name));
      for (const node of createOnNodes) this.#create(node, this.#revision);
      created += createOnNodes.length;
      deleted += deletePods.length;
    }
    return { created, deleted };
  }

  #create(node: string, revision: string): void {
    this.#serial += 1;
    const name = `pod-${String(this.#serial).padStart(9, '0')}`;
    this.#pods.push({ name, node, revision, createdAt: this.#clock });
  }

  #pass(revision: string) {
    const spec = {
      ...(this.#strategy ? { updateStrategy: this.#strategy } : {}),
      minReadySeconds: this.#minReadySeconds,
    };
    return syncPass({ nodes: this.#view(revision), spec, hash: revision, now: this.#clock * 1000 });
  }

  #view(revision: string): DaemonNode[] {
    return [...this.#nodes].map(([name, { tainted }]) => ({
      name,
      exists: true,
      shouldRun: !tainted,
      shouldContinueRunning: true,
      pods: this.#pods.filter((pod) => pod.node === name).map((pod) => viewOf(pod, revision)),
    }));
  }
}

function viewOf(pod: FleetPod, revision: string): DaemonPod {
  return {
    name: pod.name,
    scheduled: true,
    createdAt: pod.createdAt * 1000,
    phase: 'Running',
    terminating: false,
    ready: pod.readySince !== undefined,
    ...(pod.readySince === undefined ? {} : { readySince: pod.readySince * 1000 }),
    hash: pod.revision,
    updated: pod.revision === revision,
  };
}

function requireRound(round: Round): void {
  requireKeys(round, ROUND_KEYS, 'a round');
  requireKeys(round.expected ?? {}, ['created', 'deleted', 'readyPods'], 'expected of a round');
}

/** Runs all rounds; `got` lists the actions of each round. */
export function runRounds(testCase: ConformanceCase): Verdict {
  requireCaseKeys(testCase, ['kind', 'nodes', 'updateStrategy', 'minReadySeconds', 'rounds'], ['perRound']);
  requireOneOf(testCase.expected.perRound, [true], 'expected.perRound');
  const fleet = new RoundsFleet(
    testCase.nodes as number,
    testCase.updateStrategy as DaemonSetUpdateStrategy | undefined,
    (testCase.minReadySeconds ?? 0) as number,
  );
  const rounds = testCase.rounds as Round[];
  for (const round of rounds) requireRound(round);
  const got = rounds.map((round) => fleet.play(round));
  const passed = rounds.every(({ expected = {} }, index) =>
    Object.entries(expected).every(([key, value]) => got[index]?.[key] === value),
  );
  return { passed, got };
}
