/** Keeps the EndpointSlices of each Service with a selector (pkg/controller/endpointslice). */
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type EndpointSlice, MANAGED_BY_LABEL } from '../../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import {
  type DesiredEndpoint,
  endpointKey,
  listedEndpoint,
  type ServiceRules,
  serviceRulesOf,
} from '../../decisions/services/listed-endpoint.js';
import { SLICE_CONTROLLER, type SliceChanges, sliceChanges } from '../../decisions/services/slice-changes.js';
import { BY_NAMESPACE, type Informers, SLICES_BY_SERVICE } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import { splitKey } from '../queue/object-key.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { endpointSelectorOf, selectsLabels } from './service-selector-index.js';
import { SliceState } from './slice-state.js';
import { writeSlices } from './slice-writer.js';
import { TriggerTimes } from './trigger-times.js';
import { UnreachablePodEvents } from './unreachable-pod-events.js';

export interface EndpointControllerDeps {
  registry: Registry;
  informers: Informers;
  /** Of the component `endpoint-slice-controller`. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/** Changes are gathered for this long, so that a rollout does not rewrite a slice with each Pod. */
export const GATHER_MS = 500;
/**
 * Gather time for each slice that the last pass wrote. While all Pods of a large Service flap, writes of slices use at
 * most an eighth of a core.
 */
const GATHER_PER_WRITE_MS = 8;
const MAX_GATHER_MS = 5_000;

/** Keys are `namespace/name` of Services. */
export class SliceReconciler {
  readonly #deps: EndpointControllerDeps;
  readonly #states = new Map<string, SliceState>();
  readonly #slice: TimeSlice;
  readonly #unreachable: UnreachablePodEvents;
  readonly triggerTimes = new TriggerTimes();

  constructor(deps: EndpointControllerDeps) {
    this.#deps = deps;
    this.#slice = new TimeSlice(deps.clock);
    this.#unreachable = new UnreachablePodEvents(deps);
  }

  /** Returns the state of a Service. Undefined: the next reconcile starts with a full pass. */
  stateOf(key: string): SliceState | undefined {
    return this.#states.get(key);
  }

  /** Returns for how long changes of the Service's Pods are gathered, in ms. */
  gatherMs(key: string): number {
    const { lastWrites = 0 } = this.#states.get(key) ?? {};
    return Math.min(MAX_GATHER_MS, Math.max(GATHER_MS, lastWrites * GATHER_PER_WRITE_MS));
  }

