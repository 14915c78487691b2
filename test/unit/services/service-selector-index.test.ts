import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServiceSelectorIndex } from '../../../coordinator/controllers/services/service-selector-index.js';
import { runningPod, serviceObject } from '../../harness/objects/service-builders.js';

const selecting = (name: string, selector: Record<string, string>, meta: object = {}) =>
  serviceObject({ selector }, { name, ...meta });
const labelled = (labels: Record<string, string>, namespace = 'default') =>
  runningPod('p', { meta: { labels, namespace } });

describe('Services that select a Pod', () => {
  const index = new ServiceSelectorIndex();
  const web = selecting('web', { app: 'web' });
  for (const service of [
    web,
    selecting('both', { app: 'web', tier: 'front' }),
    selecting('other', { app: 'other' }),
    selecting('none', {}),
    selecting('elsewhere', { app: 'web' }, { namespace: 'shop' }),
    serviceObject({ type: 'ExternalName', selector: { app: 'web' } }, { name: 'alias' }),
  ])
    index.changed(undefined, service);

  test('all labels of the selector must match', () => {
    assert.deepEqual(index.servicesOf(labelled({ app: 'web' })), ['default/web']);
    assert.deepEqual(index.servicesOf(labelled({ tier: 'front', app: 'web' })).sort(), [
      'default/both',
      'default/web',
    ]);
    assert.deepEqual(index.servicesOf(labelled({ tier: 'front' })), []);
  });

  test('the namespace must match', () => {
    assert.deepEqual(index.servicesOf(labelled({ app: 'web' }, 'shop')), ['shop/elsewhere']);
  });

  test('a Pod without labels is selected by no Service', () => {
    assert.deepEqual(index.servicesOf(labelled({})), []);
  });

  test('a changed selector replaces the former one, and a deleted Service selects nothing', () => {
    const changed = selecting('web', { app: 'new' });
    index.changed(web, changed);
    assert.deepEqual(index.servicesOf(labelled({ app: 'web' })), []);
    assert.deepEqual(index.servicesOf(labelled({ app: 'new' })), ['default/web']);
    index.changed(changed, undefined);
    assert.deepEqual(index.servicesOf(labelled({ app: 'new' })), []);
  });
});
