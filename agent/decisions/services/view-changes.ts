/** Applies the hub's changes of remote endpoints to a view. */
import type {
  EndpointState,
  RemoteEndpoint,
  ServiceView,
} from '../../../shared/kube/services/service-view.js';

/** New or changed endpoints, and ids of endpoints that changed only their state or were removed. */
interface EndpointChangeSet extends Record<'removed' | EndpointState, readonly number[]> {
  set: readonly RemoteEndpoint[];
}

interface ChangedView {
  view: ServiceView;
  /** False if the change names endpoints that the view lacks: the host must request the view again. */
  isComplete: boolean;
}

/** Returns the view after the changes. Unchanged endpoints stay the same objects. */
export function afterEndpointChanges(view: ServiceView, changes: EndpointChangeSet): ChangedView {
  const byId = new Map(view.remote.map((endpoint) => [endpoint.id, endpoint]));
  let isComplete = true;
  for (const id of changes.removed) if (!byId.delete(id)) isComplete = false;
  for (const endpoint of changes.set) byId.set(endpoint.id, endpoint);
  const setState = (id: number, state: EndpointState): void => {
    const endpoint = byId.get(id);
    if (endpoint) byId.set(id, withState(endpoint, state));
    else isComplete = false;
  };
  for (const id of changes.ready) setState(id, 'ready');
  for (const id of changes.terminating) setState(id, 'terminating');
  for (const id of changes.notReady) setState(id, 'notReady');
  return { view: { ...view, remote: [...byId.values()] }, isComplete };
}

function withState(endpoint: RemoteEndpoint, state: EndpointState): RemoteEndpoint {
  return endpoint.state === state ? endpoint : { ...endpoint, state };
}
