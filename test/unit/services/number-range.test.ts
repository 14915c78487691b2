import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  addressOf,
  chooseFree,
  readPortRange,
  readServiceCidr,
} from '../../../coordinator/registry/allocation/number-range.js';

const RANGES: [cidr: string, first: string, last: string, kept: number][] = [
  ['10.96.0.0/16', '10.96.0.1', '10.96.255.254', 256],
  ['192.168.1.0/24', '192.168.1.1', '192.168.1.254', 16],
  ['192.168.0.0/23', '192.168.0.1', '192.168.1.254', 32],
  ['192.168.1.0/28', '192.168.1.1', '192.168.1.14', 0],
  ['192.168.1.4/30', '192.168.1.5', '192.168.1.6', 0],
  ['10.0.0.0/8', '10.0.0.1', '10.255.255.254', 256],
];

describe('a range of addresses', () => {
  for (const [cidr, first, last, kept] of RANGES) {
    test(`${cidr} has ${first} to ${last} and keeps ${kept} for requests`, () => {
      const range = readServiceCidr(cidr);
      assert.ok(range);
      assert.deepEqual([addressOf(range.first), addressOf(range.last)], [first, last]);
      assert.equal(range.firstChosen - range.first, kept);
    });
  }

  test('off is no range', () => assert.equal(readServiceCidr('off'), undefined));

  for (const text of [
    '',
    'on',
    '10.96.0.0',
    '10.96.0.0/31',
    '10.0.0.0/7',
    '10.96.0.1/16',
    '127.0.0.0/16',
    '169.254.0.0/24',
    '224.0.0.0/16',
    'fd00::/108',
    '10.96.0.0/16/1',
  ])
    test(`"${text}" is refused`, () => assert.throws(() => readServiceCidr(text)));
});

describe('a range of ports', () => {
  test('30000-32767 keeps 86 ports for requests', () => {
    assert.deepEqual(readPortRange('30000-32767'), {
      text: '30000-32767',
      first: 30_000,
      last: 32_767,
      firstChosen: 30_086,
    });
  });

  test('a large range keeps 128 ports, and a small one none', () => {
    assert.equal(readPortRange('1-65535').firstChosen, 129);
    assert.equal(readPortRange('30000-30015').firstChosen, 30_000);
    assert.equal(readPortRange('30000-30016').firstChosen, 30_016);
  });

  for (const text of ['', '30000', '30000-', '2-1', '0-5', '1-65536', 'a-b', '30000+100'])
    test(`"${text}" is refused`, () => assert.throws(() => readPortRange(text)));
});

describe('the choice of a free number', () => {
  const range = { text: '', first: 1, last: 10, firstChosen: 5 };
  const chosen = (used: readonly number[], random: number) =>
    chooseFree(
      range,
      (number) => used.includes(number),
      () => random,
    );

  test('begins at a random number and skips used ones', () => {
    assert.equal(chosen([], 0), 5);
    assert.equal(chosen([], 0.999), 10);
    assert.equal(chosen([10], 0.999), 5);
    assert.equal(chosen([5, 6], 0), 7);
  });

  test('takes the share for requests when all others are used', () => {
    assert.equal(chosen([5, 6, 7, 8, 9, 10], 0), 1);
    assert.equal(chosen([1, 2, 3, 5, 6, 7, 8, 9, 10], 0), 4);
  });

  test('is undefined when the range is full', () => {
    assert.equal(chosen([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.5), undefined);
  });
});
