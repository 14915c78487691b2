/** What a host must receive so that its endpoints of a Service become the current ones. */
import type { EndpointState } from '../../../shared/kube/services/service-view.js';

/** An endpoint with the state that the host received last. */
export interface SentEndpoint {
  id: number;
  state: EndpointState;
}

/** The lists of ids name endpoints that changed only their state, which costs a few bytes. */
interface EndpointDifference<T> extends Record<EndpointState, number[]> {
  set: T[];
  removed: number[];
}

/** Returns the changes from the endpoints that were sent to the current ones. Undefined if there are none. */
export function endpointDifference<T extends SentEndpoint>(
  sent: readonly SentEndpoint[],
  current: readonly T[],
): EndpointDifference<T> | undefined {
  const difference: EndpointDifference<T> = {
    set: [],
    removed: [],
    ready: [],
    terminating: [],
    notReady: [],
  };
  const before = new Map(sent.map(({ id, state }) => [id, state]));
  for (const endpoint of current) {
    const state = before.get(endpoint.id);
    before.delete(endpoint.id);
    if (state === undefined) difference.set.push(endpoint);
    else if (state !== endpoint.state) difference[endpoint.state].push(endpoint.id);
  }
  difference.removed.push(...before.keys());
  return Object.values(difference).every(({ length }) => length === 0) ? undefined : difference;
}
