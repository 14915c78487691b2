/** Checks of a real etcd with TLS: each wrong certificate and each wrong content has its own sentence. */
import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkEtcd, type EtcdReport } from '../../../coordinator/store/replica/etcd/checks/etcd-checks.js';
import {
  type EtcdRefusalCode,
  EtcdRefused,
} from '../../../coordinator/store/replica/etcd/checks/etcd-refused.js';
import type { EtcdAccess } from '../../../coordinator/store/replica/etcd/etcd-access.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import { LogUnavailable } from '../../../coordinator/store/replica/replicated-log.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { type EtcdProcesses, missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { type EtcdTestPki, etcdTestPki } from '../../harness/etcd/etcd-test-pki.js';

const missing = missingEtcd();
let etcd: EtcdProcesses;
let pki: EtcdTestPki;
let otherPki: EtcdTestPki;

before(async () => {
  if (missing !== undefined) return;
  pki = etcdTestPki(temporaryDirectory());
  otherPki = etcdTestPki(temporaryDirectory());
  etcd = await startEtcd({ pki });
});
after(() => etcd?.stop());

function check(name: string, run: () => Promise<void>): void {
  test(name, async (context) => {
    if (missing !== undefined) leaveOut(context, 'checks of etcd', missing);
    else await run();
  });
}

async function expectRefusal(
  checked: Promise<EtcdReport>,
  code: EtcdRefusalCode,
  sentence: RegExp,
): Promise<void> {
  await assert.rejects(checked, (error) => {
    assert.ok(error instanceof EtcdRefused, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, sentence);
    return true;
  });
}

const secure = (changes: Partial<Extract<EtcdAccess, { isSecure: true }>> = {}): EtcdAccess => ({
  endpoints: etcd.endpoints,
  isSecure: true,
  ...pki.client,
  ...changes,
});

describe('files and certificates', () => {
  check('a new etcd with the right certificates has nothing to report', async () => {
    const { clusterId, ...rest } = await checkEtcd(secure(), 'mine');
    assert.match(clusterId, /^[1-9][0-9]+$/);
    assert.deepEqual(rest, { fleet: undefined, warnings: [] });
  });
  check('an authority that did not sign the certificate of etcd is named', async () => {
    const { caFile } = otherPki.client;
    await expectRefusal(checkEtcd(secure({ caFile })), 'environment', /authority in .*ca\.pem \(--etcd-ca\)/);
  });
  check('a client certificate that etcd rejects is named', async () => {
    const { certFile, keyFile } = otherPki.client;
    const sentence = /reject.* the client certificate in .*client\.pem \(--etcd-cert\)/;
    await expectRefusal(checkEtcd(secure({ certFile, keyFile })), 'environment', sentence);
  });
  check('a key of another certificate is named', async () => {
    const { keyFile } = otherPki.client;
    await expectRefusal(checkEtcd(secure({ keyFile })), 'environment', /\(--etcd-key\) belongs to another/);
  });
  check('files that are missing or contain something else are named', async () => {
    const text = join(temporaryDirectory(), 'text');
    writeFileSync(text, 'no certificate');
    const absent = `${text}-absent`;
    await expectRefusal(checkEtcd(secure({ caFile: absent })), 'environment', /absent \(--etcd-ca\): ENOENT/);
    await expectRefusal(checkEtcd(secure({ caFile: text })), 'environment', /\(--etcd-ca\) contains no cert/);
    await expectRefusal(checkEtcd(secure({ certFile: text })), 'environment', /\(--etcd-cert\) contains no/);
    await expectRefusal(checkEtcd(secure({ keyFile: text })), 'environment', /\(--etcd-key\) contains no us/);
  });
  check('an address where nothing listens and one without TLS are explained', async () => {
    const port = await freePort();
    const plain = await startEtcd();
    try {
      const endpoints = [`https://127.0.0.1:${port}`, plain.endpoints[0]?.replace('http', 'https') ?? ''];
      const sentence = new RegExp(`127.0.0.1:${port}: no program listens there; https.*does not speak TLS`);
      await expectRefusal(checkEtcd(secure({ endpoints })), 'environment', sentence);
    } finally {
      await plain.stop();
    }
  });
  check('http to an etcd with TLS is explained', async () => {
    const endpoints = etcd.endpoints.map((endpoint) => endpoint.replace('https', 'http'));
    await expectRefusal(checkEtcd({ endpoints, isSecure: false }), 'environment', /may need https/);
  });
  check('the addresses of two etcd clusters are refused, and both are named', async () => {
    const other = await startEtcd({ pki });
    try {
      const endpoints = [...etcd.endpoints, ...other.endpoints];
      const sentence = new RegExp(
        `different etcd clusters: ${etcd.endpoints[0]} .* and ${other.endpoints[0]} `,
      );
      await expectRefusal(checkEtcd(secure({ endpoints })), 'environment', sentence);
    } finally {
      await other.stop();
    }
  });
  check('one unreachable endpoint of two is a warning', async () => {
    const dead = `https://127.0.0.1:${await freePort()}`;
    const { warnings } = await checkEtcd(secure({ endpoints: [dead, ...etcd.endpoints] }), 'mine');
    assert.deepEqual(warnings, [`etcd ${dead}: no program listens there`]);
  });
});

describe('renewal', () => {
  check('a connection reads its certificate files again after they were replaced', async () => {
    const directory = temporaryDirectory();
    const [certFile, keyFile] = [join(directory, 'client.pem'), join(directory, 'client.key')];
    const install = (from: EtcdTestPki): void => {
      copyFileSync(from.client.certFile, certFile);
      copyFileSync(from.client.keyFile, keyFile);
    };
    install(otherPki);
    const name = { clusterUID: 'mine', generation: 'first' };
    const storage = openEtcdCluster({ access: secure({ certFile, keyFile }), name });
    try {
      await assert.rejects(storage.bounds(), LogUnavailable);
      install(pki);
      await until(
        () =>
          storage.bounds().then(
            ({ next }) => next === 1,
            () => false,
          ),
        { what: 'an answer with the new certificate' },
      );
    } finally {
      await storage.close();
    }
  });
});

describe('content', () => {
  check('the own fleet is found, another fleet is refused', async () => {
    const record = JSON.stringify({ clusterUID: 'mine', generation: 'first' });
    etcd.ctl(['put', '/everynode/cluster', record]);
    assert.deepEqual((await checkEtcd(secure(), 'mine')).fleet, JSON.parse(record));
    assert.deepEqual((await checkEtcd(secure())).fleet, JSON.parse(record));
    await expectRefusal(checkEtcd(secure(), 'other'), 'refused', /another fleet \(mine, not other\)/);
    etcd.ctl(['del', '/everynode/cluster']);
  });
  for (const key of ['/a', '/registry/pods/default/a', '/everynodes'])
    check(`an etcd with the key ${key} of another program is refused`, async () => {
      etcd.ctl(['put', key, 'x']);
      await expectRefusal(checkEtcd(secure(), 'mine'), 'refused', new RegExp(`\\(key ${key}\\)`));
      etcd.ctl(['del', key]);
    });
  check('keys below /everynode/ are no foreign keys', async () => {
    for (const key of ['/everynode/a', '/everynode/zz']) etcd.ctl(['put', key, 'x']);
    assert.deepEqual((await checkEtcd(secure(), 'mine')).warnings, []);
    etcd.ctl(['del', '/everynode/', '--prefix']);
  });
});
