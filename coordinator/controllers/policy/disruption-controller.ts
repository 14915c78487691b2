/** Keeps the status of PodDisruptionBudgets current (pkg/controller/disruption). Costs nothing without budgets. */
import { type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../shared/kube/policy/disruption-budget-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import {
  budgetMatcher,
  disruptionStatus,
  failedStatus,
  needsScale,
} from '../../decisions/policy/disruption-status.js';
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import { podDisruptionBudgetKind } from '../../kinds/index.js';
import { semanticallyEqual } from '../../kinds/validation/semantic-equality.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { scaleOf, UnknownScale } from './controller-scale.js';
import { CoveredPodCounts } from './covered-pods.js';

interface DisruptionDeps {
  registry: Pick<Registry, 'get' | 'allKinds' | 'writeStatus'>;
  informers: Informers;
  recordEvent: RecordEvent;
  queueMeter?: QueueMeter;
  clock: Clock;
  log: Logger;
}

/** The counts of one budget. They are void when its selector changes. */
interface Counted {
  selector: string;
  counts: CoveredPodCounts;
}

/** Changes of Pods within this time share one reconcile. */
const GATHER_MS = 50;

export class DisruptionController {
  readonly #deps: DisruptionDeps;
  readonly #worker: Worker;
  /** By key of the budget. */
  readonly #counted = new Map<string, Counted>();

  constructor(deps: DisruptionDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'disruption',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    const { podDisruptionBudgets, pods } = deps.informers;
    podDisruptionBudgets.onChange(({ previous, current }) => {
      const budget = current ?? previous;
      if (budget) this.#worker.queue.add(refText(budget.metadata));
    });
    pods.onChange(({ previous, current }) => this.#podChanged(previous, current));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #podChanged(previous: Pod | undefined, current: Pod | undefined): void {
    if (this.#counted.size === 0) return;
    const { namespace = '' } = (current ?? previous)?.metadata ?? {};
    for (const { metadata } of this.#deps.informers.podDisruptionBudgets.indexed(BY_NAMESPACE, namespace)) {
      const key = refText(metadata);
      if (this.#counted.get(key)?.counts.changed(previous, current)) {
        this.#worker.queue.addAfter(key, GATHER_MS);
      }
    }
  }

  /** Counts all Pods of the namespace once for each budget and selector. */
  #countsOf(key: string, budget: PodDisruptionBudget): CoveredPodCounts {
    const selector = JSON.stringify(budget.spec?.selector);
    const known = this.#counted.get(key);
    if (known?.selector === selector) return known.counts;
    const counts = new CoveredPodCounts(budgetMatcher(budget));
    const { namespace = '' } = budget.metadata;
    for (const pod of this.#deps.informers.pods.indexed(BY_NAMESPACE, namespace)) {
      counts.changed(undefined, pod);
    }
    this.#counted.set(key, { selector, counts });
    return counts;
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const budget = this.#deps.informers.podDisruptionBudgets.get(splitKey(key));
    if (!budget) {
      this.#counted.delete(key);
      return;
    }
    const counts = this.#countsOf(key, budget);
    if (counts.pods === 0) this.#record(budget, 'Normal', 'NoPods', 'No matching pods found');
    const now = this.#deps.clock.now();
    try {
      const scale = needsScale(budget) ? await this.#scaleOf(budget, counts) : undefined;
      const covered = {
        ...{ pods: counts.pods, healthy: counts.healthy, stateOf: (name: string) => counts.stateOf(name) },
        ...(scale === undefined ? {} : { scale }),
      };
      const { expired, recheckAt } = disruptionStatus(budget, covered, now);
      this.#reportExpired(budget, expired);
      // Evictions change the status, so the decision is repeated over the stored budget.
      await this.#write(budget, (stored) => disruptionStatus(stored, covered, now).status, context);
      if (recheckAt !== undefined) context.requeueAfter(Math.max(1, recheckAt - now + 1));
    } catch (error) {
      if (!(error instanceof UnknownScale)) throw error;
      const { message } = error;
      const text = `Failed to calculate the number of expected pods: ${message}`;
      this.#record(budget, 'Warning', 'CalculateExpectedPodCountFailed', text);
      await this.#write(budget, ({ status }) => failedStatus(status, message, now), context);
    }
  }

  async #scaleOf(budget: PodDisruptionBudget, counts: CoveredPodCounts): Promise<number> {
    const { namespace = '' } = budget.metadata;
    if (counts.unmanaged > 0) {
      const text = `Pods selected by this PodDisruptionBudget (selector: ${JSON.stringify(budget.spec?.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
      this.#record(budget, 'Warning', 'UnmanagedPods', text);
    }
    const scales = new Map<string, number>();
    for (const { reference, example } of [...counts.controllers]) {
      const { uid, replicas } = await scaleOf(this.#deps.registry, namespace, reference, example);
      scales.set(uid, replicas);
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  async #write(
    budget: PodDisruptionBudget,
    statusOf: (stored: PodDisruptionBudget) => PodDisruptionBudgetStatus,
    context: ReconcileContext,
  ): Promise<void> {
    const isCurrent = (one: PodDisruptionBudget) => semanticallyEqual(one.status, statusOf(one));
    if (isCurrent(budget)) return;
    const record = await this.#deps.registry.writeStatus(
      podDisruptionBudgetKind,
      budget.metadata,
      (stored) => (isCurrent(stored) ? undefined : statusOf(stored)),
      preconditionsOf(budget),
    );
    context.observeWrite(record.object());
  }

  #reportExpired({ metadata }: PodDisruptionBudget, names: readonly string[]): void {
    const { namespace = '', name } = metadata;
    for (const pod of names) {
      const found = this.#deps.informers.pods.get({ namespace, name: pod });
      const text = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`;
      if (found) this.#record(found, 'Warning', 'NotDeleted', text);
    }
  }

  #record(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#deps.recordEvent(about, type, reason, message);
  }
}
