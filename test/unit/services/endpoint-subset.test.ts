/** Which endpoints a host receives, and how they change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  endpointDifference,
  type SentEndpoint,
} from '../../../coordinator/decisions/services/endpoint-changes.js';
import {
  chooseReserve,
  chooseSubset,
  countReady,
  ENOUGH_READY,
  type EndpointViewer,
  insertRanked,
  type RankedEndpoint,
  rankHash,
  rankOf,
  type SubsetRules,
} from '../../../coordinator/decisions/services/endpoint-subset.js';
import { isServiceKey } from '../../../coordinator/decisions/services/service-interest.js';
import type { EndpointState } from '../../../shared/kube/services/service-view.js';
import { VIEW_SIZE } from '../../../shared/kube/services/service-view.js';

const RULES: SubsetRules = { includesOthers: true, includesOwn: false, strictZone: false };
const STATES: readonly EndpointState[] = ['ready', 'terminating', 'notReady'];

const viewer = (node: string, zone = ''): EndpointViewer => ({ node, zone, hash: rankHash(node) });

function endpoint(index: number, more: Partial<RankedEndpoint> = {}): RankedEndpoint {
  return { node: `n${index}`, zone: '', hash: rankHash(`e${index}`), state: 'ready', ...more };
}

const many = (count: number, more: (index: number) => Partial<RankedEndpoint> = () => ({})) =>
  Array.from({ length: count }, (_, index) => endpoint(index, more(index)));

const ENDPOINTS = fc
  .array(fc.record({ zone: fc.constantFrom('', 'a', 'b'), state: fc.constantFrom(...STATES) }), {
    maxLength: 200,
  })
  .map((found) => found.map((more, index) => endpoint(index, more)));

describe('the subset of a host', () => {
  test('it is bounded, without the own endpoints, and each host has another one', () => {
    const endpoints = many(1_000);
    const one = chooseSubset(viewer('n1'), endpoints, RULES);
    const other = chooseSubset(viewer('n2'), endpoints, RULES);
    assert.equal(one.length, VIEW_SIZE);
    assert.ok(one.every(({ node }) => node !== 'n1'));
    assert.ok(one.filter((each) => other.includes(each)).length < VIEW_SIZE / 2);
  });

  test('over all hosts, endpoints are chosen about equally often', () => {
    const endpoints = many(500);
    const chosen = new Map<RankedEndpoint, number>();
    for (const { node } of endpoints)
      for (const each of chooseSubset(viewer(node), endpoints, RULES))
        chosen.set(each, (chosen.get(each) ?? 0) + 1);
    const counts = endpoints.map((each) => chosen.get(each) ?? 0);
    assert.ok(Math.min(...counts) > VIEW_SIZE / 3, `least ${Math.min(...counts)}`);
    assert.ok(Math.max(...counts) < VIEW_SIZE * 2, `most ${Math.max(...counts)}`);
  });

  test('states do not change it', () => {
    fc.assert(
      fc.property(ENDPOINTS, (endpoints) => {
        const hashes = (list: readonly RankedEndpoint[]) =>
          chooseSubset(viewer('x', 'a'), list, RULES).map(({ hash }) => hash);
        const flapped = endpoints.map((each) => ({ ...each, state: 'notReady' as const }));
        assert.deepEqual(hashes(flapped), hashes(endpoints));
      }),
    );
  });

  test('inserted one by one in any order, the endpoints are the same as chosen at once', () => {
    fc.assert(
      fc.property(ENDPOINTS, fc.integer({ min: 1, max: 70 }), (endpoints, size) => {
        const chosen: RankedEndpoint[] = [];
        for (const each of endpoints.toReversed()) insertRanked(viewer('x', 'a'), chosen, each, size);
        assert.deepEqual(chosen, chooseSubset(viewer('x', 'a'), endpoints, RULES, size));
        const ranks = chosen.map((each) => rankOf(viewer('x', 'a'), each));
        assert.deepEqual(
          ranks,
          ranks.toSorted((one, other) => other - one),
        );
      }),
    );
  });

  const byZone = many(300, (index) => ({ zone: index % 10 === 0 ? 'a' : 'b' }));
  const CASES: [name: string, rules: Partial<SubsetRules>, zone: string, expected: Record<string, number>][] =
    [
      ['endpoints of the own zone come first', {}, 'a', { a: 30, b: VIEW_SIZE - 30 }],
      ['a strict zone excludes all others', { strictZone: true }, 'a', { a: 30 }],
      ['an unknown zone prefers none', { strictZone: true }, '', {}],
      ['a Service of the own node alone has no endpoints elsewhere', { includesOthers: false }, 'a', {}],
    ];
  for (const [name, rules, zone, expected] of CASES) {
    test(name, () => {
      const zones: Record<string, number> = {};
      for (const each of chooseSubset(viewer('x', zone), byZone, { ...RULES, ...rules }))
        zones[each.zone] = (zones[each.zone] ?? 0) + 1;
      assert.deepEqual(zones, expected);
    });
  }

  test('endpoints that a user wrote include those of the own node', () => {
    const own = chooseSubset(viewer('n1'), many(3), { ...RULES, includesOwn: true });
    assert.equal(own.length, 3);
  });
});

describe('the reserve of a host whose subset fails', () => {
  test('it has ready endpoints from outside, as many as are missing', () => {
    const endpoints = many(500);
    const chosen = chooseSubset(viewer('x'), endpoints, RULES);
    for (const each of chosen.slice(3)) each.state = 'notReady';
    const reserve = chooseReserve(viewer('x'), endpoints, chosen, RULES);
    assert.equal(reserve.length, ENOUGH_READY - 3);
    assert.equal(countReady(reserve), reserve.length);
    assert.ok(reserve.every((each) => !chosen.includes(each)));
  });

  test('it is empty while the subset has enough, and while no other endpoint is ready', () => {
    const endpoints = many(500, (index) => ({ state: index < 250 ? 'ready' : 'notReady' }));
    const chosen = chooseSubset(viewer('x'), endpoints, RULES);
    assert.deepEqual(chooseReserve(viewer('x'), endpoints, chosen, RULES), []);
    for (const each of endpoints) each.state = 'notReady';
    assert.deepEqual(chooseReserve(viewer('x'), endpoints, chosen, RULES), []);
  });
});

describe('changes of endpoints', () => {
  test('applied to what was sent, they give the current endpoints', () => {
    const list = fc.uniqueArray(fc.record({ id: fc.nat(20), state: fc.constantFrom(...STATES) }), {
      selector: ({ id }) => id,
    });
    fc.assert(
      fc.property(list, list, (sent, current) => {
        const difference = endpointDifference(sent, current);
        const result = new Map(sent.map(({ id, state }) => [id, state]));
        for (const id of difference?.removed ?? []) assert.ok(result.delete(id));
        for (const each of difference?.set ?? []) result.set(each.id, each.state);
        for (const state of STATES)
          for (const id of difference?.[state] ?? []) {
            assert.ok(result.has(id));
            result.set(id, state);
          }
        assert.deepEqual(
          [...result].sort(byId),
          current.map(({ id, state }) => [id, state] as const).sort(byId),
        );
      }),
    );
  });

  test('nothing changed: there is no message', () => {
    const sent: SentEndpoint[] = [{ id: 1, state: 'ready' }];
    assert.equal(endpointDifference(sent, [...sent]), undefined);
  });
});

const byId = ([one]: readonly [number, unknown], [other]: readonly [number, unknown]) => one - other;

const KEYS: [text: string, isKey: boolean][] = [
  ['default/web', true],
  ['default/web-1', true],
  ['default/', false],
  ['/web', false],
  ['web', false],
  ['a/b/c', true],
  ['default/web/node-1.example.com', true],
  ['default/web/', false],
  ['default/web/Node-1', false],
  ['default/web/a/b', false],
  [`default/web/${'a.'.repeat(126)}aa`, false],
  ['Default/web', false],
  ['default/-web', false],
  [`default/${'a'.repeat(63)}`, true],
  [`default/${'a'.repeat(64)}`, false],
  ['default/__proto__', false],
];

for (const [text, isKey] of KEYS) {
  test(`${JSON.stringify(text)} ${isKey ? 'may' : 'cannot'} name a Service`, () => {
    assert.equal(isServiceKey(text), isKey);
  });
}
