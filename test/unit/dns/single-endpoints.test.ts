/** Names of endpoints that are not in the view of a Service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DnsHandler } from '../../../agent/dns/serving/dns-handler.js';
import { endpointViewName, VIEW_SIZE } from '../../../shared/kube/services/service-view.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { decodeMessage, queryMessage } from '../../harness/dns/dns-client.js';
import { endpointOf, KnownServices, localOf, serviceOf } from '../../harness/dns/dns-services.js';

const HEADLESS = { type: 'headless' } as const;
const REMOTE = Array.from({ length: VIEW_SIZE }, (_, index) => endpointOf(`n-${index}`, `10.1.0.${index}`));
const SERVICES = [
  serviceOf('large', HEADLESS, REMOTE, {}, [localOf('own', '10.1.1.1')]),
  serviceOf('small', HEADLESS, REMOTE.slice(1)),
  serviceOf(endpointViewName('large', 'far.example.com'), HEADLESS, [
    endpointOf('far.example.com', '10.2.0.1'),
  ]),
];

type Row = [what: string, host: string, service: string, addresses: string[] | string, lookups: string[]];

const ROWS: Row[] = [
  ['in the view', 'n-5', 'large', ['10.1.0.5'], ['default/large']],
  ['of the own host', 'own', 'large', ['10.1.1.1'], ['default/large']],
  [
    'outside of the view',
    'FAR.example.com',
    'large',
    ['10.2.0.1'],
    ['default/large', 'default/large/far.example.com'],
  ],
  ['that no host has', 'none', 'large', 'NXDOMAIN', ['default/large', 'default/large/none']],
  ['that a complete view lacks', 'n-0', 'small', 'NXDOMAIN', ['default/small']],
];

describe('the name of an endpoint', () => {
  for (const [what, host, service, expected, lookups] of ROWS)
    test(`${what}: ${expected}`, async () => {
      const services = new KnownServices(SERVICES);
      const handler = new DnsHandler({
        services,
        hasNamespace: () => true,
        forwarder: { forward: () => Promise.resolve(undefined) },
        clock: new ManualClock(),
        random: () => 0,
      });
      const query = queryMessage(`${host}.${service}.default.svc.cluster.local`, 'A');
      const reply = decodeMessage((await handler.handle(query, 'udp')) ?? assert.fail('no reply'));
      const addresses = (reply.answers ?? []).map((answer) => 'data' in answer && answer.data);
      assert.deepEqual(addresses.length > 0 ? addresses : reply.rcode, expected);
      assert.deepEqual(services.lookups, lookups);
    });

  test('outside of the view is unknown without a link, and the answer is not cached', async () => {
    const services = new KnownServices(SERVICES);
    services.isLinked = false;
    const handler = new DnsHandler({
      services,
      hasNamespace: () => true,
      forwarder: { forward: () => Promise.resolve(undefined) },
      clock: new ManualClock(),
      random: () => 0,
    });
    const query = queryMessage('other.large.default.svc.cluster.local', 'A');
    const reply = decodeMessage((await handler.handle(query, 'udp')) ?? assert.fail('no reply'));
    const [authority] = reply.authorities ?? [];
    assert.deepEqual([reply.rcode, authority && 'ttl' in authority && authority.ttl], ['NXDOMAIN', 0]);
  });
});
