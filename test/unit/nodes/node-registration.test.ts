/** A Node's labels and taints follow its host's settings as far as the host added them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  firstRegistrationText,
  REGISTERED_ANNOTATION,
  type Registration,
  withRegistration,
} from '../../../coordinator/decisions/nodes/node-registration.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';

const none: Registration = { labels: {}, taints: [] };
const taint = (key: string, value?: string): Taint => ({
  key,
  effect: 'NoSchedule',
  ...(value === undefined ? {} : { value }),
});
const labelsOf = (labels: Record<string, string>): Registration => ({ labels, taints: [] });
const taintsOf = (...taints: Taint[]): Registration => ({ labels: {}, taints });

/** A Node as the first hello of its host creates it. */
function registered(asked: Registration, given: Record<string, string> = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n',
      labels: { ...asked.labels, ...given },
      annotations: { [REGISTERED_ANNOTATION]: firstRegistrationText(asked, given) },
    },
    spec: { taints: [...asked.taints] },
  };
}

/** Returns the Node after hellos with these registrations, one after another. */
function afterHellos(node: Node, ...asked: Registration[]): Node {
  return asked.reduce((present, each) => withRegistration(present, each) ?? present, node);
}

/** Returns the Node after an administrator's change. */
function edited(node: Node, labels: Record<string, string>, taints: Taint[] = []): Node {
  return { ...node, metadata: { ...node.metadata, labels }, spec: { taints } };
}

test('a label that the host added and no longer requests is removed; a new or changed one is set', () => {
  const node = registered(labelsOf({ a: '1', b: '1', c: '1' }));
  const others = edited(node, { a: '1', b: '1', c: '1', own: 'x' });
  const next = afterHellos(others, labelsOf({ b: '2', c: '1', d: '1' }));
  assert.deepEqual(next.metadata.labels, { b: '2', c: '1', d: '1', own: 'x' });
  assert.deepEqual(afterHellos(next, none).metadata.labels, { own: 'x' });
});

test('a label that an administrator set first is kept when the host requests it and then withdraws it', () => {
  const node = edited(registered(none), { x: '1' });
  assert.deepEqual(afterHellos(node, labelsOf({ x: '1' }), none).metadata.labels, { x: '1' });
  assert.deepEqual(afterHellos(node, labelsOf({ x: '2' }), none).metadata.labels, { x: '1' });
});

test('a label of the join token is kept when the host requests the same one and then withdraws it', () => {
  const node = registered(labelsOf({ site: 'kiel', own: '1' }), { site: 'kiel' });
  assert.deepEqual(afterHellos(node, none).metadata.labels, { site: 'kiel' });
});

test('a label whose value an administrator changed is kept, even after the old value was restored', () => {
  const added = registered(labelsOf({ y: '1' }));
  const changed = edited(added, { y: '9' });
  assert.deepEqual(afterHellos(changed, none).metadata.labels, { y: '9' });
  assert.deepEqual(afterHellos(changed, labelsOf({ y: '2' }), none).metadata.labels, { y: '9' });
  const reconnected = afterHellos(changed, labelsOf({ y: '1' }));
  const restored = edited(reconnected, { y: '1' });
  assert.deepEqual(afterHellos(restored, none).metadata.labels, { y: '1' });
});

test('a label that an administrator removed does not return while the host requests the same value', () => {
  const removed = edited(registered(labelsOf({ a: '1', b: '1' })), { b: '1' });
  assert.deepEqual(afterHellos(removed, labelsOf({ a: '1', b: '1', c: '1' })).metadata.labels, {
    b: '1',
    c: '1',
  });
});

test('a taint that an administrator set first is kept when the host requests it and then withdraws it', () => {
  const node = edited(registered(none), {}, [taint('x', '1')]);
  assert.deepEqual(afterHellos(node, taintsOf(taint('x', '1')), none).spec?.taints, [taint('x', '1')]);
  assert.deepEqual(afterHellos(node, taintsOf(taint('x', '2')), none).spec?.taints, [taint('x', '1')]);
});

