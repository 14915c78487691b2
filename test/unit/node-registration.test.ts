/** What a host's settings change in its Node, and what a person's changes keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  REGISTERED_ANNOTATION,
  type Registration,
  registrationText,
  withRegistration,
} from '../../coordinator/decisions/node-registration.js';
import type { Node, Taint } from '../../shared/kube/node.js';

const none: Registration = { labels: {}, taints: [] };
const taint = (key: string, value?: string): Taint => ({
  key,
  effect: 'NoSchedule',
  ...(value === undefined ? {} : { value }),
});

function nodeWith(
  noted: Registration | undefined,
  labels: Record<string, string>,
  taints: Taint[] = [],
): Node {
  const annotations: Record<string, string> = noted
    ? { [REGISTERED_ANNOTATION]: registrationText(noted) }
    : {};
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels, annotations }, spec: { taints } };
}

test('a label that the host no longer asks for goes, a new or changed one comes, all others stay', () => {
  const node = nodeWith(
    { labels: { a: '1', b: '1', c: '1' }, taints: [] },
    { a: '1', b: '1', c: '1', own: 'x' },
  );
  const next = withRegistration(node, { labels: { b: '2', c: '1', d: '1' }, taints: [] });
  assert.deepEqual(next?.metadata.labels, { b: '2', c: '1', d: '1', own: 'x' });
});

test("a person's change of a label outlives a change of others", () => {
  const node = nodeWith({ labels: { a: '1', b: '1' }, taints: [] }, { a: 'mine' });
  const next = withRegistration(node, { labels: { a: '1', b: '1', c: '1' }, taints: [] });
  assert.deepEqual(next?.metadata.labels, { a: 'mine', c: '1' });
  assert.deepEqual(withRegistration(node, none)?.metadata.labels, { a: 'mine' });
});

test('taints follow by key and effect; those of others stay', () => {
  const foreign = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' as const };
  const node = nodeWith({ labels: {}, taints: [taint('a', '1'), taint('b')] }, {}, [
    taint('a', '1'),
    taint('b'),
    foreign,
  ]);
  const next = withRegistration(node, { labels: {}, taints: [taint('a', '2'), taint('c')] });
  assert.deepEqual(next?.spec?.taints, [foreign, taint('a', '2'), taint('c')]);
  assert.equal(
    withRegistration(nodeWith({ labels: {}, taints: [taint('a')] }, {}, [taint('a')]), none)?.spec?.taints,
    undefined,
  );
});

test('a Node of before the annotation gets it and nothing else', () => {
  const next = withRegistration(nodeWith(undefined, { a: 'mine' }), { labels: { a: '1' }, taints: [] });
  assert.deepEqual(next?.metadata.labels, { a: 'mine' });
  assert.ok(next?.metadata.annotations?.[REGISTERED_ANNOTATION]);
});

test('the same wish twice changes nothing the second time, in whatever order it is told', () => {
  const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2'));
  fc.assert(
    fc.property(labels, labels, labels, (present, noted, wish) => {
      const next = withRegistration(nodeWith({ labels: noted, taints: [] }, present), {
        labels: wish,
        taints: [],
      });
      if (!next) return;
      const reversed = Object.fromEntries(Object.entries(wish).reverse());
      assert.equal(withRegistration(next, { labels: reversed, taints: [] }), undefined);
      for (const [key, value] of Object.entries(wish)) {
        assert.equal(next.metadata.labels?.[key], noted[key] === value ? present[key] : value);
      }
    }),
  );
});
