import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { GarbageCollector } from '../../../coordinator/controllers/gc/garbage-collector.js';
import { NamespaceController } from '../../../coordinator/controllers/gc/namespace-controller.js';
import {
  endpointSliceKind,
  endpointsKind,
  namespaceKind,
  nodeKind,
  podKind,
  serviceKind,
} from '../../../coordinator/kinds/index.js';
import type { EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { type ServiceFixture, withServices } from '../../harness/controllers/service-fixture.js';

const WEB = { namespace: 'default', name: 'web' };

async function withOnePod(fixture: ServiceFixture): Promise<void> {
  await joinNode(fixture, 'n1');
  await fixture.service('web');
  await fixture.pod('web-1', { app: 'web', node: 'n1' });
  await fixture.gather();
  assert.deepEqual(fixture.ready(), ['web-1']);
}

async function editSlice(fixture: ServiceFixture, edit: (slice: EndpointSlice) => void): Promise<void> {
  const [slice] = fixture.slices();
  assert.ok(slice);
  await fixture.registry.modify(endpointSliceKind, slice.metadata, (stored) => {
    edit(stored);
    return undefined;
  });
  await fixture.settle();
}

describe('changes around the endpoints of a Service', () => {
  withServices('a Service without Pods has one empty slice and empty Endpoints', async (fixture) => {
    await fixture.service('web');
    await fixture.gather();
    assert.deepEqual(
      fixture.slices().map(({ endpoints, ports }) => ({ endpoints, ports })),
      [{ endpoints: [], ports: [] }],
    );
    assert.deepEqual(fixture.endpoints()?.subsets ?? [], []);
  });

  withServices('a terminating Pod serves until it is gone, but is not ready', async (fixture) => {
    await withOnePod(fixture);
    await fixture.registry.delete(podKind, { namespace: 'default', name: 'web-1' });
    await fixture.gather();
    assert.deepEqual(
      fixture.listed().map(({ conditions }) => conditions),
      [{ ready: false, serving: true, terminating: true }],
    );
    const pod = fixture.informers.pods.get({ namespace: 'default', name: 'web-1' });
    await fixture.registry.confirmStopped({ namespace: 'default', name: 'web-1' }, pod?.metadata.uid ?? '');
    await fixture.gather();
    assert.deepEqual(fixture.listed(), []);
    assert.equal(fixture.slices().length, 1, 'an empty slice remains');
  });

  withServices('a changed selector replaces the endpoints', async (fixture) => {
    await withOnePod(fixture);
    await fixture.pod('other-1', { app: 'other', node: 'n1', ip: '10.0.0.2' });
    await fixture.registry.modify(serviceKind, WEB, (service) => {
      if (service.spec) service.spec.selector = { app: 'other' };
      return undefined;
    });
    await fixture.gather();
    assert.deepEqual(fixture.ready(), ['other-1']);
  });

  withServices('a Pod whose label changes leaves one Service and joins another', async (fixture) => {
    await withOnePod(fixture);
    await fixture.service('other');
    await fixture.registry.modify(podKind, { namespace: 'default', name: 'web-1' }, ({ metadata }) => {
      metadata.labels = { app: 'other' };
      return undefined;
    });
    await fixture.gather();
    assert.deepEqual([fixture.ready('web'), fixture.ready('other')], [[], ['web-1']]);
  });

  withServices('a Service without a selector keeps what users write', async (fixture) => {
    await joinNode(fixture, 'n1');
    await fixture.service('web', { selector: {} });
    const subsets = [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 80 }] }];
    await fixture.registry.create(endpointsKind, 'default', { metadata: { name: 'web' }, subsets });
    await fixture.pod('web-1', { app: 'web', node: 'n1' });
    await fixture.gather();
    await fixture.restartController();
    await fixture.gather();
    assert.equal(fixture.endpoints()?.subsets?.[0]?.addresses?.[0]?.ip, '10.9.9.9');
    assert.deepEqual(fixture.slices(), []);
  });

  withServices('an ExternalName Service has no endpoints', async (fixture) => {
    await fixture.service('web', { type: 'ExternalName', externalName: 'example.com', ports: [] });
    await fixture.gather();
    assert.deepEqual([fixture.slices(), fixture.endpoints()], [[], undefined]);
  });

  withServices('a user’s edit of a managed slice is taken back', async (fixture) => {
    await withOnePod(fixture);
    await editSlice(fixture, (slice) => {
      slice.endpoints = [{ addresses: ['10.6.6.6'], conditions: { ready: true } }];
    });
    await fixture.gather();
    assert.deepEqual(
      fixture.listed().map(({ addresses }) => addresses),
      [['10.0.0.1']],
    );
  });

  withServices('a copy of an endpoint in a second slice is removed', async (fixture) => {
    await withOnePod(fixture);
    const [slice] = fixture.slices();
    const { labels, ownerReferences } = slice?.metadata ?? {};
    const copy = { ...slice, metadata: { name: 'copy', labels, ownerReferences } };
    await fixture.registry.create(endpointSliceKind, 'default', copy);
    await fixture.gather();
    assert.equal(fixture.listed().length, 1);
  });

  withServices('a deleted slice and deleted Endpoints are written again', async (fixture) => {
    await withOnePod(fixture);
    const [slice] = fixture.slices();
    assert.ok(slice);
    await fixture.registry.delete(endpointSliceKind, slice.metadata);
    await fixture.registry.delete(endpointsKind, WEB);
    await fixture.gather();
    assert.deepEqual(fixture.ready(), ['web-1']);
    assert.equal(fixture.endpoints()?.subsets?.length, 1);
  });

  withServices('a slice that loses its label is replaced', async (fixture) => {
    await withOnePod(fixture);
    await editSlice(fixture, ({ metadata }) => {
      delete metadata.labels?.['kubernetes.io/service-name'];
    });
    await fixture.gather();
    assert.deepEqual(fixture.ready(), ['web-1']);
  });

  withServices('Endpoints that a user changes are written again', async (fixture) => {
    await withOnePod(fixture);
    await fixture.registry.modify(endpointsKind, WEB, (stored) => {
      stored.subsets = [];
      return undefined;
    });
    await fixture.gather();
    assert.equal(fixture.endpoints()?.subsets?.[0]?.addresses?.length, 1);
  });

  withServices('a restart of the coordinator writes only what changed meanwhile', async (fixture) => {
    await withOnePod(fixture);
    const before = await fixture.store.revision();
    await fixture.restartController();
    await fixture.gather();
    assert.equal(await fixture.store.revision(), before, 'nothing changed');
    await fixture.setReady('web-1', 'False');
    await fixture.restartController();
    await fixture.gather();
    assert.deepEqual(fixture.ready(), []);
  });

  withServices('a deleted Service takes its slices and Endpoints with it', async (fixture) => {
    const collector = new GarbageCollector(fixture);
    try {
      await withOnePod(fixture);
      await fixture.registry.delete(serviceKind, WEB);
      await fixture.gather();
      assert.deepEqual([fixture.slices(), fixture.endpoints()], [[], undefined]);
    } finally {
      await collector.stop();
    }
  });

  withServices('a Service that is created again does not use the slices of the old one', async (fixture) => {
    await withOnePod(fixture);
    const [old] = fixture.slices();
    await fixture.registry.delete(serviceKind, WEB);
    await fixture.service('web');
    await fixture.gather();
    assert.deepEqual(fixture.ready(), ['web-1']);
    const names = fixture.slices().map(({ metadata }) => metadata.name);
    assert.ok(!names.includes(old?.metadata.name ?? ''));
  });

  withServices('an ending namespace is emptied, without new slices', async (fixture) => {
    const namespaces = new NamespaceController(fixture);
    try {
      await namespaces.start();
      await fixture.registry.create(namespaceKind, undefined, { metadata: { name: 'shop' } });
      const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
      await fixture.registry.create(serviceKind, 'shop', { metadata: { name: 'web' }, spec });
      await fixture.gather();
      assert.equal(fixture.slices().length, 1);
      await fixture.registry.delete(namespaceKind, { name: 'shop' });
      await fixture.settle();
      for (let round = 0; round < 5; round += 1) await fixture.advance(2_000);
      assert.equal(fixture.informers.namespaces.get({ name: 'shop' }), undefined);
      assert.deepEqual(fixture.slices(), []);
    } finally {
      await namespaces.stop();
    }
  });

  withServices('Pods of a missing node are listed when the node is created', async (fixture) => {
    await fixture.service('web');
    await fixture.pod('web-1', { app: 'web', node: 'n1' });
    await fixture.gather();
    assert.deepEqual(fixture.listed(), []);
    await joinNode(fixture, 'n1');
    await fixture.gather();
    assert.deepEqual(fixture.ready(), ['web-1']);
  });

  withServices('a changed zone of a node is listed', async (fixture) => {
    await withOnePod(fixture);
    await fixture.registry.modify(nodeKind, { name: 'n1' }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'topology.kubernetes.io/zone': 'z2' };
      return undefined;
    });
    await fixture.gather();
    assert.equal(fixture.listed()[0]?.zone, 'z2');
  });

  withServices('Pods with different hostPorts are listed in slices of their own', async (fixture) => {
    await joinNode(fixture, 'n1');
    await joinNode(fixture, 'n2');
    await fixture.service('web');
    const container = (hostPort: number) => ({
      hostNetwork: false,
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort }] }],
    });
    await fixture.pod('web-1', { app: 'web', node: 'n1', spec: container(8080) });
    await fixture.pod('web-2', { app: 'web', node: 'n2', spec: container(9090), ip: '10.0.0.2' });
    await fixture.gather();
    const ports = fixture.slices().map((slice) => slice.ports?.[0]?.port);
    assert.deepEqual(ports.sort(), [8080, 9090]);
    await fixture.gather();
    assert.deepEqual(
      fixture.endpoints()?.subsets?.map(({ addresses, ports }) => [addresses?.[0]?.ip, ports?.[0]?.port]),
      [
        ['10.0.0.1', 8080],
        ['10.0.0.2', 9090],
      ],
    );
  });
});
