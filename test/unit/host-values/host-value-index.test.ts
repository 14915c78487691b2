/** The index of HostValues, updated change by change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HostValueIndex } from '../../../coordinator/controllers/host-values/host-value-index.js';
import type { ObjectChange } from '../../../coordinator/informers/informer.js';
import type { HostValues, HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';

type Handler = (change: ObjectChange<HostValues>) => void;

/** A source of HostValues of one namespace. */
class Objects {
  readonly #objects = new Map<string, HostValues>();
  readonly #handlers: Handler[] = [];

  onChange(handler: Handler): void {
    this.#handlers.push(handler);
  }

  indexed(): HostValues[] {
    return [...this.#objects.values()];
  }

  /** Stores the object, or deletes it. Hosts with the same values stay the same object, as after a patch. */
  put(name: string, spec: HostValuesSpec | undefined): void {
    const previous = this.#objects.get(name);
    const current = spec && objectOf(name, sharing(spec, previous?.spec));
    if (current) this.#objects.set(name, current);
    else this.#objects.delete(name);
    if (!current && !previous) return;
    const change = current ? { ...(previous && { previous }), current } : { previous };
    for (const handler of this.#handlers) handler(change as ObjectChange<HostValues>);
  }
}

function objectOf(name: string, spec: HostValuesSpec): HostValues {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'fleet.everynode.dev/v1', kind: 'HostValues', metadata, spec } as HostValues;
}

function sharing(spec: HostValuesSpec, previous: HostValuesSpec | undefined): HostValuesSpec {
  if (!spec.hosts) return spec;
  const hosts = Object.entries(spec.hosts).map(([host, values]) => {
    const before = previous?.hosts?.[host];
    return [host, JSON.stringify(before) === JSON.stringify(values) ? before : values];
  });
  return { ...spec, hosts: Object.fromEntries(hosts) };
}

const KEYS = ['a', 'b'];
const NODES = ['n1', 'n2', 'n10'].map((name, index) => ({ name, labels: { site: `s${index % 2}` } }));

const values = fc.dictionary(fc.constantFrom('a', 'b', 'unused'), fc.constantFrom('1', '2'));
const spec = fc.record(
  {
    priority: fc.constantFrom(0, 1),
    nodeSelector: fc.record({ matchLabels: fc.record({ site: fc.constantFrom('s0', 's1') }) }),
    values,
    hosts: fc.dictionary(fc.constantFrom('n1', 'n2', 'n10', 'gone'), values),
  },
  { requiredKeys: [] },
);
const change = fc.tuple(fc.constantFrom('x', 'y'), fc.option(spec, { nil: undefined }));

/** All that callers can read of an index. */
function answers(index: HostValueIndex): unknown {
  const candidates = NODES.map((node) =>
    KEYS.map((key) =>
      index.candidates('default', node, key).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ),
  );
  return { candidates, digests: [['a'], ['b'], KEYS].map((keys) => index.digest('default', keys)) };
}

test('an index that is updated change by change answers like one that is built from all objects', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      const objects = new Objects();
      const index = new HostValueIndex(objects as never);
      for (const [name, next] of changes) {
        objects.put(name, next);
        assert.deepEqual(answers(index), answers(new HostValueIndex(objects as never)));
      }
    }),
  );
});

test('the digest of a release is the digest of the next release: an upgrade starts no rollout', () => {
  const objects = new Objects();
  const index = new HostValueIndex(objects as never);
  const secrets = { b: { name: 'db', key: 'word' } };
  objects.put('all', {
    priority: 3,
    nodeSelector: { matchLabels: { site: 's0' } },
    values: { a: '0' },
    secrets,
  });
  objects.put('stores', {
    hosts: { n2: { a: '2', unused: 'x' }, n10: { a: '10', b: 'q"' }, n1: { unused: 'y' } },
  });
  assert.deepEqual(
    [['a'], KEYS, ['unused'], ['none']].map((keys) => index.digest('default', keys)),
    ['6e72022a', '1d02a08b', '725a74b2', 'e3b0c442'],
  );
});
