/** Cached answers of the cluster DNS: which are reused, for which queries, and for how long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerReuse } from '../../../agent/decisions/dns/answer-reuse.js';
import {
  type DnsRecord,
  type DnsReply,
  emptyReply,
  negative,
  positive,
} from '../../../agent/decisions/dns/dns-reply.js';
import { AnswerCache } from '../../../agent/dns/serving/answer-cache.js';
import { DnsHandler } from '../../../agent/dns/serving/dns-handler.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { type DnsMessage, decodeMessage, queryMessage } from '../../harness/dns/dns-client.js';
import { endpointOf, KnownServices, serviceOf } from '../../harness/dns/dns-services.js';

const ZONE = 'default.svc.cluster.local';
const NAME = `many.${ZONE}`;

describe('a reply to equal questions', () => {
  const record = (type: string, data: string, ttl = 5, name = NAME) =>
    ({ type, name, ttl, data }) as DnsRecord;
  const address = record('A', '10.1.0.1');
  const srv = (port: number): DnsRecord => {
    const data = { priority: 0, weight: 50, port, target: `a.${NAME}` };
    return { type: 'SRV', name: NAME, ttl: 5, data };
  };
  const cases: [string, DnsReply, string | number][] = [
    ['one address', positive([address]), 'same'],
    ['IPv4 addresses', positive([address, record('A', '10.1.0.2')]), 16],
    ['IPv6 addresses', positive([record('AAAA', 'fd00::1'), record('AAAA', 'fd00::2')]), 28],
    ['addresses of both families', positive([address, record('AAAA', 'fd00::2')]), 'none'],
    ['one SRV record', positive([srv(80)]), 'same'],
    ['several SRV records', positive([srv(80), srv(81)]), 'none'],
    ['an alias with addresses', positive([record('CNAME', 'b.example'), address]), 'none'],
    ['addresses of another name', positive([address, record('A', '10.1.0.2', 5, 'b.example')]), 'none'],
    ['a name that does not exist', negative('NXDOMAIN'), 'same'],
    ['a name without this type', negative('NOERROR'), 'same'],
    ['a Service that could not be looked up', negative('NXDOMAIN', 0), 'none'],
    ['a failure', emptyReply('SERVFAIL'), 'none'],
    ['a refusal', emptyReply('REFUSED'), 'none'],
  ];
  for (const [what, reply, expected] of cases)
    test(`${what}: ${expected}`, () => {
      const reuse = answerReuse({ name: NAME, type: 'A' }, reply);
      assert.equal(reuse.kind === 'rotated' ? reuse.recordBytes : reuse.kind, expected);
    });
});

/** Numbers that cover [0, 1) evenly. */
function evenNumbers(): () => number {
  let count = 0;
  return () => (count++ * 0.618_033_988_75) % 1;
}

class Fixture {
  readonly clock = new ManualClock();
  readonly endpoints = Array.from({ length: 64 }, (_, index) => endpointOf(`n-${index}`, `10.1.0.${index}`));
  readonly services = new KnownServices([
    serviceOf('web', { type: 'clusterIP', address: '10.96.0.10' }),
    serviceOf('many', { type: 'headless' }, this.endpoints),
  ]);
  readonly handler = new DnsHandler({
    services: this.services,
    hasNamespace: () => true,
    forwarder: { forward: () => Promise.resolve(undefined) },
    clock: this.clock,
    random: evenNumbers(),
  });

  /** Handles a query over UDP like the server. */
  async ask(query: Buffer): Promise<DnsMessage & { isCached: boolean }> {
    const cached = this.handler.cachedReply(query);
    const reply = cached ?? (await this.handler.handle(query, 'udp')) ?? assert.fail('no reply');
    return { ...decodeMessage(reply), isCached: cached !== undefined };
  }

  async isCached(query: Buffer): Promise<boolean> {
    return (await this.ask(query)).isCached;
  }
}

function addressesOf({ answers = [] }: DnsMessage): unknown[] {
  return answers.map((answer) => ('data' in answer ? answer.data : undefined));
}

