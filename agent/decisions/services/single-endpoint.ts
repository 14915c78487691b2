/** Endpoints that a host knows only because a Pod asked for them by name. */
import { type RemoteEndpoint, VIEW_SIZE } from '../../../shared/kube/services/service-view.js';
import type { HostService } from './host-service.js';

/** Returns true if the Service may have an endpoint with this hostname that its view lacks. */
export function mayLackEndpoint({ view, local }: HostService, hostname: string): boolean {
  if (view.remote.length < VIEW_SIZE) return false;
  return ![...local, ...view.remote].some((endpoint) => endpoint.hostname.toLowerCase() === hostname);
}

/** Returns the Service with more endpoints of other hosts, for one answer. */
export function withEndpoints({ view, local }: HostService, endpoints: RemoteEndpoint[]): HostService {
  return { view: { ...view, remote: [...view.remote, ...endpoints] }, local };
}
