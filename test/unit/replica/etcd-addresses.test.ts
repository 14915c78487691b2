import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type EtcdSettings,
  readEtcdSettings,
} from '../../../coordinator/store/replica/etcd/checks/etcd-addresses.js';
import { EtcdRefused } from '../../../coordinator/store/replica/etcd/checks/etcd-refused.js';

const FILES = { etcdCa: 'ca.pem', etcdCert: 'client.pem', etcdKey: 'client.key' };

test('addresses of etcd are read with their default port, without blanks and repetitions', () => {
  const access = readEtcdSettings({
    etcd: 'https://a, https://b:443/,HTTPS://[fd00::1]:1,https://a:2379',
    ...FILES,
  });
  assert.deepEqual(access, {
    endpoints: ['https://a:2379', 'https://b:443', 'https://[fd00::1]:1'],
    isSecure: true,
    caFile: 'ca.pem',
    certFile: 'client.pem',
    keyFile: 'client.key',
  });
});

for (const etcd of ['http://localhost:2379', 'http://127.0.0.1:1', 'http://[::1]:2379'])
  test(`${etcd} needs no TLS, because it is this machine`, () => {
    assert.deepEqual(readEtcdSettings({ etcd }), { endpoints: [etcd], isSecure: false });
  });

const REFUSED: readonly [string, EtcdSettings, RegExp][] = [
  ['an empty list', { etcd: ' ,' }, /--etcd names no address/],
  ['an address without a scheme', { etcd: 'a:2379', ...FILES }, /'a:2379' is not an address like/],
  ['an address with a path', { etcd: 'https://a:2379/x', ...FILES }, /is not an address/],
  ['an address with a password', { etcd: 'https://u:p@a:2379', ...FILES }, /is not an address/],
  ['port 0', { etcd: 'https://a:0', ...FILES }, /is not an address/],
  ['a port beyond 65535', { etcd: 'https://a:65536', ...FILES }, /is not an address/],
  ['http to another machine', { etcd: 'http://10.0.0.1:2379' }, /has no TLS.*use https/],
  ['http to a name that begins like loopback', { etcd: 'http://127.0.0.1.example:2379' }, /has no TLS/],
  ['http and https', { etcd: 'http://127.0.0.1:1,https://a', ...FILES }, /mixes http and https/],
  ['http with certificates', { etcd: 'http://127.0.0.1:1', etcdCa: 'ca.pem' }, /--etcd-ca has no effect/],
  ['https without files', { etcd: 'https://a' }, /needs --etcd-ca and --etcd-cert and --etcd-key/],
  ['https without a key', { etcd: 'https://a', ...FILES, etcdKey: undefined }, /also needs --etcd-key$/],
];

for (const [what, settings, message] of REFUSED)
  test(`settings of etcd with ${what} are refused`, () => {
    assert.throws(
      () => readEtcdSettings(settings),
      (error) => error instanceof EtcdRefused && error.code === 'usage' && message.test(error.message),
    );
  });
