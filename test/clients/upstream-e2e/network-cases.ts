/** Assertions of test/e2e/network and test/e2e/instrumentation. */
import type { UpstreamCase } from './upstream-case.js';

const NO_SERVICE = 'There is no Service `default/kubernetes`.';
const SERVICES_FILE = 'network/service.go';
const SLICES_FILE = 'network/endpointslice.go';
const CORE_EVENTS_FILE = 'instrumentation/core_events.go';
const EVENTS_FILE = 'instrumentation/events.go';

function service(name: string, more: object = {}): object {
  const spec = { selector: { app: name }, ports: [{ port: 80 }], ...more };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, labels: { e2e: name } }, spec };
}

function coreEvent(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, labels: { e2e: 'events' } },
    message: 'first',
    reason: 'Test',
    type: 'Normal',
    involvedObject: { kind: 'Pod', namespace: 'NS', name: 'x' },
  };
}

function newEvent(name: string): object {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, labels: { e2e: 'events' } },
    regarding: { kind: 'Pod', namespace: 'NS', name: 'x' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    note: 'first',
    type: 'Normal',
    action: 'Do',
    reason: 'Test',
    reportingController: 'e2e',
    reportingInstance: 'e2e-1',
  };
}

export const NETWORK_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-network] Services should provide secure master service',
    file: SERVICES_FILE,
    deviation: NO_SERVICE,
    steps: [['!get service kubernetes -n default', /NotFound/]],
  },
  {
    title: '[sig-network] Services should find a service from listing all namespaces',
    file: SERVICES_FILE,
    steps: [
      ['create -f -', /created/, service('found')],
      ['get services -A -l e2e=found -o name', /^service\/found$/],
    ],
  },
  {
    title: '[sig-network] Services should delete a collection of services',
    file: SERVICES_FILE,
    steps: [
      ['create -f -', /created/, service('collected')],
      ['delete services -l e2e=collected', /deleted/],
      ['get services', /No resources found/],
    ],
  },
  {
    title: '[sig-network] Services should complete a service status lifecycle',
    file: SERVICES_FILE,
    steps: [
      ['create -f -', /created/, service('life')],
      [
        'patch service life --subresource=status --type=merge -p {"status":{"conditions":[{"type":"Patched","status":"True","reason":"E2E","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}',
        /patched/,
      ],
      ['get service life -o jsonpath={.status.conditions[*].type}', /^Patched$/],
      ['patch service life -p {"metadata":{"labels":{"e2e":"patched"}}}', /patched/],
      ['delete service life', /deleted/],
      ['!get service life', /NotFound/],
    ],
  },
  {
    title: '[sig-network] Services should be able to change the type from ClusterIP to ExternalName',
    file: SERVICES_FILE,
    steps: [
      ['create -f -', /created/, service('typed')],
      [
        'patch service typed --type=merge -p {"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":"","clusterIPs":null}}',
        /patched/,
      ],
      ['get service typed -o jsonpath={.spec.type},{.spec.clusterIP}', /^ExternalName,$/],
    ],
  },
  {
    title: '[sig-network] EndpointSlice should have Endpoints and EndpointSlices pointing to API Server',
    file: SLICES_FILE,
    deviation: NO_SERVICE,
    steps: [
      ['!get endpoints kubernetes -n default', /NotFound/],
      ['get --raw /api', /serverAddressByClientCIDRs/],
    ],
  },
  {
    title:
      '[sig-network] EndpointSlice should create and delete Endpoints and EndpointSlices for a Service with a selector specified',
    file: SLICES_FILE,
    steps: [
      ['create -f -', /created/, service('selected')],
      ['~get endpoints selected -o name', /selected/],
      ['~get endpointslices -l kubernetes.io/service-name=selected -o name', /selected/],
      ['delete service selected', /deleted/],
      ['~get endpointslices -l kubernetes.io/service-name=selected -o name', /^$/],
      ['~get endpoints -o name', /^$/],
    ],
  },
  {
    title: '[sig-network] EndpointSlice should support creating EndpointSlice API operations',
    file: SLICES_FILE,
    steps: [
      [
        'create -f -',
        /created/,
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { name: 'slice', labels: { e2e: 'slice' } },
          addressType: 'IPv4',
          endpoints: [{ addresses: ['1.2.3.4'] }],
        },
      ],
      [
        'patch endpointslice slice --type=merge -p {"metadata":{"annotations":{"patched":"true"}}}',
        /patched/,
      ],
      ['get endpointslices -A -l e2e=slice -o jsonpath={.items[*].metadata.annotations.patched}', /^true$/],
      ['delete endpointslices -l e2e=slice', /deleted/],
      ['!get endpointslice slice', /NotFound/],
    ],
  },
  {
    title: '[sig-instrumentation] Events should manage the lifecycle of an event',
    file: CORE_EVENTS_FILE,
    steps: [
      ['create -f -', /created/, coreEvent('life')],
      ['patch event life -p {"message":"second"}', /patched/],
      [
        'get events -A -l e2e=events --field-selector=metadata.namespace=NS -o jsonpath={.items[*].message}',
        /^second$/,
      ],
      ['delete event life', /deleted/],
      ['!get event life', /NotFound/],
    ],
  },
  {
    title: '[sig-instrumentation] Events should delete a collection of events',
    file: CORE_EVENTS_FILE,
    steps: [
      ['create -f -', /created/, coreEvent('one')],
      ['create -f -', /created/, coreEvent('two')],
      ['delete --raw /api/v1/namespaces/NS/events?labelSelector=e2e%3Devents', /EventList|Success/],
      ['get events -l e2e=events', /No resources found/],
    ],
  },
  {
    title:
      '[sig-instrumentation] Events API should ensure that an event can be fetched, patched, deleted, and listed',
    file: EVENTS_FILE,
    steps: [
      ['create -f -', /created/, newEvent('life')],
      [
        'patch events.events.k8s.io life --type=merge -p {"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:01.000000Z"}}',
        /patched/,
      ],
      ['get events.events.k8s.io life -o jsonpath={.series.count}', /^2$/],
      ['delete events.events.k8s.io life', /deleted/],
      ['!get events.events.k8s.io life', /NotFound/],
    ],
  },
  {
    title: '[sig-instrumentation] Events API should delete a collection of events',
    file: EVENTS_FILE,
    steps: [
      ['create -f -', /created/, newEvent('one')],
      ['create -f -', /created/, newEvent('two')],
      [
        'delete --raw /apis/events.k8s.io/v1/namespaces/NS/events?labelSelector=e2e%3Devents',
        /EventList|Success/,
      ],
      ['get events.events.k8s.io -l e2e=events', /No resources found/],
    ],
  },
];
