/** Plans what manifests would change on hosts, from dry runs of the registry and from informers. Writes nothing. */

import type { ServiceAccount } from '../../../shared/kube/access/service-account-types.js';
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  CHANGING_ACTIONS,
  type DaemonSetPlan,
  type Plan,
  type PlanRequest,
} from '../../../shared/kube/fleet/plan-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { countText, FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../../shared/kube/pods/priority-class.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  daemonSetKind,
  daemonSetOverrideKind,
  hostValuesKind,
  namespaceKind,
  nodeKind,
  podKind,
  priorityClassKind,
  rolloutPolicyKind,
  serviceAccountKind,
} from '../../kinds/index.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { WriteOptions } from '../../registry/registry-options.js';
import { type DryRunResult, dryRunApply, dryRunReplace } from '../../registry/writes/dry-run-apply.js';
import { usedKeys } from '../host-values/node-template.js';
import { type ChangedObjects, isConcerned } from './concerned-daemonsets.js';
import { planDaemonSet } from './daemonset-planner.js';
import { OverlayInformers, type PlanInformers } from './overlay-informers.js';
import { policyWarnings, type WrittenPolicy } from './policy-warnings.js';

interface PlannerDeps {
  registry: Registry;
  informers: PlanInformers;
  clock: Clock;
}

type Manifest = Record<string, unknown> & { metadata?: { name?: unknown; namespace?: unknown } };

/** The caller's rights. */
interface PlanRights {
  mayRead(kind: Kind, ref: ObjectRef): boolean;
  /** Throws ApiError 403. */
  requireRead(kind: Kind, ref: ObjectRef): void;
}

/** Default namespace, verb and caller of the manifests. */
interface Way extends Required<Omit<PlanRequest, 'manifests'>> {
  rights: PlanRights;
}

/** The results of all dry runs, by kind. */
interface Applied extends ChangedObjects {
  daemonSets: DryRunResult<DaemonSet>[];
  policies: DryRunResult<RolloutPolicy>[];
  nodes: DryRunResult<Node>[];
  hostValues: DryRunResult<HostValues>[];
  overrides: DryRunResult<DaemonSetOverride>[];
  /** Objects that the admission of the others needs. */
  assumed: (Namespace | ServiceAccount | PriorityClass)[];
}

export class ManifestPlanner {
  readonly #deps: PlannerDeps;

  constructor(deps: PlannerDeps) {
    this.#deps = deps;
  }

  /**
   * Plans all manifests together. Manifests that the API would refuse are named in the plan and left out of it. An
   * object that the caller may not read is refused, because a plan shows the stored object. Other unreadable DaemonSets
   * are only counted.
   */
  async planManifests(
    { manifests, namespace = 'default', mode = 'apply' }: PlanRequest,
    rights: PlanRights,
  ): Promise<Plan> {
    const notes = new Set<string>();
    const refused: Plan['refused'] = [];
    const applied: Applied = {
      ...{ daemonSets: [], policies: [], nodes: [], hostValues: [], overrides: [], assumed: [] },
    };
    for (const manifest of manifests.flatMap(itemsOf)) {
      try {
        await this.#apply(manifest, { namespace, mode, rights }, applied, notes);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refused.push({ ...namesOf(manifest), message: error.message });
      }
    }
    const overlay = this.#overlayOf(applied);
    for (const policy of applied.policies) {
      for (const warning of await this.#warningsIn(overlay, { ...policy, mayNameNodes: true }))
        notes.add(warning);
    }
    const plans = await this.#plans(applied, overlay);
    const daemonSets = plans
      .filter((plan) => rights.mayRead(daemonSetKind, plan))
      .map((plan) => (mayReadSettings(rights, plan) ? plan : withoutVariants(plan)));
    const unreadable = plans.filter(
      (plan) => changesHosts(plan) && !rights.mayRead(daemonSetKind, plan),
    ).length;
    if (unreadable > 0) notes.add(unreadableNote(unreadable));
    return {
      kind: 'Plan',
      apiVersion: `${FLEET_GROUP}/v1`,
      verdict: verdictOf(plans, refused),
      ...{ daemonSets, refused, notes: [...notes] },
    };
  }

  /** Plans one DaemonSet after a dry run. `before`: as stored. */
  planDaemonSet(after: DaemonSet, before: DaemonSet | undefined): Promise<DaemonSetPlan> {
    const { informers, clock } = this.#deps;
    const overlay = new OverlayInformers(informers, { daemonSets: [after], policies: [], nodes: [] });
    return planDaemonSet({ before, after, overlay, informers, clock, refusalOf: this.#refusals() });
  }

  /** Returns warnings for the author of a policy. */
  warningsFor(write: WrittenPolicy): Promise<string[]> {
    const { before, after } = write;
    const policies = after ? [after] : [];
    const gone = before && !after ? [before] : [];
    const overlay = new OverlayInformers(this.#deps.informers, { daemonSets: [], policies, nodes: [], gone });
    return this.#warningsIn(overlay, write);
  }

  #warningsIn(overlay: OverlayInformers, write: WrittenPolicy): Promise<string[]> {
    const { informers, clock } = this.#deps;
    return policyWarnings({ ...write, overlay, informers, clock });
  }

  #overlayOf({ daemonSets, policies, nodes, hostValues, overrides }: Applied): OverlayInformers {
    return new OverlayInformers(this.#deps.informers, {
      daemonSets: daemonSets.map(({ after }) => after),
      policies: policies.map(({ after }) => after),
      nodes: nodes.map(({ after }) => after),
      hostValues: hostValues.map(({ after }) => after),
      overrides: overrides.map(({ after }) => after),
    });
  }

  async #apply(manifest: Manifest, way: Way, applied: Applied, notes: Set<string>): Promise<void> {
    const { assumed } = applied;
    const warn = (text: string) => void notes.add(text);
    const foresee = <T extends KubeObject>(kind: Kind<T>) =>
      this.#foresee(kind, manifest, way, { warn, assumed });
    switch (`${manifest.apiVersion}/${manifest.kind}`) {
      case `${apiVersionOf(daemonSetKind)}/DaemonSet`:
        applied.daemonSets.push(await foresee(daemonSetKind));
        return;
      case `${apiVersionOf(rolloutPolicyKind)}/RolloutPolicy`:
        applied.policies.push(await foresee(rolloutPolicyKind));
        return;
      case `${apiVersionOf(hostValuesKind)}/HostValues`:
        applied.hostValues.push(await foresee(hostValuesKind));
        return;
      case `${apiVersionOf(daemonSetOverrideKind)}/DaemonSetOverride`:
        applied.overrides.push(await foresee(daemonSetOverrideKind));
        return;
      case 'v1/Node':
        applied.nodes.push(await foresee(nodeKind));
        return;
      case 'v1/Namespace':
        assumed.push((await foresee(namespaceKind)).after);
        return;
      case 'v1/ServiceAccount':
        assumed.push((await foresee(serviceAccountKind)).after);
        return;
      case `${apiVersionOf(priorityClassKind)}/PriorityClass`:
        assumed.push((await foresee(priorityClassKind)).after);
        return;
      default: {
        const { kind, name } = namesOf(manifest);
        notes.add(`${kind} ${name}: does not start or stop Pods by itself, so it is not planned`);
      }
    }
  }