test('taints that the host added follow its settings by key and effect; other taints are kept', () => {
  const foreign = { key: 'example.com/foreign', effect: 'NoExecute' as const };
  const node = registered(taintsOf(taint('a', '1'), taint('b')));
  const others = edited(node, {}, [taint('a', '1'), taint('b'), foreign]);
  const next = afterHellos(others, taintsOf(taint('a', '2'), taint('c')));
  assert.deepEqual(next.spec?.taints, [foreign, taint('a', '2'), taint('c')]);
  assert.deepEqual(afterHellos(next, none).spec?.taints, [foreign]);
  assert.equal(afterHellos(registered(taintsOf(taint('a'))), none).spec?.taints, undefined);
});

test('a taint of the node lifecycle is neither set nor removed by a later registration', () => {
  const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
  assert.equal(afterHellos(registered(none), taintsOf(unreachable)).spec?.taints, undefined);
  const first = registered(taintsOf(unreachable));
  assert.deepEqual(afterHellos(first, none).spec?.taints, [unreachable]);
});

test('keys with names of inherited properties are ordinary keys', () => {
  for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    const asked: Registration = { labels: { [key]: '1' }, taints: [taint(key)] };
    const set = afterHellos(registered(none), asked);
    assert.deepEqual(Object.entries(set.metadata.labels ?? {}), [[key, '1']]);
    assert.deepEqual(set.spec?.taints, [taint(key)]);
    const withdrawn = afterHellos(set, none);
    assert.deepEqual(withdrawn.metadata.labels, {});
    assert.equal(withdrawn.spec?.taints, undefined);
  }
});

test('a Node that no registration created gets the annotation and no label', () => {
  for (const text of [undefined, 'not ours', '{}']) {
    const annotations: Record<string, string> = text === undefined ? {} : { [REGISTERED_ANNOTATION]: text };
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', labels: { a: 'mine' }, annotations },
    };
    const next = withRegistration(node, labelsOf({ a: '1', b: '1' }));
    assert.deepEqual(next?.metadata.labels, { a: 'mine' });
    assert.ok(next?.metadata.annotations?.[REGISTERED_ANNOTATION]?.startsWith('{"labels"'));
    assert.deepEqual(afterHellos(node, labelsOf({ a: '1' }), none).metadata.labels, { a: 'mine' });
  }
});

const KEYS = fc.constantFrom('a', 'b', 'constructor', 'toString');
const VALUES = fc.constantFrom('1', '2');
const LABELS = fc.dictionary(KEYS, VALUES);
const TAINTS = fc.uniqueArray(
  fc.record({ key: KEYS, value: VALUES, effect: fc.constantFrom('NoSchedule', 'NoExecute') }),
  { selector: ({ key, effect }) => key + effect, maxLength: 4 },
) as fc.Arbitrary<Taint[]>;
const REGISTRATION = fc.record({ labels: LABELS, taints: TAINTS });

test('no sequence of hellos changes a label or taint that existed before the host requested it', () => {
  fc.assert(
    fc.property(LABELS, TAINTS, fc.array(REGISTRATION, { maxLength: 5 }), (labels, taints, hellos) => {
      const next = afterHellos(edited(registered(none), labels, taints), ...hellos);
      for (const [key, value] of Object.entries(labels)) assert.equal(next.metadata.labels?.[key], value);
      for (const each of taints) {
        assert.ok(next.spec?.taints?.some((other) => JSON.stringify(other) === JSON.stringify(each)));
      }
    }),
  );
});

test('after any hellos an otherwise unchanged Node has what the last hello requested, and repeating it changes nothing', () => {
  fc.assert(
    fc.property(REGISTRATION, fc.array(REGISTRATION, { maxLength: 5 }), (first, hellos) => {
      const last = hellos.at(-1) ?? first;
      const node = afterHellos(registered(first), ...hellos);
      assert.deepEqual({ ...node.metadata.labels }, { ...last.labels });
      const sorted = (taints: readonly Taint[] = []) =>
        taints.map(({ key, value, effect }) => `${key}=${value}:${effect}`).sort();
      assert.deepEqual(sorted(node.spec?.taints), sorted(last.taints));
      const reversed = Object.fromEntries(Object.entries(last.labels).reverse());
      assert.equal(withRegistration(node, { labels: reversed, taints: last.taints }), undefined);
    }),
  );
});
