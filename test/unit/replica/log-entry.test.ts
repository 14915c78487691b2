/** Entries of the replicated log survive encoding, and a reader notices every record that does not fit. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { packCommit } from '../../../coordinator/store/log/packed-commit.js';
import {
  EntryDiverged,
  EntryReader,
  EntryTooNew,
  encodeEntry,
  LOG_FORMAT,
} from '../../../coordinator/store/replica/log-entry.js';
import type { LogOperation, LogPosition } from '../../../coordinator/store/replica/log-operation.js';
import { type LogRecord, MAX_RECORD_BYTES } from '../../../coordinator/store/replica/replicated-log.js';

const START: LogPosition = { generation: 'g', record: 0, term: 0, chain: '' };

/** A commit with one value of incompressible text. */
function commitOf(bytes: number): LogOperation {
  const value = Buffer.from(randomBytes(bytes / 2).toString('hex'));
  const deleted = { key: '/b', revision: 8, previous: { key: '/b', revision: 3, value: Buffer.from('x') } };
  return { kind: 'commit', commit: packCommit([{ key: '/a', revision: 7, value }, deleted]) };
}

async function write(operations: readonly LogOperation[], from = START, term = 1) {
  const records: LogRecord[] = [];
  let position = from;
  for (const operation of operations) {
    const firstRecord = position.record + 1;
    const entry = await encodeEntry(operation, { before: position, firstRecord, term });
    records.push(...entry.records);
    position = entry.position;
  }
  return { records, position };
}

describe('Log entries', () => {
  const operations: LogOperation[] = [
    { kind: 'start', memberId: 'a' },
    commitOf(100),
    commitOf(200_000),
    commitOf(5_000_000),
    { kind: 'compact', revision: 5 },
    { kind: 'confirmRestore' },
  ];

  test('a reader gets the same operations and the same position as the writer', async () => {
    const { records, position } = await write(operations);
    const reader = new EntryReader(START);
    const read = records.flatMap((record) => reader.add(record) ?? []);
    assert.deepEqual(
      read.map(({ operation }) => operation),
      operations,
    );
    assert.deepEqual(reader.position, position);
    assert.deepEqual(read.at(-1)?.position, position);
  });

  test('no record is larger than the limit', async () => {
    const { records } = await write(operations);
    assert.ok(records.length > operations.length);
    assert.ok(records.every(({ bytes }) => bytes.length <= MAX_RECORD_BYTES));
  });

  test('the records of an entry whose leader died are skipped', async () => {
    const { records: first } = await write([commitOf(5_000_000)]);
    const incomplete = first.slice(0, 2);
    const next = await encodeEntry(
      { kind: 'start', memberId: 'b' },
      { before: START, firstRecord: 3, term: 2 },
    );
    const reader = new EntryReader(START);
    const read = [...incomplete, ...next.records].map((record) => reader.add(record));
    assert.deepEqual(
      read.map((entry) => entry?.operation.kind),
      [undefined, undefined, 'start'],
    );
    assert.deepEqual(reader.position, next.position);
  });

  const refused: { what: string; change: (records: LogRecord[]) => LogRecord[] }[] = [
    { what: 'a gap', change: ([, second]) => (second ? [second] : []) },
    {
      what: 'an entry with another predecessor',
      change: ([first]) => (first ? [first, { ...first, index: 2 }] : []),
    },
    {
      what: 'a record that continues no entry',
      change: ([first]) => (first ? [{ ...first, bytes: Buffer.from([2, ...first.bytes.subarray(1)]) }] : []),
    },
  ];
  for (const { what, change } of refused)
    test(`${what} is refused`, async () => {
      const { records } = await write([
        { kind: 'start', memberId: 'a' },
        { kind: 'compact', revision: 5 },
      ]);
      const reader = new EntryReader(START);
      assert.throws(() => change(records).map((record) => reader.add(record)), EntryDiverged);
    });

  test('an entry of an older term is refused', async () => {
    const { records, position } = await write([{ kind: 'start', memberId: 'a' }], START, 5);
    const older = await encodeEntry(
      { kind: 'confirmRestore' },
      { before: position, firstRecord: 2, term: 4 },
    );
    const reader = new EntryReader(START);
    for (const record of records) reader.add(record);
    assert.throws(() => older.records.map((record) => reader.add(record)), EntryDiverged);
  });

  test('an entry of a newer format is refused before it is decoded, and can be read later', async () => {
    const { records } = await write([{ kind: 'start', memberId: 'a' }]);
    const [record] = records;
    assert.ok(record);
    const newer = Buffer.from(record.bytes);
    newer[1] = LOG_FORMAT + 1;
    const reader = new EntryReader(START);
    assert.throws(() => reader.add({ index: 1, bytes: newer }), EntryTooNew);
    assert.deepEqual(reader.position, START);
    assert.equal(reader.add(record)?.operation.kind, 'start');
  });
});
