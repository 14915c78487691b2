/**
 * Memory of an agent for 100 Services of 64 endpoints: the table, the rules with their kept listing, and the cached DNS
 * answers. They have ClusterIPs: headless ones have larger answers, and no rules. Runs in a network namespace of its own, because the rules are applied. Sends the bytes of each part.
 */

import { AnswerCache } from '../../../agent/dns/serving/answer-cache.js';
import { NftServiceProxy } from '../../../agent/netfilter/nft-service-proxy.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { queryMessage } from '../../harness/dns/dns-client.js';
import { filledTable, SERVICES } from '../../harness/services/filled-service-table.js';

export interface ServiceMemory {
  table: number;
  rules: number;
  answers: number;
}

/** Each family of addresses. A reply has a header, the question, EDNS, and one record or the SOA. */
const TYPES = ['A', 'AAAA'];
const REPLY_BYTES = 150;
const UDP_SIZE = 1_232;
/** Longer than the interval in which the proxy compares the table with its listing. */
const CHECK_MS = 20_000;

function usedBytes(): number {
  for (let run = 0; run < 4; run++) globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

function filledCache(): AnswerCache {
  const cache = new AnswerCache(new ManualClock(0), Math.random);
  cache.find(queryMessage('web.default.svc.cluster.local', 'A', UDP_SIZE), 1);
  for (let index = 0; index < SERVICES; index += 1)
    for (const type of TYPES) {
      const query = queryMessage(`service-${index}.default.svc.cluster.local`, type, UDP_SIZE);
      const reply = Buffer.alloc(REPLY_BYTES, index);
      const reuse = { kind: 'rotated', recordBytes: 16 } as const;
      cache.put(query, { reply, answersOffset: 64, reuse, revision: 1 });
    }
  if (cache.size !== SERVICES * TYPES.length) throw new Error(`the cache has ${cache.size} answers`);
  return cache;
}

/** Everything that was measured, so that nothing is collected. */
const kept: unknown[] = [];

async function measure(): Promise<ServiceMemory> {
  const start = usedBytes();
  const fixture = await filledTable();
  const withTable = usedBytes();
  const clock = new ManualClock(0);
  const node = { name: 'host', zone: '', addresses: ['192.0.2.1'] };
  const proxy = new NftServiceProxy({
    node: () => node,
    onCondition: () => undefined,
    clock,
    log: silentLogger,
  });
  await proxy.start();
  await proxy.apply([...fixture.table.all()]);
  if (!proxy.isEffective) throw new Error('the rules are not in effect');
  clock.advance(CHECK_MS);
  // The next run of the proxy waits for the check.
  await proxy.apply([...fixture.table.all()]);
  await proxy.stop();
  const withRules = usedBytes();
  const cache = filledCache();
  const end = usedBytes();
  kept.push(fixture, proxy, cache);
  return { table: withTable - start, rules: withRules - withTable, answers: end - withRules };
}

// The first round loads and compiles the code.
await measure();
const result = await measure();
if (kept.length !== 6) throw new Error('something measured was not kept');
process.send?.(result);
process.exit(0);