  async #foresee<T extends KubeObject>(
    kind: Kind<T>,
    manifest: Manifest,
    { namespace, mode, rights }: Way,
    options: Pick<WriteOptions, 'warn' | 'assumed'>,
  ): Promise<DryRunResult<T>> {
    const { name } = namesOf(manifest);
    const own = manifest.metadata?.namespace;
    const ref = kind.namespaced
      ? { name, namespace: typeof own === 'string' && own ? own : namespace }
      : { name };
    rights.requireRead(kind, ref);
    const foresee = mode === 'replace' ? dryRunReplace : dryRunApply;
    return foresee(this.#deps.registry, kind, ref, manifest, options);
  }

  /** Returns a check that creates a Pod in a dry run, with the same admission as the controller's creates. */
  #refusals(assumed: readonly KubeObject[] = []): (pod: Pod) => Promise<string | undefined> {
    return async (pod) => {
      try {
        await this.#deps.registry.create(podKind, pod.metadata.namespace, pod, { dryRun: true, assumed });
        return undefined;
      } catch (error) {
        if (error instanceof ApiError) return error.message;
        throw error;
      }
    };
  }

  /** Plans the applied DaemonSets and those that other applied objects concern, by namespace and name. */
  async #plans(applied: Applied, overlay: OverlayInformers): Promise<DaemonSetPlan[]> {
    const { daemonSets, assumed } = applied;
    const { informers, clock } = this.#deps;
    const refusalOf = this.#refusals(assumed);
    const subjects = new Map<string, DryRunResult<DaemonSet>>();
    for (const stored of informers.daemonSets.list()) {
      if (stored.metadata.deletionTimestamp) continue;
      const keys = usedKeys(overlay.nodeReader, stored);
      if (isConcerned(applied, stored, keys)) subjects.set(keyOf(stored), { before: stored, after: stored });
    }
    for (const foreseen of daemonSets) subjects.set(keyOf(foreseen.after), foreseen);
    const plans: DaemonSetPlan[] = [];
    for (const [, { before, after }] of [...subjects].sort(([a], [b]) => (a < b ? -1 : 1))) {
      plans.push(await planDaemonSet({ before, after, overlay, informers, clock, refusalOf }));
    }
    return plans;
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Returns the items of a List, as `kubectl get -o yaml` prints it. */
function itemsOf(manifest: unknown): Manifest[] {
  if (typeof manifest !== 'object' || manifest === null) return [];
  const { items } = manifest as { items?: unknown };
  return Array.isArray(items) ? items.flatMap(itemsOf) : [manifest as Manifest];
}

function namesOf({ kind, metadata }: Manifest): { kind: string; name: string } {
  const { name } = metadata ?? {};
  return { kind: typeof kind === 'string' ? kind : 'object', name: typeof name === 'string' ? name : '' };
}

function verdictOf(plans: readonly DaemonSetPlan[], refused: Plan['refused']): Plan['verdict'] {
  if (refused.length > 0 || plans.some(({ blockedBy }) => blockedBy !== undefined)) return 'Blocked';
  const changes = plans.some((plan) => plan.change !== 'None' || changesHosts(plan));
  return changes ? 'Changes' : 'NoChange';
}

function changesHosts({ counts }: DaemonSetPlan): boolean {
  return CHANGING_ACTIONS.some((action) => counts[action] > 0);
}

/** Variants show values. The name of no object stands for all of the namespace. */
function mayReadSettings(rights: PlanRights, { namespace }: DaemonSetPlan): boolean {
  return [hostValuesKind, daemonSetOverrideKind].every((kind) =>
    rights.mayRead(kind, { namespace, name: '' }),
  );
}

function withoutVariants({ otherVariants: _, ...plan }: DaemonSetPlan): DaemonSetPlan {
  return { ...plan, variants: [] };
}

function unreadableNote(count: number): string {
  const which = countText(count, 'more DaemonSet', 'more DaemonSets');
  return `${which} would change hosts; you are not allowed to read ${count === 1 ? 'it' : 'them'}`;
}
