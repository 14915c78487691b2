import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  decodeProxyHeader,
  encodeProxyHeader,
  type ForwardedConnection,
  headerKey,
  MAX_PROXY_HEADER_BYTES,
  proxyHeaderLength,
} from '../../../coordinator/cluster/front-door/proxy-header.js';
import {
  LeaderHeaders,
  MAX_DOORS,
  REPLAY_WINDOW,
  SignedHeaders,
} from '../../../coordinator/cluster/front-door/received-headers.js';

const KEY = headerKey(Buffer.alloc(32, 1));
const CONNECTION: ForwardedConnection = {
  client: { address: '192.0.2.1', port: 50_000 },
  server: { address: '198.51.100.7', port: 6443 },
  doorId: '00112233445566ff',
  sequence: 1,
  term: 42,
};

const ports = fc.integer({ min: 0, max: 65_535 });
const pairs = (address: fc.Arbitrary<string>) =>
  fc.record({ client: fc.record({ address, port: ports }), server: fc.record({ address, port: ports }) });
const numbers = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const connections: fc.Arbitrary<ForwardedConnection> = fc
  .tuple(
    fc.oneof(pairs(fc.ipV4()), pairs(fc.ipV6())),
    fc.record({
      doorId: fc
        .uint8Array({ minLength: 8, maxLength: 8 })
        .map((bytes) => Buffer.from(bytes).toString('hex')),
      sequence: numbers,
      term: numbers,
    }),
  )
  .map(([ends, rest]) => ({ ...ends, ...rest }));

/** The text that Node writes for an address, with which a decoded address must agree. */
function canonical(address: string): string {
  return address.includes(':') ? new URL(`tcp://[${address}]`).hostname.slice(1, -1) : address;
}

describe('the header of a forwarded connection', () => {
  test('decoding returns what was encoded, for every address', () => {
    const check = (connection: ForwardedConnection) => {
      const { client, server } = connection;
      const header = encodeProxyHeader(connection, KEY);
      assert.equal(proxyHeaderLength(header), header.length);
      assert.deepEqual(decodeProxyHeader(header, KEY), {
        ...connection,
        client: { ...client, address: canonical(client.address) },
        server: { ...server, address: canonical(server.address) },
      });
    };
    fc.assert(fc.property(connections, check));
  });

  test('the bytes before our TLV are those of the PROXY protocol, version 2', () => {
    const header = encodeProxyHeader(CONNECTION, KEY).toString('hex');
    assert.equal(
      header.slice(0, 2 * 31),
      [
        '0d0a0d0a000d0a515549540a',
        '21',
        '11',
        '0047',
        'c0000201',
        'c6336407',
        'c350',
        '192b',
        'e0',
        '0038',
      ].join(''),
    );
    assert.equal(header.length, 2 * 87);
  });

  test('an IPv4 address that is mapped into IPv6 is written as IPv4, and one of each family as IPv6', () => {
    const table: [client: string, server: string, read: string, bytes: number][] = [
      ['::ffff:192.0.2.1', '::ffff:198.51.100.7', '192.0.2.1', 87],
      ['192.0.2.1', '2001:db8::1', '::ffff:c000:201', 111],
      ['fe80::1%eth0', 'fe80::2', 'fe80::1', 111],
      ['::', '::1', '::', 111],
    ];
    for (const [from, to, address, bytes] of table) {
      const ends = { client: { address: from, port: 1 }, server: { address: to, port: 2 } };
      const header = encodeProxyHeader({ ...CONNECTION, ...ends }, KEY);
      assert.deepEqual([decodeProxyHeader(header, KEY)?.client.address, header.length], [address, bytes]);
    }
  });

  test('an address that is no IP address cannot be encoded', () => {
    const client = { address: '', port: 1 };
    assert.throws(() => encodeProxyHeader({ ...CONNECTION, client }, KEY), /is not an IP address/);
  });

  test('a header with any changed byte is refused', () => {
    const header = encodeProxyHeader(CONNECTION, KEY);
    for (let at = 0; at < header.length; at += 1) {
      const changed = Buffer.from(header);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.equal(decodeProxyHeader(changed, KEY), undefined, `byte ${at}`);
    }
  });

  test('a header with another key, or with a key of another purpose, is refused', () => {
    for (const key of [Buffer.alloc(32, 1), headerKey(Buffer.alloc(32, 2))])
      assert.equal(decodeProxyHeader(encodeProxyHeader(CONNECTION, key), KEY), undefined);
  });

  test('hostile bytes are refused without an exception', () => {
    const start = encodeProxyHeader(CONNECTION, KEY).subarray(0, 14);
    const check = (tail: Uint8Array, isPrefixed: boolean) => {
      const bytes = Buffer.concat([isPrefixed ? start : Buffer.alloc(0), tail]);
      assert.equal(decodeProxyHeader(bytes, KEY), undefined);
      const length = bytes.length === 0 ? undefined : proxyHeaderLength(bytes);
      assert.ok(length === undefined || (length >= 16 && length <= MAX_PROXY_HEADER_BYTES));
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), check));
  });

  test('the length is known from 16 bytes on; bytes that differ from the signature are no header', () => {
    const header = encodeProxyHeader(CONNECTION, KEY);
    for (let bytes = 1; bytes < 16; bytes += 1)
      assert.equal(proxyHeaderLength(header.subarray(0, bytes)), 16);
    assert.equal(proxyHeaderLength(header.subarray(0, 16)), header.length);
    assert.equal(proxyHeaderLength(Buffer.from([22, 3, 1])), undefined);
    assert.equal(proxyHeaderLength(Buffer.from('\r\n\r\nGET')), undefined);
    const tooLong = Buffer.from(header.subarray(0, 16));
    tooLong.writeUInt16BE(0xffff, 14);
    assert.equal(proxyHeaderLength(tooLong), 16);
  });
});

