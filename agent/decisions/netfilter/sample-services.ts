/** Services whose rules use every feature of nft and of the kernel that the service proxy needs. */
import type { ServiceView } from '../../../shared/kube/services/service-view.js';
import type { HostService } from '../services/host-service.js';
import type { ProxyNode } from './service-targets.js';

export const SAMPLE_NODE: ProxyNode = { name: 'sample', zone: '', addresses: [] };

/** Addresses are of the networks for documentation (RFC 5737). */
export function sampleServices(): HostService[] {
  return [sampleService('random', 0), sampleService('affine', 60)];
}

function sampleService(name: string, affinitySeconds: number): HostService {
  const number = affinitySeconds === 0 ? 1 : 2;
  const view: ServiceView = {
    namespace: 'sample',
    name,
    uid: name,
    addressing: { type: 'clusterIP', address: `192.0.2.${number}` },
    ports: ['TCP', 'UDP'].map((protocol) => ({
      name: '',
      protocol,
      port: 80,
      targetPort: 80,
      nodePort: 30_000 + number,
    })),
    publishNotReadyAddresses: false,
    traffic: {
      internal: 'Cluster',
      external: 'Cluster',
      prefer: 'none',
      strictZone: false,
      affinitySeconds,
    },
    remote: [1, 2].map((id) => ({
      id,
      node: '',
      hostname: '',
      zone: '',
      addresses: [`198.51.100.${id}`],
      ports: [8080, 8080],
      state: 'ready' as const,
    })),
  };
  return { view, local: [] };
}
