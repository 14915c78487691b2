/** A chunk gives back what was written to it, and a damaged one throws. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeChunk, encodeChunk } from '../../../coordinator/registry/events/event-chunks.js';
import {
  EventChange,
  type EventRecord,
  StoredEvent,
} from '../../../coordinator/registry/events/event-record.js';

const PREFIX = '/registry/core/events/';
const AT = Date.parse('2026-01-01T00:00:00Z');
const TIME = fc.integer({ min: AT - 3_600_000, max: AT });
const REVISION = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const TEXT = fc.string({ unit: 'binary' });
const ABOUT = fc.constantFrom(
  { kind: 'Pod', namespace: 'default', name: 'a', uid: '1' },
  { kind: 'Node', name: 'n' },
);
const KEY = fc.tuple(fc.constantFrom('default', 'kube-system'), fc.stringMatching(/^[a-z]{1,9}$/));

const RECORD: fc.Arbitrary<Omit<EventRecord, 'key'>> = fc.record({
  ...{ about: ABOUT, component: TEXT, type: TEXT, reason: TEXT, message: TEXT },
  ...{ count: fc.nat(), createdAt: TIME, firstAt: TIME, lastAt: TIME },
});
const CONTENT = fc.oneof(
  RECORD,
  TEXT.map((text) => Buffer.from(text)),
  fc.constant(undefined),
);
const CHANGE = fc
  .tuple(KEY, REVISION, REVISION, TIME, CONTENT)
  .map(([names, revision, created, at, content]) => {
    const key = PREFIX + names.join('/');
    const own = content === undefined || Buffer.isBuffer(content) ? content : { ...content, key };
    return new EventChange(key, revision, own && new StoredEvent(key, revision, created, at, own), undefined);
  });

describe('chunks of Events', () => {
  test('keep every change', () => {
    fc.assert(
      fc.property(fc.array(CHANGE, { minLength: 1 }), (changes) => {
        const value = encodeChunk(PREFIX, AT, changes);
        assert.equal(typeof JSON.parse(value.toString()), 'string');
        const decoded = decodeChunk(PREFIX, value, AT + 1_000);
        const expected = changes.map(({ key, current }) => (current ? { key, event: current } : { key }));
        assert.deepEqual(decoded, { at: AT, changes: expected });
      }),
    );
  });

  test('of a clock that was ahead count as written now', () => {
    const about = { kind: 'Pod', name: 'a' };
    const times = { createdAt: AT, firstAt: AT, lastAt: AT };
    const key = `${PREFIX}default/a`;
    const texts = { component: 'c', type: 'Normal', reason: 'Started', message: 'm' };
    const event = new StoredEvent(key, 1, 1, AT, { key, about, ...texts, count: 1, ...times });
    const now = AT - 86_400_000;
    const value = encodeChunk(PREFIX, AT, [new EventChange(key, 1, event, undefined)]);
    const { at, changes } = decodeChunk(PREFIX, value, now);
    assert.deepEqual(
      [at, changes[0]?.event?.writtenAt, changes[0]?.event?.content],
      [now, now, event.content],
    );
  });
});