describe('the leader accepts', () => {
  const header = (change: Partial<ForwardedConnection>) =>
    encodeProxyHeader({ ...CONNECTION, ...change }, KEY);
  const replayed = { refused: 'the PROXY header was received before' };
  const accepted = { client: '192.0.2.1' };

  test('a header of its own term, once', () => {
    const headers = new LeaderHeaders(KEY, 42);
    assert.deepEqual(headers.read(header({})), accepted);
    assert.deepEqual(headers.read(header({})), replayed);
    assert.deepEqual(headers.read(header({ doorId: '1'.repeat(16) })), accepted);
    for (const term of [41, 43])
      assert.deepEqual(headers.read(header({ term, sequence: 2 })), {
        refused: 'the PROXY header is of another term',
      });
  });

  test('headers in any order within the window, each one once', () => {
    const sequences = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 200 });
    const check = (order: number[]) => {
      const headers = new LeaderHeaders(KEY, 42);
      const seen = new Set<number>();
      for (const sequence of order) {
        assert.deepEqual(headers.read(header({ sequence })), seen.has(sequence) ? replayed : accepted);
        seen.add(sequence);
      }
    };
    fc.assert(fc.property(sequences, check), { numRuns: 20 });
  });

  test('no header that is older than the window, and every new one after a jump', () => {
    const headers = new LeaderHeaders(KEY, 42);
    const read = (sequence: number) => headers.read(header({ sequence }));
    const table: [number, object][] = [
      [0, replayed],
      [1, accepted],
      [REPLAY_WINDOW, accepted],
      [REPLAY_WINDOW + 1, accepted],
      [1, replayed],
      [2, accepted],
      [10 * REPLAY_WINDOW, accepted],
      [9 * REPLAY_WINDOW, replayed],
      [9 * REPLAY_WINDOW + 1, accepted],
      [9 * REPLAY_WINDOW + 1, replayed],
    ];
    for (const [sequence, verdict] of table) assert.deepEqual(read(sequence), verdict, String(sequence));
  });

  test('a limited number of followers: the longest unused one is forgotten', () => {
    const headers = new LeaderHeaders(KEY, 42);
    const doorId = (at: number) => at.toString(16).padStart(16, '0');
    for (let at = 0; at < MAX_DOORS; at += 1) headers.read(header({ doorId: doorId(at) }));
    headers.read(header({ doorId: doorId(0), sequence: 2 }));
    headers.read(header({ doorId: doorId(MAX_DOORS) }));
    assert.deepEqual(headers.read(header({ doorId: doorId(0) })), replayed);
    assert.deepEqual(headers.read(header({ doorId: doorId(1) })), accepted);
  });

  test('a header without a valid signature never; a follower checks the signature alone', () => {
    const forged = encodeProxyHeader(CONNECTION, headerKey(Buffer.alloc(32, 9)));
    const refused = { refused: 'the PROXY header has no valid signature of this fleet' };
    const follower = new SignedHeaders(KEY);
    for (const headers of [new LeaderHeaders(KEY, 42), follower])
      assert.deepEqual(headers.read(forged), refused);
    for (const _ of ['first', 'again']) assert.deepEqual(follower.read(header({ term: 7 })), accepted);
  });
});
