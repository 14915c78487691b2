/**
 * Shares equal strings and lists among the endpoints of a Service. A decoded message has a copy of each for every
 * endpoint, which would double the table's memory.
 */
import type { RemoteEndpoint, ServiceView } from '../../shared/kube/services/service-view.js';

export function withSharedValues(view: ServiceView): ServiceView {
  const copy = copied(view);
  return { ...copy, remote: sharing(copy.remote, []) };
}

/** Returns equal endpoints that share values with each other and with `others`. */
export function shareValues(
  endpoints: readonly RemoteEndpoint[],
  others: readonly RemoteEndpoint[],
): RemoteEndpoint[] {
  return sharing(copied(endpoints), others);
}

/** A decoded string may be a slice that keeps its whole message in memory. Copied strings are independent. */
function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function sharing(endpoints: readonly RemoteEndpoint[], others: readonly RemoteEndpoint[]): RemoteEndpoint[] {
  const values = new SharedValues();
  for (const { zone, ports, state } of others) {
    values.text(zone);
    values.text(state);
    values.list(ports);
  }
  // The fields are always in the same order, so that all endpoints share one hidden class.
  return endpoints.map(({ id, node, hostname, zone, addresses, ports, state }) => ({
    id,
    node,
    hostname: hostname === node ? node : hostname,
    zone: values.text(zone),
    addresses,
    ports: values.list(ports),
    state: values.text(state) as RemoteEndpoint['state'],
  }));
}

class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, number[]>();

  text(text: string): string {
    const known = this.#texts.get(text);
    if (known === undefined) this.#texts.set(text, text);
    return known ?? text;
  }

  list(list: number[]): number[] {
    const key = list.join(' ');
    const known = this.#lists.get(key);
    if (known === undefined) this.#lists.set(key, list);
    return known ?? list;
  }
}
