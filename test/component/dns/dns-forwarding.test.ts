/** Names outside of the cluster, answered by resolvers of the host. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { Forwarder } from '../../../agent/dns/forwarding/forwarder.js';
import { HostNameservers, type Nameserver } from '../../../agent/dns/forwarding/host-nameservers.js';
import { type DnsQuery, parseQuery } from '../../../agent/dns/messages/dns-query.js';
import { replyForClient } from '../../../agent/dns/messages/forwarded-message.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type DnsMessage,
  decodeMessage,
  queryMessage,
  ScriptedResolver,
} from '../../harness/dns/dns-client.js';

const NAME = 'www.example.com';
const SOA = {
  type: 'SOA',
  name: 'example.com',
  ttl: 8,
  data: { mname: 'ns.example.com', rname: 'admin.example.com', minimum: 8 },
} as const;

function queryOf(name: string, type = 'A'): DnsQuery {
  const parsed = parseQuery(queryMessage(name, type, 1232));
  return parsed.kind === 'query' ? parsed.query : assert.fail();
}

describe('forwarding', () => {
  let first: ScriptedResolver;
  let second: ScriptedResolver;
  before(async () => {
    [first, second] = [await ScriptedResolver.start(), await ScriptedResolver.start()];
  });
  after(() => {
    first.stop();
    second.stop();
  });
  afterEach(() => {
    for (const resolver of [first, second]) resolver.asked.length = 0;
  });

  const forwarderTo = (servers: readonly Nameserver[], clock = systemClock) =>
    new Forwarder({ nameservers: { current: () => servers }, clock, log: silentLogger });
  const ask = async (forwarder: Forwarder, name = NAME, type = 'A'): Promise<DnsMessage | undefined> => {
    const query = queryOf(name, type);
    const reply = await forwarder.forward(query);
    return reply && decodeMessage(replyForClient(reply, query, 65_535));
  };
  const address = (data: string, ttl = 60) => ({ type: 'A', name: NAME, ttl, data }) as const;

  test('an answer is cached for its time to live', async () => {
    const clock = new ManualClock();
    first.reply = () => ({ answers: [address('192.0.2.1', 30)] });
    const forwarder = forwarderTo([first.nameserver], clock);
    for (const [advanceMs, ttl, asked] of [
      [0, 30, 1],
      [20_000, 10, 1],
      [10_000, 30, 2],
    ] as const) {
      clock.advance(advanceMs);
      const [answer] = (await ask(forwarder, 'WWW.example.com'))?.answers ?? [];
      assert.deepEqual([answer && 'ttl' in answer && answer.ttl, first.asked.length], [ttl, asked]);
    }
  });

  test('a name that does not exist is cached', async () => {
    const clock = new ManualClock();
    first.reply = () => ({ rcode: 3, authorities: [SOA] });
    const forwarder = forwarderTo([first.nameserver], clock);
    for (const advanceMs of [0, 7_000]) {
      clock.advance(advanceMs);
      assert.equal((await ask(forwarder))?.rcode, 'NXDOMAIN');
    }
    assert.equal(first.asked.length, 1);
    clock.advance(1_000);
    await ask(forwarder);
    assert.equal(first.asked.length, 2);
  });

  test('a label with a dot in it is another name, so it cannot poison the cache', async () => {
    const forwarder = forwarderTo([first.nameserver]);
    const message = queryMessage(NAME, 'A', 1232);
    // www.example.com as the two labels `www.example` and `com`.
    message.writeUInt8('www.example'.length, 12);
    message.write('.', 12 + 1 + 'www'.length);
    const forged = parseQuery(message);
    assert.ok(forged.kind === 'query' && forged.query.question.name === NAME);
    first.reply = () => ({ rcode: 3, authorities: [SOA] });
    assert.equal((await forwarder.forward(forged.query))?.rcode, 3);
    first.reply = () => ({ answers: [address('192.0.2.1')] });
    assert.equal((await ask(forwarder))?.rcode, 'NOERROR');
  });

  test('a reply that was cut off is fetched over TCP', async () => {
    first.reply = () => ({ isTcpOnly: true, answers: [address('192.0.2.1')] });
    assert.equal((await ask(forwarderTo([first.nameserver])))?.answers?.length, 1);
    assert.deepEqual(first.asked, [`udp ${NAME} A`, `tcp ${NAME} A`]);
  });

  test('the next resolver is asked if the first is silent, fails or does not run', async () => {
    second.reply = () => ({ answers: [address('192.0.2.2')] });
    const stopped = { address: '127.0.0.1', port: 1 };
    const failing: [Nameserver, () => void][] = [
      [stopped, () => undefined],
      [first.nameserver, () => (first.reply = () => ({ rcode: 2 }))],
      [first.nameserver, () => (first.reply = () => ({ isSilent: true }))],
    ];
    for (const [server, prepare] of failing) {
      prepare();
      const forwarder = forwarderTo([server, second.nameserver]);
      assert.equal((await ask(forwarder))?.rcode, 'NOERROR');
      // The resolver that replied is preferred from then on.
      first.asked.length = 0;
      assert.equal((await ask(forwarder, 'other.example.com'))?.rcode, 'NOERROR');
      assert.deepEqual(first.asked, []);
    }
  });

  test('a failure of all resolvers is passed on and not cached', async () => {
    first.reply = () => ({ rcode: 2 });
    const forwarder = forwarderTo([first.nameserver]);
    assert.equal((await ask(forwarder))?.rcode, 'SERVFAIL');
    first.reply = () => ({ answers: [address('192.0.2.1')] });
    assert.equal((await ask(forwarder))?.rcode, 'NOERROR');
    assert.equal(await ask(forwarderTo([])), undefined);
  });

  test('equal queries at once share one exchange, so that a loop ends', async () => {
    first.reply = () => ({ answers: [address('192.0.2.1')] });
    const forwarder = forwarderTo([first.nameserver]);
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(forwarder)));
    assert.ok(replies.every((reply) => reply?.answers?.length === 1));
    assert.equal(first.asked.length, 1);
  });

  test('other resolvers empty the cache', async () => {
    first.reply = () => ({ answers: [address('192.0.2.1')] });
    second.reply = () => ({ answers: [address('192.0.2.2')] });
    let servers = [first.nameserver];
    const nameservers = { current: () => servers };
    const forwarder = new Forwarder({ nameservers, clock: systemClock, log: silentLogger });
    const addressOf = async () => (await ask(forwarder))?.answers?.map((each) => 'data' in each && each.data);
    assert.deepEqual(await addressOf(), ['192.0.2.1']);
    servers = [second.nameserver];
    assert.deepEqual(await addressOf(), ['192.0.2.2']);
  });
});

describe("the host's resolv.conf", () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'resolv.conf');
  const clock = new ManualClock();
  const addressesAfter = (nameservers: HostNameservers, text: string | undefined) => {
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    clock.advance(1_000);
    return nameservers.current().map((server) => server.address);
  };

  test('is read again when it changes, and never leads back to the cluster DNS', () => {
    const nameservers = new HostNameservers(path, clock);
    assert.deepEqual(addressesAfter(nameservers, 'nameserver 192.0.2.1\nnameserver 169.254.20.53\n'), [
      '192.0.2.1',
    ]);
    const before = nameservers.current();
    clock.advance(5_000);
    assert.equal(nameservers.current(), before, 'an unchanged file keeps the cache');
    assert.deepEqual(addressesAfter(nameservers, 'nameserver 127.0.0.53\n'), ['127.0.0.53']);
    assert.deepEqual(addressesAfter(nameservers, undefined), ['127.0.0.53'], 'while it is replaced');
    assert.deepEqual(
      addressesAfter(nameservers, 'search example.com\n'),
      ['127.0.0.1'],
      'the default of libc',
    );
  });

  test('that cannot be read leaves the servers as they are, and is read again at the next check', () => {
    const nameservers = new HostNameservers(path, clock);
    assert.deepEqual(addressesAfter(nameservers, 'nameserver 192.0.2.1\n'), ['192.0.2.1']);
    rmSync(path);
    mkdirSync(path);
    for (let check = 0; check < 2; check += 1) {
      clock.advance(1_000);
      assert.deepEqual(
        nameservers.current().map(({ address }) => address),
        ['192.0.2.1'],
      );
    }
    rmSync(path, { recursive: true });
    assert.deepEqual(addressesAfter(nameservers, 'nameserver 192.0.2.2\n'), ['192.0.2.2']);
  });
});
