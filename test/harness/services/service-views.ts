/** Builders of Service views and their endpoints. A test sets only the fields that matter to it. */
import type { RemoteEndpoint, ServiceView } from '../../../shared/kube/services/service-view.js';

/** A headless Service with the selector `app: web` and the port 80 at the container port 8080. */
export function serviceView(name: string, fields: Partial<ServiceView> = {}): ServiceView {
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    addressing: { type: 'headless' },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 0 }],
    selector: { app: 'web' },
    publishNotReadyAddresses: false,
    traffic: {
      internal: 'Cluster',
      external: 'Cluster',
      prefer: 'none',
      strictZone: false,
      affinitySeconds: 0,
    },
    remote: [],
    ...fields,
  };
}

/** A ready endpoint of a daemon on another host. */
export function remoteEndpoint(id: number, fields: Partial<RemoteEndpoint> = {}): RemoteEndpoint {
  return {
    id,
    node: `node-${id}`,
    hostname: `node-${id}`,
    zone: 'a',
    addresses: [`10.1.${id >> 8}.${id & 255}`],
    ports: [8080],
    state: 'ready',
    ...fields,
  };
}
