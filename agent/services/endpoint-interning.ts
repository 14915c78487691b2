/**
 * Shares equal strings and lists among the endpoints of all views. A decoded message has its own copy of each node's name
 * per Service, which would multiply the table's memory.
 */
import type { RemoteEndpoint, ServiceView } from '../../shared/kube/services/service-view.js';

/** More distinct values than the views of a host have. Beyond it sharing starts again, so that old values are freed. */
const MAX_VALUES = 20_000;

export class EndpointInterning {
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, (string | number)[]>();

  view(view: ServiceView): ServiceView {
    return { ...view, remote: view.remote.map((endpoint) => this.endpoint(endpoint)) };
  }

  /** The fields are always in the same order, so that all endpoints share one hidden class. */
  endpoint({ id, node, hostname, zone, addresses, ports, state }: RemoteEndpoint): RemoteEndpoint {
    if (this.#texts.size + this.#lists.size > MAX_VALUES) {
      this.#texts.clear();
      this.#lists.clear();
    }
    return {
      id,
      node: this.#text(node),
      hostname: this.#text(hostname),
      zone: this.#text(zone),
      addresses: this.#list(addresses),
      ports: this.#list(ports),
      state: this.#text(state) as RemoteEndpoint['state'],
    };
  }

  #text(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }

  #list<T extends string | number>(list: T[]): T[] {
    const key = list.join(' ');
    const known = this.#lists.get(key);
    if (known) return known as T[];
    this.#lists.set(key, list);
    return list;
  }
}
