/**
 * Random and mutated input for all code that decodes untrusted bytes: frames, paths, patches. All input is decoded or
 * rejected with a typed error. Interesting past inputs are in test/fixtures/fuzz. `EVERYNODE_FUZZ_RUNS=1000000` runs
 * longer.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRequest } from '../../../coordinator/api/http/request-info.js';
import { ALL_KINDS, podKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Patch } from '../../../coordinator/registry/registry-options.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { decodeFromAgent, decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';
import { podObject } from '../../harness/objects/object-builders.js';

const numRuns = Number(process.env.EVERYNODE_FUZZ_RUNS ?? 2_000);

function corpus<T>(name: string): T[] {
  return JSON.parse(
    readFileSync(new URL(`../../../../test/fixtures/fuzz/${name}.json`, import.meta.url), 'utf8'),
  );
}

function decodes(frame: Buffer): void {
  for (const decode of [decodeFromAgent, decodeFromHub]) {
    try {
      decode(Buffer.from(frame));
    } catch (error) {
      assert.ok(error instanceof ProtocolError, `${frame.toString('hex')}: ${error}`);
    }
  }
}

const HONEST = [
  encodeMessage({ kind: 'renew', csr: 'x'.repeat(300) }),
  encodeMessage({ kind: 'certified', certificate: 'c', ca: 'a' }),
  encodeMessage({ kind: 'streamData', stream: 1, bytes: Buffer.alloc(64) }),
  encodeMessage({
    kind: 'status',
    id: 1,
    hostTimeMs: 1,
    pods: [],
    removed: [{ uid: 'u', namespace: 'n', name: 'm' }],
  }),
];

/** A valid frame with some bytes replaced, truncated or extended. */
const BENT = fc
  .tuple(
    fc.constantFrom(...HONEST),
    fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 }),
    fc.nat(400),
    fc.uint8Array({ maxLength: 8 }),
  )
  .map(([frame, changes, length, more]) => {
    const bent = Buffer.from(frame);
    for (const [at, value] of changes) bent[at % bent.length] = value;
    return Buffer.concat([bent.subarray(0, length), more]);
  });

test('frames: the decoder survives the corpus, random bytes and mutated valid frames', () => {
  for (const hex of corpus<string>('frames')) decodes(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  fc.assert(
    fc.property(fc.oneof(BENT, fc.uint8Array({ maxLength: 200 })), (bytes) => decodes(Buffer.from(bytes))),
    {
      numRuns,
    },
  );
});

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'BREW'];
const SEGMENT = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'namespaces',
    'pods',
    '../..',
    '%2e%2e',
    '%2f',
    '',
    '%',
    '__proto__',
    'log',
  ),
  fc.string({ maxLength: 12 }),
);

test('paths: every path is parsed or rejected, and none escapes its scope', () => {
  const reads = (method: string, path: string) => {
    const info = readRequest(method, path);
    if (info.type !== 'resource') return;
    for (const part of [info.namespace, info.resource, info.name, info.subresource]) {
      assert.ok(
        part === undefined || (part !== '' && part !== '.' && part !== '../..' && !part.includes('/')),
        path,
      );
    }
  };
  for (const path of corpus<string>('paths')) for (const method of METHODS) reads(method, path);
  const path = fc.array(SEGMENT, { maxLength: 9 }).map((parts) => `/${parts.join('/')}`);
  fc.assert(fc.property(fc.constantFrom(...METHODS), path, reads), { numRuns });
});

const POINTER = fc.constantFrom(
  '/metadata/labels',
  '/spec',
  '/spec/containers/0',
  '/a/b',
  '',
  '/__proto__/x',
  '/status',
);
const OPERATION = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
  path: POINTER,
  from: POINTER,
  value: fc.jsonValue({ maxDepth: 2 }),
});
const BODY = fc.oneof(
  fc.array(OPERATION, { maxLength: 4 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.record({ metadata: fc.jsonValue({ maxDepth: 2 }), spec: fc.jsonValue({ maxDepth: 3 }) }),
  fc.record({
    spec: fc.record({ containers: fc.jsonValue({ maxDepth: 3 }) }),
    $patch: fc.jsonValue({ maxDepth: 1 }),
  }),
);

test('patches: each is applied or rejected with a Status, and no prototype changes', async () => {
  const registry = createRegistry({
    store: new MemoryStore(),
    kinds: ALL_KINDS,
    clock: systemClock,
    log: silentLogger,
  });
  const namespaces = ALL_KINDS.find(({ resource }) => resource === 'namespaces');
  assert.ok(namespaces);
  await registry.create(namespaces, undefined, { metadata: { name: 'default' } });
  await registry.create(podKind, 'default', podObject('p'));
  // The API's patches are untyped. Patches of the coordinator are not checked for their types.
  const applies = async (type: Patch['type'], body: unknown) => {
    try {
      await registry.patch(
        podKind,
        { namespace: 'default', name: 'p' },
        { type, body },
        { dryRun: true, fieldValidation: 'Warn' },
      );
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code < 500, `${type} ${JSON.stringify(body)}: ${error}`);
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  };
  const types = ['json', 'merge', 'strategic'] as const;
  for (const body of corpus<unknown>('patches')) for (const type of types) await applies(type, body);
  await fc.assert(fc.asyncProperty(fc.constantFrom(...types), BODY, applies), { numRuns: numRuns / 4 });
});