  /** The next reconcile compares all Pods with all slices. */
  requestFullPass(key: string): void {
    const state = this.#states.get(key);
    if (state) state.needsFullPass = true;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    const service = this.#deps.informers.services.get(splitKey(key));
    const selector = service && endpointSelectorOf(service);
    // Upstream leaves the slices of a Service that lost its selector as they are, for users to write them.
    if (!service || !selector) {
      this.#states.delete(key);
      this.#unreachable.forget(key);
      this.triggerTimes.forget(key);
      return;
    }
    const state = this.#states.get(key) ?? new SliceState();
    this.#states.set(key, state);
    state.noteForeignWrites();
    const triggerTime = this.triggerTimes.take(service);
    const rules = serviceRulesOf(service);
    try {
      const changes = state.needsFullPass
        ? await this.#fullPass(key, service, state, { rules, selector })
        : this.#partialPass(key, service, state, { rules, selector });
      await this.#write(service, state, changes, { triggerTime, context });
    } catch (error) {
      state.needsFullPass = true;
      const { namespace, name } = service.metadata;
      const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${(error as Error).message}`;
      this.#deps.recordEvent(service, 'Warning', 'FailedToUpdateEndpointSlices', message);
      throw error;
    }
    const delayMs = this.#unreachable.report(key, service, state.ownHostPods.size);
    if (delayMs !== undefined) context.requeueAfter(delayMs);
  }

  async #fullPass(
    key: string,
    service: Service,
    state: SliceState,
    { rules, selector }: { rules: ServiceRules; selector: Labels },
  ): Promise<SliceChanges> {
    const { pods } = this.#deps.informers;
    const existing = this.#slicesOf(key);
    state.restart(existing);
    const desired = new Map<string, DesiredEndpoint>();
    for (const pod of pods.indexed(BY_NAMESPACE, service.metadata.namespace ?? '')) {
      if (selectsLabels(selector, pod.metadata.labels)) this.#list(pod, rules, state, desired);
      await this.#slice.yieldIfUsedUp();
    }
    return sliceChanges({ service, existing, spare: [], desired });
  }

  /** Visits only changed Pods and the slices that list them. */
  #partialPass(
    key: string,
    service: Service,
    state: SliceState,
    { rules, selector }: { rules: ServiceRules; selector: Labels },
  ): SliceChanges {
    const { pods } = this.#deps.informers;
    const changed = new Set(state.takeChangedPods());
    if (changed.size === 0 && state.emptySlices.size === 0) return { create: [], update: [], remove: [] };
    const affected = new Set(state.emptySlices);
    for (const name of changed) affected.add(state.sliceOf(name) ?? '');
    const all = this.#slicesOf(key);
    const existing = all.filter(({ metadata }) => affected.has(metadata.name));
    const spare = all.filter(({ metadata }) => !affected.has(metadata.name));
    const desired = unchangedEndpoints(existing, changed);
    for (const name of changed) {
      state.ownHostPods.delete(name);
      const pod = pods.get({ namespace: service.metadata.namespace ?? '', name });
      if (pod && selectsLabels(selector, pod.metadata.labels)) this.#list(pod, rules, state, desired);
    }
    return sliceChanges({ service, existing, spare, desired });
  }

  #list(pod: Pod, rules: ServiceRules, state: SliceState, desired: Map<string, DesiredEndpoint>): void {
    const { name, deletionTimestamp } = pod.metadata;
    const node = this.#deps.informers.nodes.get({ name: pod.spec.nodeName ?? '' });
    const listing = listedEndpoint(rules, pod, node);
    if (!listing) return;
    desired.set(name, listing);
    if (listing.reach === 'ownHost' && !deletionTimestamp) state.ownHostPods.add(name);
  }

  #slicesOf(key: string): EndpointSlice[] {
    return this.#deps.informers.endpointSlices.indexed(SLICES_BY_SERVICE, key).filter(isManaged);
  }

  async #write(
    service: Service,
    state: SliceState,
    changes: SliceChanges,
    { triggerTime, context }: { triggerTime: string | undefined; context: ReconcileContext },
  ): Promise<void> {
    const { create, update, remove } = changes;
    state.lastWrites = create.length + update.length + remove.length;
    const onWrite = (slice: EndpointSlice, isRemoved: boolean): void => {
      const { name, resourceVersion = '' } = slice.metadata;
      state.written(name, isRemoved ? '' : resourceVersion);
      context.observeWrite(slice);
    };
    const deps = {
      registry: this.#deps.registry,
      yieldIfUsedUp: () => this.#slice.yieldIfUsedUp(),
      onWrite,
    };
    await writeSlices(deps, service, changes, triggerTime);
  }
}

/** Returns true for a slice that this controller writes. Others of the same Service belong to users or programs. */
export function isManaged({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === SLICE_CONTROLLER;
}

function unchangedEndpoints(
  slices: readonly EndpointSlice[],
  changed: ReadonlySet<string>,
): Map<string, DesiredEndpoint> {
  const kept = new Map<string, DesiredEndpoint>();
  for (const { addressType, ports, endpoints } of slices) {
    for (const endpoint of endpoints ?? []) {
      const key = endpointKey(endpoint);
      if (changed.has(key)) continue;
      kept.set(key, {
        addressType: addressType as DesiredEndpoint['addressType'],
        ports: ports ?? [],
        endpoint,
      });
    }
  }
  return kept;
}
