/** Names of log files and of their links, and their rotation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cleanupAfterRotation,
  filesOfAttempt,
  parseLogSize,
  rotatedName,
  rotationStep,
} from '../../../agent/decisions/pod-logs/log-rotation.js';
import { linkTarget, podLogPaths } from '../../../agent/decisions/pod-logs/pod-log-paths.js';

const IDENTITY = { podUid: 'uid-1', podNamespace: 'shop', podName: 'web-1', container: 'main', attempt: 2 };
const ID = 'a'.repeat(64);

test('log files and links have the names of the kubelet', () => {
  const paths = podLogPaths(IDENTITY, ID);
  assert.deepEqual(paths, {
    pod: 'shop_web-1_uid-1',
    container: 'main',
    file: '2.log',
    link: `web-1_shop_main-${ID}.log`,
  });
  assert.equal(paths && linkTarget('/var/log', paths), '/var/log/pods/shop_web-1_uid-1/main/2.log');
});

test('the name of a link is cut to 255 bytes, and a Pod whose folder would have a longer name has no log file', () => {
  const long = podLogPaths({ ...IDENTITY, podName: 'x'.repeat(200) }, ID);
  assert.equal(long?.link.length, 255);
  assert.match(long?.link ?? '', /^x{200}_shop_main-a+\.log$/);
  assert.equal(podLogPaths({ ...IDENTITY, podName: 'x'.repeat(250) }, ID), undefined);
});

const HOSTILE: [field: string, value: string | number][] = [
  ['podUid', '..'],
  ['podUid', '../../etc'],
  ['podNamespace', 'a/b'],
  ['podNamespace', ''],
  ['podName', 'a_b'],
  ['podName', 'a\nb'],
  ['container', '.'],
  ['container', '-'],
  ['attempt', Number.NaN],
  ['attempt', -1],
  ['attempt', 1.5],
];
for (const [field, value] of HOSTILE) {
  test(`a container whose ${field} is ${JSON.stringify(value)} has no log file`, () => {
    assert.equal(podLogPaths({ ...IDENTITY, [field]: value }, ID), undefined);
  });
}

test('a container with a hostile id has no log file', () => {
  assert.equal(podLogPaths(IDENTITY, '../x'), undefined);
});

test('rotated files carry the time in UTC', () => {
  assert.equal(rotatedName('0.log', Date.parse('2016-10-06T00:17:09.9Z')), '0.log.20161006-001709');
});

test('after a rotation all but the latest rotated file are compressed, and the oldest are removed', () => {
  const names = [
    '0.log',
    '0.log.20160101-000000.gz',
    '0.log.20160102-000000.gz',
    '0.log.20160103-000000',
    '0.log.20160104-000000',
    '0.log.20160103-000000.tmp',
    '1.log',
    '1.log.20150101-000000',
    '0.log.note',
  ];
  assert.deepEqual(cleanupAfterRotation('0.log', names, { maxFiles: 4 }), {
    remove: ['0.log.20160101-000000.gz', '0.log.20160103-000000.tmp'],
    compress: ['0.log.20160103-000000'],
  });
  assert.deepEqual(cleanupAfterRotation('0.log', ['0.log', '0.log.20160101-000000'], { maxFiles: 2 }), {
    remove: [],
    compress: [],
  });
  assert.deepEqual(filesOfAttempt('0.log', names), names.slice(0, 6));
});

const LIMITS = { maxBytes: 1_000, maxFiles: 5, leastAgeMs: 10_000, settleMs: 2_000 };
const STEPS: [rule: string, size: number, createdAt: number, writtenAt: number, expected: string][] = [
  ['a file below its size', 999, 0, 0, 'write'],
  ['a full file', 1_000, 0, 98_000, 'rotate'],
  ['a full file that programs may not have read', 1_000, 0, 98_001, 'wait'],
  ['a full file that programs may not have found', 9_000, 90_001, 0, 'write'],
  ['a full file of the least age', 9_000, 90_000, 98_000, 'rotate'],
];
for (const [rule, size, createdAt, writtenAt, expected] of STEPS) {
  test(`before the next write to ${rule}: ${expected}`, () => {
    assert.equal(rotationStep({ size, createdAt, writtenAt }, 100_000, LIMITS), expected);
  });
}

test('the size of a log file is a quantity of at least 64Ki', () => {
  assert.equal(parseLogSize('10Mi'), 10 * 1024 * 1024);
  for (const text of ['63Ki', '-1', 'ten', '']) assert.throws(() => parseLogSize(text), /at least 64Ki/);
});
