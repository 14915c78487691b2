import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocalEndpoint } from '../../../../agent/decisions/services/host-service.js';
import { relayedPorts } from '../../../../agent/decisions/services/relay-targets.js';
import { serviceView } from '../../../harness/services/service-views.js';

function endpoint(ip: string, fields: Partial<LocalEndpoint> = {}): LocalEndpoint {
  return {
    node: 'node-0',
    hostname: 'node-0',
    zone: '',
    addresses: ['192.0.2.10'],
    ports: [31_777],
    state: 'ready',
    direct: { addresses: [ip], ports: [8080] },
    ...fields,
  };
}

const relayed = (local: LocalEndpoint[], relayPorts = [31_777]) =>
  relayedPorts([{ view: serviceView('web', { relayPorts }), local }]).get(31_777);

describe('relayed ports', () => {
  test('new connections go to ready Pods, and those to others continue', () => {
    assert.deepEqual(
      relayed([
        endpoint('172.17.0.2'),
        endpoint('172.17.0.3', { state: 'notReady' }),
        endpoint('172.17.0.4', { state: 'terminating' }),
      ]),
      {
        service: 'default/web',
        targets: [{ address: '172.17.0.2', port: 8080 }],
        present: ['172.17.0.2', '172.17.0.3', '172.17.0.4'].map((address) => ({ address, port: 8080 })),
      },
    );
  });

  test('terminating Pods serve while none is ready', () => {
    const found = relayed([endpoint('172.17.0.4', { state: 'terminating' })]);
    assert.deepEqual(found?.targets, [{ address: '172.17.0.4', port: 8080 }]);
  });

  const none: [what: string, local: LocalEndpoint[], relayPorts?: number[]][] = [
    ['no Pod', []],
    ['an unready Pod', [endpoint('172.17.0.2', { state: 'notReady' })]],
    ['a Pod with a hostPort', [endpoint('172.17.0.2', { ports: [9080] })]],
    [
      "a Pod on the host's network",
      [endpoint('192.0.2.10', { direct: { addresses: ['192.0.2.10'], ports: [31_777] } })],
    ],
    ['a port of another protocol', [endpoint('172.17.0.2')], [0]],
  ];
  for (const [what, local, relayPorts] of none)
    test(`nothing is relayed for ${what}`, () => assert.equal(relayed(local, relayPorts), undefined));

  test('a Service without relay ports is not relayed', () => {
    assert.equal(relayedPorts([{ view: serviceView('web'), local: [endpoint('172.17.0.2')] }]).size, 0);
  });

  test('of two Services with the same relay port the first by name is relayed', () => {
    const services = ['b', 'a'].map((name) => ({
      view: serviceView(name, { relayPorts: [31_777] }),
      local: [endpoint('172.17.0.2')],
    }));
    assert.equal(relayedPorts(services).get(31_777)?.service, 'default/a');
  });
});
