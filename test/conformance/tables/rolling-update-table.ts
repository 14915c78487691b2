/** rolling-update.json: budgets, the check for updated Pods, single passes, and rounds of passes. */
import {
  type DaemonNode,
  type DaemonPod,
  isPodUpdated,
} from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { updateBudget } from '../../../coordinator/decisions/daemonsets/update-strategy.js';
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { syncPass } from '../../harness/controllers/sync-pass.js';
import {
  type ConformanceCase,
  compareStated,
  decisionTable,
  requireCaseKeys,
  requireKeys,
  requireOneOf,
  type Verdict,
} from './conformance-table.js';
import { runRounds } from './rolling-update-rounds.js';

/** Throws unless this is an update strategy of a known type with known fields. */
function requireStrategy(strategy: DaemonSetUpdateStrategy | null | undefined): void {
  if (strategy === undefined || strategy === null) return;
  requireKeys(strategy, ['type', 'rollingUpdate'], 'updateStrategy');
  requireOneOf(strategy.type, [undefined, '', 'RollingUpdate', 'OnDelete'], 'updateStrategy.type');
  if (strategy.rollingUpdate) {
    requireKeys(strategy.rollingUpdate, ['maxUnavailable', 'maxSurge'], 'updateStrategy.rollingUpdate');
  }
}

function runBudget(testCase: ConformanceCase): Verdict {
  const keys = ['kind', 'desiredNumberScheduled', 'updateStrategy'];
  requireCaseKeys(testCase, keys, ['maxSurge', 'maxUnavailable']);
  const strategy = testCase.updateStrategy as DaemonSetUpdateStrategy | undefined;
  requireStrategy(strategy);
  const { maxSurge, maxUnavailable } = updateBudget(strategy, testCase.desiredNumberScheduled as number);
  return compareStated(testCase.expected, { maxSurge, maxUnavailable });
}

function runIsUpdated(testCase: ConformanceCase): Verdict {
  requireCaseKeys(testCase, ['kind', 'templateGeneration', 'currentHash', 'podLabels'], ['updated']);
  const { templateGeneration, currentHash, podLabels } = testCase;
  const current = {
    hash: (currentHash ?? '') as string,
    templateGeneration: (templateGeneration ?? undefined) as number | undefined,
  };
  const updated = isPodUpdated({ labels: (podLabels ?? {}) as Record<string, string> }, current);
  return compareStated(testCase.expected, { updated });
}

/** Seconds of the snapshot's clock: late enough that every age is a time after 0. */
const SNAPSHOT_AT = 1_000_000_000;
const LONG_SECONDS = 100_000_000;

interface SnapshotPod {
  name: string;
  revision: 'new' | 'old';
  ready?: boolean;
  readySeconds?: number;
  ageSeconds?: number;
  phase?: PodPhase;
  terminating?: boolean;
  scheduled?: boolean;
}

interface SnapshotNode {
  name: string;
  shouldRun?: boolean;
  shouldContinueRunning?: boolean;
  pods?: SnapshotPod[];
}

const POD_KEYS = [
  'name',
  'revision',
  'ready',
  'readySeconds',
  'ageSeconds',
  'phase',
  'terminating',
  'scheduled',
];
const PHASES = [undefined, 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function toPod(pod: SnapshotPod): DaemonPod {
  requireKeys(pod, POD_KEYS, `pod ${pod.name}`);
  requireOneOf(pod.revision, ['new', 'old'], `revision of ${pod.name}`);
  requireOneOf(pod.phase, PHASES, `phase of ${pod.name}`);
  return {
    name: pod.name,
    scheduled: pod.scheduled ?? true,
    createdAt: (SNAPSHOT_AT - (pod.ageSeconds ?? 0)) * 1000,
    phase: pod.phase ?? 'Running',
    terminating: pod.terminating ?? false,
    ready: pod.ready ?? false,
    readySince: (SNAPSHOT_AT - (pod.readySeconds ?? LONG_SECONDS)) * 1000,
    hash: pod.revision,
    updated: pod.revision === 'new',
  };
}

function toNode(node: SnapshotNode): DaemonNode {
  requireKeys(node, ['name', 'shouldRun', 'shouldContinueRunning', 'pods'], `node ${node.name}`);
  return {
    name: node.name,
    exists: true,
    shouldRun: node.shouldRun ?? true,
    shouldContinueRunning: node.shouldContinueRunning ?? true,
    pods: (node.pods ?? []).map(toPod),
  };
}

interface Choice {
  exact?: string[];
  anyOf?: { from: string[]; count: number };
}

/** True if exactly the requested nodes are chosen: all of `exact`, `count` out of `from`, no others and none twice. */
function isChosen(choice: Choice | undefined, chosen: readonly string[], where: string): boolean {
  if (choice === undefined) return true;
  requireKeys(choice, ['exact', 'anyOf'], where);
  const { exact = [], anyOf = { from: [], count: 0 } } = choice;
  requireKeys(anyOf, ['from', 'count'], `${where}.anyOf`);
  const others = chosen.filter((name) => !exact.includes(name));
  return (
    new Set(chosen).size === chosen.length &&
    exact.every((name) => chosen.includes(name)) &&
    others.length === anyOf.count &&
    others.every((name) => anyOf.from.includes(name))
  );
}

function runSync(testCase: ConformanceCase): Verdict {
  const keys = ['kind', 'updateStrategy', 'minReadySeconds', 'nodes'];
  requireCaseKeys(testCase, keys, ['step', 'deletePods', 'createOnNodes']);
  const updateStrategy = testCase.updateStrategy as DaemonSetUpdateStrategy | undefined;
  requireStrategy(updateStrategy);
  const minReadySeconds = (testCase.minReadySeconds ?? 0) as number;
  const got = syncPass({
    nodes: (testCase.nodes as SnapshotNode[]).map(toNode),
    spec: { ...(updateStrategy ? { updateStrategy } : {}), minReadySeconds },
    hash: 'new',
    now: SNAPSHOT_AT * 1000,
  });
  const { step, deletePods, createOnNodes } = testCase.expected;
  const passed =
    (step === undefined || step === got.step) &&
    isChosen(deletePods as Choice | undefined, got.deletePods, 'deletePods') &&
    isChosen(createOnNodes as Choice | undefined, got.createOnNodes, 'createOnNodes');
  return { passed, got };
}

function run(testCase: ConformanceCase): Verdict {
  switch (testCase.kind) {
    case 'budget':
      return runBudget(testCase);
    case 'isUpdated':
      return runIsUpdated(testCase);
    case 'sync':
      return runSync(testCase);
    case 'rounds':
      requireStrategy(testCase.updateStrategy as DaemonSetUpdateStrategy | undefined);
      return runRounds(testCase);
    default:
      throw new Error(`unknown kind ${JSON.stringify(testCase.kind)}`);
  }
}

/** Adapter of rolling-update.json: the four kinds. */
export const ROLLING_UPDATE = decisionTable(run);
