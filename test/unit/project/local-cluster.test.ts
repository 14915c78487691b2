/** The pure parts of `up --coordinators`: ports, arguments of etcd, flags of children, the kubeconfig. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { parse } from 'yaml';
import { kubeconfigText } from '../../../coordinator/api/auth/admin-kubeconfig.js';
import {
  clusterFileText,
  contradiction,
  etcdFlags,
  etcdPaths,
  newPorts,
  readClusterFile,
} from '../../../coordinator/cli/local-cluster/cluster-layout.js';
import {
  etcdArguments,
  etcdEnvironment,
  unsupportedVersion,
} from '../../../coordinator/cli/local-cluster/etcd-program.js';
import { settingFlags } from '../../../coordinator/cli/local-cluster/setting-flags.js';
import { withServers } from '../../../coordinator/cluster/keys/member-kubeconfig.js';
import { COORDINATOR_SETTINGS } from '../../../coordinator/coordinator-settings.js';
import { makeCaCertificate } from '../../../coordinator/pki/ca-certificate.js';
import { issueMachineCertificate } from '../../../coordinator/pki/machine-certificate.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';

const PORTS = newPorts(3, 6443, [10, 11, 12, 13, 14, 15]);

test('the ports of a new cluster are stored and read back', () => {
  assert.deepEqual(PORTS.coordinators, [6443, 6444, 6445]);
  assert.deepEqual(PORTS.etcd[2], { client: 14, peer: 15 });
  assert.deepEqual(readClusterFile(clusterFileText(PORTS)), PORTS);
});

test('a damaged file of ports is not used', () => {
  const text = clusterFileText(PORTS);
  const damaged = [
    '',
    '{}',
    'null',
    text.slice(0, 40),
    text.replace('6444', '"x"'),
    text.replace('"format": 1', '"format": 2'),
  ];
  for (const each of damaged) assert.equal(readClusterFile(each), undefined, each);
});

test('flags that contradict the existing cluster are refused with the right flag', () => {
  assert.equal(contradiction(PORTS, { coordinators: 3, port: 6443 }), undefined);
  assert.equal(contradiction(PORTS, { coordinators: 3, port: 0 }), undefined);
  assert.match(contradiction(PORTS, { coordinators: 2, port: 6443 }) ?? '', /--coordinators 3/);
  assert.match(contradiction(PORTS, { coordinators: 3, port: 7000 }) ?? '', /--port 6443/);
});

test('versions 3.4 to 3.6 of etcd are supported', () => {
  const rows: [string, RegExp | undefined][] = [
    ['etcd Version: 3.4.23\nGit SHA: x', undefined],
    ['etcd Version: 3.5.33\n', undefined],
    ['etcd Version: 3.6.0-rc.1\n', undefined],
    ['etcd Version: 3.3.27\n', /3\.3\.27 is not supported, only 3\.4 to 3\.6/],
    ['etcd Version: 3.7.1\n', /3\.7\.1 is not supported/],
    ['', /apt-get install etcd-server/],
  ];
  for (const [output, why] of rows) {
    if (why) assert.match(unsupportedVersion(output) ?? '', why);
    else assert.equal(unsupportedVersion(output), undefined, output);
  }
});

test('each member of etcd accepts only connections with a certificate of its authority', () => {
  const args = etcdArguments(1, PORTS.etcd, etcdPaths('/data'));
  const flag = (name: string) => args.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
  assert.equal(flag('name'), 'etcd-2');
  assert.equal(flag('data-dir'), '/data/etcd/etcd-2');
  assert.equal(flag('listen-client-urls'), 'https://127.0.0.1:12');
  assert.equal(flag('listen-peer-urls'), 'https://127.0.0.1:13');
  assert.equal(
    flag('initial-cluster'),
    'etcd-1=https://127.0.0.1:11,etcd-2=https://127.0.0.1:13,etcd-3=https://127.0.0.1:15',
  );
  assert.equal(flag('client-cert-auth'), 'true');
  assert.equal(flag('peer-client-cert-auth'), 'true');
});

test('variables of etcd are not inherited', () => {
  assert.deepEqual(etcdEnvironment({ ETCD_NAME: 'x', PATH: '/bin' }), { PATH: '/bin' });
});

test('a coordinator gets the addresses of all members of etcd', () => {
  const [name, urls] = etcdFlags('/data', PORTS);
  assert.equal(name, '--etcd');
  assert.equal(urls, 'https://127.0.0.1:10,https://127.0.0.1:12,https://127.0.0.1:14');
});

test('settings that differ from their defaults become flags of a child process', () => {
  const defaults = Object.fromEntries(
    Object.entries(COORDINATOR_SETTINGS).map(([key, setting]) => [key, setting.default]),
  );
  assert.deepEqual(settingFlags(COORDINATOR_SETTINGS, defaults, []), []);
  const values = {
    ...defaults,
    data: '/data',
    approveNodes: true,
    serviceCidr: 'off',
    oidcRequiredClaims: { hd: 'a', aud: 'b' },
    oidcSigningAlgs: ['RS256', 'ES256'],
  };
  assert.deepEqual(settingFlags(COORDINATOR_SETTINGS, values, ['data']), [
    ...['--service-cidr', 'off', '--approve-nodes'],
    ...['--oidc-required-claims', 'hd=a,aud=b', '--oidc-signing-algs', 'RS256,ES256'],
  ]);
});

test('the kubeconfig has a context for each coordinator and one user', () => {
  const own = kubeconfigText({ server: 'https://127.0.0.1:1', caCertificate: 'ca', token: 't' });
  const config = parse(withServers(own, ['https://127.0.0.1:1', 'https://127.0.0.1:2']));
  assert.equal(config['current-context'], 'everynode');
  assert.deepEqual(
    config.clusters.map(({ name, cluster }: { name: string; cluster: { server: string } }) => [
      name,
      cluster.server,
    ]),
    [
      ['everynode', 'https://127.0.0.1:1'],
      ['everynode-2', 'https://127.0.0.1:2'],
    ],
  );
  assert.deepEqual(config.contexts[1], {
    name: 'everynode-2',
    context: { cluster: 'everynode-2', user: 'everynode' },
  });
});

test('a machine certificate is for servers and clients and names its addresses', async () => {
  const now = Date.now();
  const key = await generateKeyPem();
  const ca = { key, cert: await makeCaCertificate(key, now, 'CN=etcd-ca') };
  const names = ['127.0.0.1', 'etcd-1.example.com'];
  const issued = new X509Certificate(
    (await issueMachineCertificate(ca, { commonName: 'etcd', names }, now)).cert,
  );
  assert.ok(issued.verify(new X509Certificate(ca.cert).publicKey));
  assert.ok(issued.checkIP('127.0.0.1'));
  assert.ok(issued.checkHost('etcd-1.example.com'));
  assert.deepEqual(issued.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.ok(Date.parse(issued.validTo) <= Date.parse(new X509Certificate(ca.cert).validTo));
});
