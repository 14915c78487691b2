/** API calls of the values commands. */
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { controllerOf, FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { type ObjectWithHistory, restoringPatch } from '../../../shared/kube/objects/spec-history.js';
import { type ApiClient, connect } from '../client/api-client.js';
import type { KubeconfigOptions } from '../client/kubeconfig-choice.js';
import type { SettingsObject } from './settings-target.js';

/** Selects the coordinator and the namespace. */
export interface SettingsOptions extends KubeconfigOptions {
  namespace?: string;
}

/** All that decides what the Pods of a DaemonSet are. */
export interface PodSources {
  daemonSet: DaemonSet;
  /** Templates, also earlier ones. */
  revisions: ControllerRevision[];
  hostValues: HostValues[];
  overrides: DaemonSetOverride[];
}

export class SettingsClient {
  readonly #api: ApiClient;
  readonly #namespace: string;

  /** Throws ExitError. */
  constructor({ namespace, ...options }: SettingsOptions) {
    this.#api = connect(options);
    this.#namespace = encodeURIComponent(namespace ?? this.#api.namespace);
  }

  get(target: SettingsObject): Promise<ObjectWithHistory> {
    return this.#api.request<ObjectWithHistory>('GET', this.#pathOf(target));
  }

  /** Returns false if the object has this spec already. Throws a Conflict if it was changed since it was read. */
  async restore(target: SettingsObject, present: ObjectWithHistory, spec: object): Promise<boolean> {
    const patch = restoringPatch(present, spec);
    if (!patch) return false;
    await this.#api.request('PATCH', this.#pathOf(target), patch);
    return true;
  }

  async sourcesOf(daemonSetName: string): Promise<PodSources> {
    const apps = `/apis/apps/v1/namespaces/${this.#namespace}`;
    const daemonSet = await this.#api.request<DaemonSet>(
      'GET',
      `${apps}/daemonsets/${encodeURIComponent(daemonSetName)}`,
    );
    const [revisions, hostValues, overrides] = await Promise.all([
      this.#list<ControllerRevision>(`${apps}/controllerrevisions`),
      this.#list<HostValues>(`${this.#fleet}/hostvalues`),
      this.#list<DaemonSetOverride>(`${this.#fleet}/daemonsetoverrides`),
    ]);
    return {
      daemonSet,
      revisions: revisions.filter(({ metadata }) => controllerOf(metadata)?.uid === daemonSet.metadata.uid),
      hostValues,
      overrides: overrides.filter(({ spec }) => spec.daemonSetName === daemonSetName),
    };
  }

  get #fleet(): string {
    return `/apis/${FLEET_GROUP}/v1/namespaces/${this.#namespace}`;
  }

  #pathOf({ resource, name }: SettingsObject): string {
    return `${this.#fleet}/${resource}/${encodeURIComponent(name)}`;
  }

  async #list<T>(path: string): Promise<T[]> {
    return (await this.#api.request<{ items: T[] }>('GET', path)).items;
  }
}
