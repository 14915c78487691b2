/** Encoding of DNS messages: malformed queries, sizes, and replies of other resolvers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, encode } from 'dns-packet';
import fc from 'fast-check';
import { type DnsRecord, negative, positive } from '../../../agent/decisions/dns/dns-reply.js';
import { type DnsQuery, parseQuery } from '../../../agent/dns/messages/dns-query.js';
import {
  forwardedQuery,
  isReplyTo,
  readReply,
  replyForClient,
} from '../../../agent/dns/messages/forwarded-message.js';
import { MessageStream } from '../../../agent/dns/messages/message-stream.js';
import { encodeReply, rejection, udpLimit } from '../../../agent/dns/messages/reply-encoder.js';
import { decodeMessage, queryMessage } from '../../harness/dns/dns-client.js';

function queryOf(name: string, type = 'A', udpSize?: number): DnsQuery {
  const parsed = parseQuery(queryMessage(name, type, udpSize));
  return parsed.kind === 'query' ? parsed.query : assert.fail(JSON.stringify(parsed));
}

function changed(message: Buffer, offset: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(message);
  copy.set(bytes, offset);
  return copy;
}

const NAME = 'Web.default.svc.cluster.local';

describe('a query', () => {
  const good = queryMessage(NAME, 'A', 4096);
  const bare = queryMessage(NAME, 'A');
  const cases: [string, Buffer, string][] = [
    ['shorter than a header', good.subarray(0, 11), 'ignored'],
    ['that is a reply', changed(good, 2, 0x81), 'ignored'],
    ['with another operation', changed(good, 2, 0x28), 'NOTIMP'],
    ['without a question', changed(good, 4, 0, 0), 'FORMERR'],
    ['with two questions', changed(good, 4, 0, 2), 'FORMERR'],
    ['with answers', changed(good, 6, 0, 1), 'FORMERR'],
    ['with 65,535 records', changed(good, 6, 255, 255, 255, 255, 255, 255), 'FORMERR'],
    ['whose name is cut off', bare.subarray(0, 20), 'FORMERR'],
    ['without a type', bare.subarray(0, -4), 'FORMERR'],
    ['whose name points to itself', changed(bare, 12, 0xc0, 12), 'FORMERR'],
    ['with a label of an unknown kind', changed(bare, 12, 0x80), 'FORMERR'],
    ['of class CH', changed(bare, bare.length - 1, 3), 'REFUSED'],
  ];
  for (const [what, message, expected] of cases)
    test(`${what}: ${expected}`, () => {
      const parsed = parseQuery(message);
      assert.equal(parsed.kind === 'rejected' ? parsed.rcode : parsed.kind, expected);
    });

  test('a name of 253 characters is accepted, a longer one is not', () => {
    const labels = (last: number) =>
      [...Array.from({ length: 3 }, () => 'a'.repeat(63)), 'b'.repeat(last)].join('.');
    assert.equal(queryOf(labels(61)).question.name.length, 253);
    assert.equal(parseQuery(queryMessage(labels(62), 'A')).kind, 'rejected');
  });

  test('a rejection repeats the id of the query', () => {
    const { id, rcode, questions } = decodeMessage(rejection(good, 'FORMERR'));
    assert.deepEqual([id, rcode, questions], [4711, 'FORMERR', []]);
  });

  test('any bytes are handled without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, hasHeader) => {
        const body = Buffer.from(bytes);
        const message = hasHeader ? Buffer.concat([good.subarray(0, 12), body]) : body;
        const parsed = parseQuery(message);
        if (parsed.kind === 'rejected') decodeMessage(rejection(message, parsed.rcode));
        if (parsed.kind === 'query') encodeReply(parsed.query, negative('NXDOMAIN'), 512);
        readReply(Buffer.concat([good.subarray(0, 12), body]));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a reply', () => {
  const addresses = (count: number): DnsRecord[] =>
    Array.from({ length: count }, (_, index) => ({ type: 'A', name: NAME, ttl: 5, data: `10.0.0.${index}` }));
  const sizes: [string, number | undefined, number, number, boolean][] = [
    ['without EDNS has at most 512 bytes', undefined, 60, 29, true],
    ['with EDNS has at most 1,232 bytes', 4096, 100, 73, true],
    ['of 64 addresses fits', 4096, 64, 64, false],
    ['respects a smaller size of the client', 600, 60, 33, true],
  ];
  for (const [what, udpSize, count, fitting, isTruncated] of sizes)
    test(what, () => {
      const query = queryOf(NAME, 'A', udpSize);
      const bytes = encodeReply(query, positive(addresses(count)), udpLimit(query));
      assert.ok(bytes.length <= udpLimit(query));
      const reply = decodeMessage(bytes);
      assert.deepEqual([reply.answers?.length, reply.flag_tc], [fitting, isTruncated]);
      assert.equal(reply.questions?.[0]?.name, NAME);
      assert.equal(reply.answers?.[0]?.name, NAME);
    });

  test('compressed names decode to the same names', () => {
    const query = queryOf('_http._tcp.logs.default.svc.cluster.local', 'SRV', 1232);
    const target = 'node-1.example.com.logs.default.svc.cluster.local';
    const data = { priority: 0, weight: 100, port: 80, target };
    const answers: DnsRecord[] = [{ type: 'SRV', name: query.question.name, ttl: 5, data }];
    const reply = decodeMessage(
      encodeReply(query, positive(answers, [{ type: 'A', name: target, ttl: 5, data: '10.0.0.1' }]), 1232),
    );
    assert.deepEqual(
      reply.answers?.map((answer) => 'data' in answer && answer.data),
      [data],
    );
    assert.equal(reply.additionals?.[0]?.name, target);
    assert.equal(reply.additionals?.[1]?.type, 'OPT');
  });
});

describe('a forwarded reply', () => {
  const query = queryOf('www.example.com', 'A', 1232);
  const sent = forwardedQuery(query, 77);
  const record = (ttl: number): Answer => ({ type: 'A', name: 'www.example.com', ttl, data: '192.0.2.1' });
  const replyBytes = (answers: Answer[], authorities: Answer[] = [], id = 77): Buffer =>
    encode({
      type: 'response',
      id,
      questions: [{ type: 'A', name: 'WWW.example.com' }],
      answers,
      authorities,
      additionals: [],
    });

  test('options of the client are not forwarded', () => {
    const { additionals = [] } = decodeMessage(sent);
    assert.deepEqual(
      additionals.map((each) => each.type === 'OPT' && each.options),
      [[]],
    );
  });
  test('matches by id and question', () => {
    assert.equal(isReplyTo(replyBytes([]), sent), true);
    assert.equal(isReplyTo(replyBytes([], [], 78), sent), false);
    assert.equal(isReplyTo(forwardedQuery(query, 77), sent), false);
    assert.equal(isReplyTo(replyBytes([]), forwardedQuery(queryOf('other.example.com'), 77)), false);
    assert.equal(isReplyTo(replyBytes([]), forwardedQuery(queryOf('www.example.com', 'AAAA'), 77)), false);
  });
  test('may be cached for its shortest time to live', () => {
    assert.equal(readReply(replyBytes([record(300), record(20)]))?.cacheSeconds, 20);
  });
  test('without an answer may be cached as long as its SOA record allows', () => {
    const data = { mname: 'ns.example.com', rname: 'admin.example.com', minimum: 7 };
    assert.equal(
      readReply(replyBytes([], [{ type: 'SOA', name: 'example.com', ttl: 60, data }]))?.cacheSeconds,
      7,
    );
    assert.equal(readReply(replyBytes([]))?.cacheSeconds, 0);
  });
  test('has the id and the case of the client, and less time to live with age', () => {
    const reply = readReply(replyBytes([record(60)])) ?? assert.fail();
    const own = decodeMessage(replyForClient({ ...reply, ageSeconds: 25 }, query, 1232));
    assert.deepEqual([own.id, own.questions?.[0]?.name], [4711, 'www.example.com']);
    assert.deepEqual(
      own.answers?.map((each) => 'ttl' in each && each.ttl),
      [35],
    );
  });
  test('that is too large for the client is cut off', () => {
    const reply = readReply(replyBytes(Array.from({ length: 50 }, () => record(60)))) ?? assert.fail();
    const own = decodeMessage(replyForClient({ ...reply, ageSeconds: 0 }, query, 512));
    assert.deepEqual([own.flag_tc, own.answers?.length, own.id], [true, 0, 4711]);
  });
});

test('messages in a stream are found whatever its pieces', () => {
  const messages = [queryMessage('a.example', 'A'), queryMessage('b.example', 'AAAA')];
  const bytes = Buffer.concat(messages.map(MessageStream.frame));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
      const stream = new MessageStream();
      const found: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size)
        found.push(...stream.push(bytes.subarray(at, at + size)));
      assert.deepEqual(found.map(String), messages.map(String));
    }),
  );
});
