/** Addresses and ports that a Service uses. */
import { relayPortsOf } from './service-annotations.js';
import { HEADLESS, type Service } from './service-types.js';

export interface ServiceUsage {
  addresses: ReadonlySet<string>;
  /** Node ports, the health check port and relay ports. No two Services share one, whatever the protocol. */
  ports: ReadonlySet<number>;
}

export function usageOf({ metadata, spec = {} }: Service): ServiceUsage {
  const addresses = [spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])];
  const ports = [
    ...(spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0),
    spec.healthCheckNodePort ?? 0,
    ...relayPortsOf(metadata).values(),
  ];
  return {
    addresses: new Set(addresses.filter((address) => address !== '' && address !== HEADLESS)),
    ports: new Set(ports.filter((port) => port > 0)),
  };
}
