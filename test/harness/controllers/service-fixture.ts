/** A control plane with the controller of endpoints, and Pods as their hosts report them. */
import { startEndpointController } from '../../../coordinator/controllers/services/endpoint-controller.js';
import { podKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { ConditionStatus } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { PodSpec, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { Endpoint, EndpointSlice, Endpoints } from '../../../shared/kube/services/endpoint-types.js';
import type { ServiceSpec } from '../../../shared/kube/services/service-types.js';
import { podObject } from '../objects/object-builders.js';
import { type ControlPlane, withControlPlane } from './control-plane-fixture.js';

/** Longer than the controller gathers changes of a small Service. */
export const GATHERED_MS = 1_000;

export interface ServiceFixture extends ControlPlane {
  /** Creates a Service in `default` that selects `app: NAME` at port 80. */
  service(name: string, spec?: Partial<ServiceSpec>, meta?: object): Promise<void>;
  /** Creates a ready Pod in the host network of a node, with the label `app`. */
  pod(name: string, options: RunningPod): Promise<void>;
  setStatus(pod: string, status: PodStatus): Promise<void>;
  setReady(pod: string, ready: ConditionStatus): Promise<void>;
  slices(service?: string): EndpointSlice[];
  /** Endpoints of all slices. */
  listed(service?: string): Endpoint[];
  /** Names of Pods that are ready endpoints, sorted. */
  ready(service?: string): string[];
  endpoints(name?: string): Endpoints | undefined;
  restartController(): Promise<void>;
  /** Runs until slices and then Endpoints show all changes. */
  gather(): Promise<void>;
}

export interface RunningPod {
  app: string;
  node: string;
  spec?: Partial<PodSpec>;
  meta?: object;
  ip?: string;
}

export function withServices(rule: string, check: (fixture: ServiceFixture) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const start = () =>
      startEndpointController({
        ...plane,
        recordEvent: plane.events.forComponent('endpoint-slice-controller'),
      });
    let controller = start();
    const restartController = async () => {
      await controller.stop();
      controller = start();
      await plane.settle();
    };
    try {
      await check({ ...serviceFixture(plane), restartController });
    } finally {
      await controller.stop();
    }
  });
}

function serviceFixture(plane: ControlPlane): Omit<ServiceFixture, 'restartController'> {
  const { registry, informers, settle, clock } = plane;
  const fixture: Omit<ServiceFixture, 'restartController'> = {
    ...plane,
    gather: async () => {
      await settle();
      await plane.advance(GATHERED_MS);
      await plane.advance(GATHERED_MS);
    },
    service: async (name, spec = {}, meta = {}) => {
      await registry.create(serviceKind, 'default', {
        metadata: { name, ...meta },
        spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
      });
      await settle();
    },
    pod: async (name, { app, node, spec = {}, meta = {}, ip = '10.0.0.1' }) => {
      const body = podObject(
        name,
        { nodeName: node, hostNetwork: true, ...spec },
        { labels: { app }, ...meta },
      );
      await registry.create(podKind, 'default', body);
      await fixture.setStatus(name, { phase: 'Running', hostIP: ip, podIP: ip, podIPs: [{ ip }] });
      await fixture.setReady(name, 'True');
    },
    setStatus: async (name, status) => {
      const ref = { namespace: 'default', name };
      await registry.writeStatus(podKind, ref, (pod) => ({ ...pod.status, ...status }));
      await settle();
    },
    setReady: (name, status) =>
      fixture.setStatus(name, {
        conditions: [{ type: 'Ready', status, lastTransitionTime: toTimestamp(clock.now()) }],
      }),
    slices: (service = 'web') =>
      [...informers.endpointSlices.list()].filter(
        ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service,
      ),
    listed: (service = 'web') => fixture.slices(service).flatMap(({ endpoints }) => endpoints ?? []),
    ready: (service = 'web') =>
      fixture
        .listed(service)
        .filter(({ conditions }) => conditions?.ready)
        .map(({ targetRef }) => targetRef?.name ?? '')
        .sort(),
    endpoints: (name = 'web') => informers.endpoints.get({ namespace: 'default', name }),
  };
  return fixture;
}
