import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairQueue } from '../../../coordinator/api/limits/fair-queue.js';
import { networkOf, siteOf } from '../../../shared/link/peer-network.js';

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
      assert.equal(siteOf(address), site);
      assert.equal(networkOf(address), network);
    });
  }
});

describe('fair queue', () => {
  const drained = <T>(queue: FairQueue<T>) => {
    const taken: T[] = [];
    for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
    return taken;
  };
  const TABLE: [rule: string, waiting: [group: string, item: string][], order: string][] = [
    ['an empty queue has no item', [], ''],
    [
      'one group is served in the order of arrival',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      '1 2',
    ],
    [
      'a crowded group delays another group by one item',
      [
        ['a', 'a1'],
        ['a', 'a2'],
        ['a', 'a3'],
        ['b', 'b1'],
        ['b', 'b2'],
      ],
      'a1 b1 a2 b2 a3',
    ],
  ];
  for (const [rule, waiting, order] of TABLE) {
    test(rule, () => {
      const queue = new FairQueue<string>();
      for (const [group, item] of waiting) queue.add(group, item);
      assert.deepEqual([...queue].sort(), waiting.map(([, item]) => item).sort());
      assert.equal(drained(queue).join(' '), order);
      assert.deepEqual([...queue], []);
    });
  }

  test('a deleted item is not served, and an unknown item is ignored', () => {
    const queue = new FairQueue<string>();
    queue.add('a', '1');
    queue.add('a', '2');
    queue.delete('a', '1');
    queue.delete('a', '1');
    queue.delete('b', '2');
    assert.equal(queue.take(), '2');
    queue.add('c', '3');
    queue.delete('c', '3');
    assert.equal(queue.take(), undefined);
  });
});
