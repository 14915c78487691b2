/**
 * The figures that a DaemonSet's status may have for each generation: sums over nodes that were in that state at some
 * time since the generation started.
 */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { ObservedWorld } from './observed-world.js';
import { belongs, hasTemplateGeneration } from './reference-placement.js';
import { isReady, versionOf } from './stored-truth.js';

/** Names of nodes that some time since a generation began were so. */
export interface Figures {
  version: string | undefined;
  belonged: Set<string>;
  notBelonged: Set<string>;
  updated: Set<string>;
  ready: Set<string>;
}

function emptyFigures(version: string | undefined): Figures {
  return { version, belonged: new Set(), notBelonged: new Set(), updated: new Set(), ready: new Set() };
}

export class FigureHistory {
  readonly #book = new Map<string, Map<number, Figures>>();

  /**
   * Must receive every change. A status of an older generation may still be in flight, so all generations are tracked.
   */
  committed({ stored: truth }: ObservedWorld): void {
    for (const daemonSet of truth.daemonSets.values()) {
      const { uid = '', generation = 0 } = daemonSet.metadata;
      const all = this.#book.get(uid) ?? new Map<number, Figures>();
      this.#book.set(uid, all);
      // After a restore a generation's number comes again, for another template.
      const version = versionOf(daemonSet.spec.template);
      const known = all.get(generation);
      const isNew = known === undefined || known.version !== version;
      if (isNew) all.set(generation, emptyFigures(version));
      for (const each of all.values()) note(each, daemonSet, isNew, truth);
    }
  }

  of(uid: string, generation: number): Figures | undefined {
    return this.#book.get(uid)?.get(generation);
  }
}

function note(figures: Figures, daemonSet: DaemonSet, isNew: boolean, truth: ObservedWorld['stored']): void {
  for (const [name, node] of truth.nodes) {
    // A node that joined since was none before.
    if (!isNew && !figures.belonged.has(name)) figures.notBelonged.add(name);
    (belongs(daemonSet, node) ? figures.belonged : figures.notBelonged).add(name);
    const pods = truth.podsOf(daemonSet, name);
    if (pods.some((pod) => versionOf(pod) === figures.version || hasTemplateGeneration(pod, daemonSet)))
      figures.updated.add(name);
    if (pods.some(isReady)) figures.ready.add(name);
  }
  for (const name of figures.belonged) if (!truth.nodes.has(name)) figures.notBelonged.add(name);
}
