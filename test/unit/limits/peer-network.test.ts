import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairQueue } from '../../../coordinator/api/limits/fair-queue.js';
import { networkOf, originOf } from '../../../coordinator/api/limits/peer-network.js';

describe('the network of a peer', () => {
  const NETWORKS: [address: string, site: string, network: string][] = [
    ['192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1::/48', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0::/48', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:9::1', '2001:db8:0::/48', '2001:db8:0:0::/64'],
    ['::1', '0:0:0::/48', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0::/48', 'fe80:0:0:0::/64'],
    ['::ffff:0:192.0.2.7', '0:0:0::/48', '0:0:0:0::/64'],
    ['', '', ''],
  ];
  for (const [address, site, network] of NETWORKS) {
    test(`${address || 'nowhere'}: ${network}`, () => {
      assert.deepEqual(originOf(address), [site, network, address]);
      assert.equal(networkOf(address), network);
    });
  }
});

describe('the fair queue', () => {
  const drained = <T>(turns: FairQueue<T>) => {
    const taken: T[] = [];
    for (let item = turns.take(); item !== undefined; item = turns.take()) taken.push(item);
    return taken;
  };
  const TABLE: [rule: string, waiting: [path: string[], item: string][], order: string][] = [
    ['nobody', [], ''],
    [
      'of one queue in order of arrival',
      [
        [['a', 'x'], '1'],
        [['a', 'x'], '2'],
      ],
      '1 2',
    ],
    [
      'many requests of one network do not block another network',
      [
        [['a', 'x'], 'a1'],
        [['a', 'y'], 'a2'],
        [['a', 'z'], 'a3'],
        [['b', 'x'], 'b1'],
        [['b', 'x'], 'b2'],
      ],
      'a1 b1 a2 b2 a3',
    ],
    [
      'addresses within one network alternate too',
      [
        [['a', 'x'], 'x1'],
        [['a', 'x'], 'x2'],
        [['a', 'x'], 'x3'],
        [['a', 'y'], 'y1'],
      ],
      'x1 y1 x2 x3',
    ],
  ];
  for (const [rule, waiting, order] of TABLE) {
    test(rule, () => {
      const turns = new FairQueue<string>();
      for (const [path, item] of waiting) turns.add(path, item);
      assert.deepEqual([...turns].sort(), waiting.map(([, item]) => item).sort());
      assert.equal(drained(turns).join(' '), order);
      assert.ok(turns.isEmpty);
    });
  }

  test('a client that leaves gets no turn and leaves no queue behind', () => {
    const turns = new FairQueue<string>();
    turns.add(['a', 'x'], '1');
    turns.add(['a', 'x'], '2');
    turns.delete(['a', 'x'], '1');
    turns.delete(['a', 'x'], '1');
    turns.delete(['b', 'x'], '2');
    assert.equal(turns.take(), '2');
    turns.delete(['a', 'x'], '2');
    assert.ok(turns.isEmpty);
    turns.add(['c'], '3');
    turns.delete(['c'], '3');
    assert.ok(turns.isEmpty);
  });
});
