/** Finds the Services that select a Pod without visiting all Services of its namespace. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import { type Service, serviceKey } from '../../../shared/kube/services/service-types.js';

/** Returns the selector of a Service whose endpoints the coordinator writes, or undefined (`syncService` of upstream). */
export function endpointSelectorOf({ spec }: Service): Labels | undefined {
  const { type, selector = {} } = spec ?? {};
  return type !== 'ExternalName' && Object.keys(selector).length > 0 ? selector : undefined;
}

export function selectsLabels(selector: Labels, labels: Labels | undefined): boolean {
  return Object.entries(selector).every(([key, value]) => ownValue(labels, key) === value);
}

/** Each Service is listed under one label of its selector, with its namespace. */
export class ServiceSelectorIndex {
  readonly #byLabel = new Map<string, Map<string, Labels>>();

  changed(previous: Service | undefined, current: Service | undefined): void {
    if (previous) this.#remove(previous);
    const selector = current && endpointSelectorOf(current);
    if (!current || !selector) return;
    const label = labelOf(current, selector);
    const services = this.#byLabel.get(label) ?? new Map<string, Labels>();
    this.#byLabel.set(label, services.set(serviceKey(current.metadata), selector));
  }

  /** Returns the keys of the Services that select this object. */
  servicesOf({ metadata }: KubeObject): string[] {
    const found: string[] = [];
    // In a fleet without Services, the change of a Pod costs nothing here.
    if (this.#byLabel.size === 0) return found;
    const { namespace = '', labels = {} } = metadata;
    for (const [key, value] of Object.entries(labels)) {
      for (const [service, selector] of this.#byLabel.get(`${namespace} ${key}=${value}`) ?? [])
        if (selectsLabels(selector, labels)) found.push(service);
    }
    return found;
  }

  #remove(service: Service): void {
    const selector = endpointSelectorOf(service);
    if (!selector) return;
    const label = labelOf(service, selector);
    const services = this.#byLabel.get(label);
    services?.delete(serviceKey(service.metadata));
    if (services?.size === 0) this.#byLabel.delete(label);
  }
}

/** The last label by name: common ones such as `app.kubernetes.io/name` come first and select more Services. */
function labelOf({ metadata }: Service, selector: Labels): string {
  const [key, value] = Object.entries(selector).sort(([one], [other]) => (one < other ? 1 : -1))[0] ?? [];
  return `${metadata.namespace ?? ''} ${key}=${value}`;
}
