import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { startEndpointMirroring } from '../../../coordinator/controllers/services/endpoint-mirroring.js';
import { endpointSliceKind, endpointsKind, serviceKind } from '../../../coordinator/kinds/index.js';
import { type ServiceFixture, withServices } from '../../harness/controllers/service-fixture.js';

const DB = { namespace: 'default', name: 'db' };

function withMirroring(rule: string, check: (fixture: ServiceFixture) => Promise<void>): void {
  withServices(rule, async (fixture) => {
    const mirroring = startEndpointMirroring(fixture);
    try {
      await fixture.service('db', { selector: {} });
      await writeEndpoints(fixture, '192.0.2.1');
      await fixture.gather();
      assert.deepEqual(addresses(fixture), ['192.0.2.1']);
      await check(fixture);
    } finally {
      await mirroring.stop();
    }
  });
}

async function writeEndpoints({ registry }: ServiceFixture, ip: string): Promise<void> {
  const subsets = [{ addresses: [{ ip }], ports: [{ port: 5432, protocol: 'TCP' }] }];
  await registry.create(endpointsKind, 'default', { metadata: { name: 'db' }, subsets });
}

const addresses = (fixture: ServiceFixture) => fixture.listed('db').map((endpoint) => endpoint.addresses[0]);

describe('Endpoints of a Service without a selector', () => {
  withMirroring('changed addresses are mirrored to the same slice', async (fixture) => {
    const before = fixture.slices('db').map(({ metadata }) => metadata.name);
    await fixture.registry.modify(endpointsKind, DB, (stored) => {
      stored.subsets = [{ addresses: [{ ip: '192.0.2.2' }], ports: [{ port: 5432, protocol: 'TCP' }] }];
      return undefined;
    });
    await fixture.gather();
    assert.deepEqual(addresses(fixture), ['192.0.2.2']);
    assert.deepEqual(
      fixture.slices('db').map(({ metadata }) => metadata.name),
      before,
    );
  });

  withMirroring('a deleted slice is written again', async (fixture) => {
    const [slice] = fixture.slices('db');
    assert.ok(slice);
    await fixture.registry.delete(endpointSliceKind, slice.metadata);
    await fixture.gather();
    assert.deepEqual(addresses(fixture), ['192.0.2.1']);
  });

  withMirroring('the slice goes with the Endpoints', async (fixture) => {
    await fixture.registry.delete(endpointsKind, DB);
    await fixture.gather();
    assert.deepEqual(fixture.slices('db'), []);
  });

  withMirroring('the slice goes with the Service, the Endpoints stay', async (fixture) => {
    await fixture.registry.delete(serviceKind, DB);
    await fixture.gather();
    assert.deepEqual(fixture.slices('db'), []);
    assert.ok(fixture.endpoints('db'));
  });

  withMirroring('a selector replaces the mirrored slice by one of the Pods', async (fixture) => {
    await fixture.registry.modify(serviceKind, DB, (service) => {
      if (service.spec) service.spec.selector = { app: 'db' };
      return undefined;
    });
    await fixture.gather();
    assert.deepEqual(addresses(fixture), []);
    assert.equal(fixture.slices('db').length, 1, 'the empty slice of the other controller');
  });

  withMirroring('nothing is written while nothing changes', async (fixture) => {
    const before = await fixture.store.revision();
    await fixture.advance(600_000);
    assert.equal(await fixture.store.revision(), before);
  });
});
