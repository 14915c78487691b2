/** Changes of endpoints do not pile up for a host with a slow link. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServicePublisher } from '../../../coordinator/hub/services/service-publisher.js';
import { endpointSliceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { FromHub } from '../../../shared/link/messages/link-messages.js';
import { startControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { podEndpointOf, serviceObject, sliceObject } from '../../harness/hub/hub-service-builders.js';

/** Longer than the hub gathers any change. */
const SETTLE_MS = 5_000;
const SLOW_BYTES = 1024 * 1024;

test('a slow link gets one message for all changes while it was slow', async (t) => {
  const plane = await startControlPlane();
  const publisher = new ServicePublisher(plane);
  t.after(async () => {
    publisher.stop();
    await plane.stop();
  });
  const { registry } = plane;
  const noPods = { selector: undefined };
  await registry.create(serviceKind, 'default', serviceObject('web', noPods as object));
  const endpointsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const { targetRef: _pod, ...endpoint } = podEndpointOf('web', `n${index}`);
      return endpoint;
    });
  await registry.create(endpointSliceKind, 'default', sliceObject('web', endpointsOf(1)));
  await plane.settle();
  const sent: FromHub[] = [];
  const link = { bytes: 0 };
  const session = {
    node: 'edge',
    queuedBytes: () => link.bytes,
    send: (message: FromHub) => sent.push(message),
  };
  publisher.connected(session);
  publisher.received(session, { kind: 'serviceInterest', wanted: [['default/web', '']], unwanted: [] });
  await plane.advance(SETTLE_MS);
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ['serviceViews'],
  );
  link.bytes = SLOW_BYTES;
  for (const count of [2, 3, 4]) {
    await registry.modify(endpointSliceKind, { namespace: 'default', name: 'web-1' }, (slice) => {
      slice.endpoints = endpointsOf(count);
      return undefined;
    });
    await plane.settle();
    await plane.advance(SETTLE_MS);
  }
  assert.equal(sent.length, 1);
  link.bytes = 0;
  await plane.advance(SETTLE_MS);
  const [, last] = sent;
  assert.equal(sent.length, 2);
  assert.equal(last?.kind === 'endpointChanges' && last.changes[0]?.set.length, 3);
});
