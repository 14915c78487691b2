import assert from 'node:assert/strict';
import { RootCaPublisher } from '../../../coordinator/controllers/access/root-ca-publisher.js';
import { configMapKind, namespaceKind } from '../../../coordinator/kinds/index.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';

const NAME = 'kube-root-ca.crt';

/** A publisher whose trust bundle the test sets. */
function startPublisher(plane: ControlPlane, first?: string) {
  let bundle = first;
  let notify = () => undefined as undefined;
  const publisher = new RootCaPublisher({
    ...plane,
    trust: {
      trustBundle: () => bundle,
      onTrustChange: (listener) => {
        notify = () => void listener() as undefined;
      },
    },
  });
  const setBundle = async (next: string) => {
    bundle = next;
    notify();
    await plane.settle();
  };
  return { setBundle, stop: () => publisher.stop() };
}

async function published(plane: ControlPlane, namespace: string): Promise<ConfigMap | undefined> {
  const read = () => plane.registry.get(configMapKind, { namespace, name: NAME });
  return (await orUndefined(read))?.object();
}

const dataIn = async (plane: ControlPlane, namespace: string) => (await published(plane, namespace))?.data;

withControlPlane('every namespace gets the trust bundle, also one that is created later', async (plane) => {
  const publisher = startPublisher(plane, 'PEM 1');
  await plane.settle();
  const { data, metadata } = (await published(plane, 'default')) ?? assert.fail('not published');
  assert.deepEqual(data, { 'ca.crt': 'PEM 1' });
  assert.match(metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle/);
  await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'later' } });
  await plane.settle();
  assert.deepEqual(await dataIn(plane, 'later'), { 'ca.crt': 'PEM 1' });
  await publisher.stop();
});

withControlPlane('nothing is published until the certificates are loaded', async (plane) => {
  const publisher = startPublisher(plane);
  await plane.settle();
  assert.equal(await published(plane, 'default'), undefined);
  await publisher.setBundle('PEM 1');
  assert.deepEqual(await dataIn(plane, 'default'), { 'ca.crt': 'PEM 1' });
  await publisher.stop();
});

withControlPlane('a successor of the authority is published', async (plane) => {
  const publisher = startPublisher(plane, 'PEM 1');
  await plane.settle();
  await publisher.setBundle('PEM 1\nPEM 2');
  assert.deepEqual(await dataIn(plane, 'default'), { 'ca.crt': 'PEM 1\nPEM 2' });
  await publisher.stop();
});

withControlPlane(
  'a deleted or changed ConfigMap is restored, with the annotations of others',
  async (plane) => {
    const publisher = startPublisher(plane, 'PEM 1');
    await plane.settle();
    const ref = { namespace: 'default', name: NAME };
    await plane.registry.delete(configMapKind, ref);
    await plane.settle();
    assert.deepEqual(await dataIn(plane, 'default'), { 'ca.crt': 'PEM 1' });
    await plane.registry.modify(configMapKind, ref, (map) => {
      map.data = { 'ca.crt': 'forged', other: 'x' };
      map.binaryData = { more: 'eA==' };
      map.metadata.annotations = { own: 'yes' };
      return undefined;
    });
    await plane.settle();
    const { data, binaryData, metadata } =
      (await published(plane, 'default')) ?? assert.fail('not published');
    assert.deepEqual([data, binaryData], [{ 'ca.crt': 'PEM 1' }, undefined]);
    assert.equal(metadata.annotations?.own, 'yes');
    await publisher.stop();
  },
);

withControlPlane('an unchanged ConfigMap is not written again', async (plane) => {
  const publisher = startPublisher(plane, 'PEM 1');
  await plane.settle();
  const before = await plane.store.revision();
  await publisher.setBundle('PEM 1');
  assert.equal(await plane.store.revision(), before);
  await publisher.stop();
});

withControlPlane('a namespace that is being deleted gets none', async (plane) => {
  await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'ending' } });
  await plane.registry.delete(namespaceKind, { name: 'ending' });
  const publisher = startPublisher(plane, 'PEM 1');
  await plane.settle();
  assert.equal(await published(plane, 'ending'), undefined);
  await publisher.stop();
});