describe('a cached answer', () => {
  test('is the new answer with the id of its query', async () => {
    const fixture = new Fixture();
    for (const [name, type] of [
      [`web.${ZONE}`, 'A'],
      [`web.${ZONE}`, 'AAAA'],
      [`www.example.com.${ZONE}`, 'A'],
    ] as const) {
      const first = await fixture.ask(queryMessage(name, type, 1232, 7));
      const second = await fixture.ask(queryMessage(name, type, 1232, 0xfffe));
      assert.deepEqual(second, { ...first, id: 0xfffe, isCached: true });
      assert.equal(first.isCached, false);
    }
  });

  test('starts with each address equally often, and has all of them', async () => {
    const fixture = new Fixture();
    const counts = new Map<unknown, number>();
    await fixture.ask(queryMessage(NAME, 'A', 1232));
    for (let count = 0; count < 6_400; count++) {
      const reply = await fixture.ask(queryMessage(NAME, 'A', 1232, count));
      assert.equal(reply.isCached, true);
      const addresses = addressesOf(reply);
      assert.equal(new Set(addresses).size, 64);
      counts.set(addresses[0], (counts.get(addresses[0]) ?? 0) + 1);
    }
    assert.equal(counts.size, 64);
    for (const [address, count] of counts) assert.ok(count > 80 && count < 120, `${address}: ${count}`);
  });

  test('repeats the case of letters of its own question', async () => {
    const fixture = new Fixture();
    for (const name of [NAME, NAME.toUpperCase(), `mAnY.${ZONE}`, NAME, NAME.toUpperCase()]) {
      const { questions, answers } = await fixture.ask(queryMessage(name, 'A', 1232));
      assert.deepEqual([questions?.[0]?.name, answers?.at(-1)?.name], [name, name]);
    }
  });

  test('respects the size and the options of its own query', async () => {
    const fixture = new Fixture();
    for (let round = 0; round < 2; round++) {
      const whole = await fixture.ask(queryMessage(NAME, 'A', 1232));
      const small = await fixture.ask(queryMessage(NAME, 'A', 600));
      const plain = await fixture.ask(queryMessage(NAME, 'A'));
      const fitting = [whole, small, plain].map(({ answers, flag_tc }) => [answers?.length, flag_tc]);
      assert.deepEqual(fitting, [
        [64, false],
        [33, true],
        [29, true],
      ]);
      assert.deepEqual(
        [whole, small, plain].map(({ additionals, isCached }) => [additionals?.length, isCached]),
        [1, 1, 0].map((options) => [options, round === 1]),
      );
    }
  });

  test('is dropped when a Service changes, also during its lookup', async () => {
    const fixture = new Fixture();
    const query = queryMessage(NAME, 'A', 1232);
    await fixture.ask(query);
    fixture.endpoints.splice(1);
    fixture.services.revision += 1;
    assert.deepEqual(addressesOf(await fixture.ask(query)), ['10.1.0.0']);
    fixture.services.revision += 1;
    assert.equal(fixture.handler.cachedReply(query), undefined);
    const answering = fixture.handler.handle(query, 'udp');
    fixture.services.revision += 1;
    fixture.handler.cachedReply(query);
    await answering;
    assert.equal(await fixture.isCached(query), false);
    assert.equal(await fixture.isCached(query), true);
  });

  test('is dropped after a second, so that a name in use is looked up again', async () => {
    const fixture = new Fixture();
    const query = queryMessage(NAME, 'A');
    await fixture.ask(query);
    fixture.clock.advance(999);
    assert.equal(await fixture.isCached(query), true);
    fixture.clock.advance(1);
    assert.equal(await fixture.isCached(query), false);
    assert.deepEqual(fixture.services.lookups, ['default/many', 'default/many']);
  });

  test('is not an answer over TCP, nor one of other resolvers, nor one to a malformed query', async () => {
    const fixture = new Fixture();
    const large = queryMessage(NAME, 'A', 1232);
    fixture.handler.cachedReply(large);
    await fixture.handler.handle(large, 'tcp');
    assert.equal(fixture.handler.cachedReply(large), undefined);
    for (const query of [queryMessage('example.com', 'A'), large.subarray(0, 20), large.subarray(0, 1)]) {
      await fixture.handler.handle(query, 'udp');
      assert.equal(fixture.handler.cachedReply(query), undefined);
    }
  });
});

test('the cache has at most 256 answers, and none to a query that is longer than usual', () => {
  const cache = new AnswerCache(new ManualClock(), () => 0);
  const put = (query: Buffer): void =>
    cache.put(query, { reply: query, answersOffset: 0, reuse: { kind: 'same' }, revision: 0 });
  const queryOf = (index: number): Buffer => queryMessage(`name-${index}.${ZONE}`, 'A');
  cache.find(queryOf(0), 0);
  put(Buffer.alloc(1_000));
  assert.equal(cache.size, 0);
  for (let index = 0; index < 1_000; index++) put(queryOf(index));
  assert.equal(cache.size, 256);
  assert.equal(cache.find(queryOf(743), 0), undefined);
  assert.deepEqual(cache.find(queryOf(744), 0), queryOf(744));
});
