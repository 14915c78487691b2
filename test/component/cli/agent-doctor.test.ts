/** `everynode-agent doctor` as a user runs it, before and after the join, with a coordinator that runs and one that does not. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { writeIdentity } from '../../../agent/identity/identity-file.js';
import type { Finding } from '../../../shared/doctor/finding.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { selfSignedCertificate } from '../../harness/api/self-signed-certificate.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { accessOf } from '../../harness/console/browser.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const AGENT = resolve(fileURLToPath(import.meta.url), '../../../../agent/everynode-agent.cjs');

/** Not blocking: the coordinator runs in this process. */
function doctor(
  args: string[],
  variables: NodeJS.ProcessEnv = {},
  data = join(temporaryDirectory(), 'data'),
): Promise<{ code: number | null; findings: Finding[] }> {
  const words = [AGENT, 'doctor', '--runtime', 'hollow', '--data', data, '--output', 'json', ...args];
  const env = { ...process.env, ...variables };
  return new Promise((done, fail) => {
    execFile(process.execPath, words, { env }, (error, stdout, stderr) => {
      const code = error ? Number(error.code) : 0;
      try {
        done({ code, findings: JSON.parse(stdout) as Finding[] });
      } catch {
        fail(new Error(stderr));
      }
    });
  });
}

/** Returns the data directory of a host that has joined, and trusts this certificate. */
async function joinedHost(ca: string): Promise<string> {
  const data = join(temporaryDirectory(), 'data');
  await writeIdentity(data, { node: 'n1', key: 'key', ca, certificate: ca, clusterUID: 'uid' });
  return data;
}

/** Resolves with the PEM of the server's own certificate, without its issuer. */
function certificateOf(server: string): Promise<string> {
  const { hostname: host, port } = new URL(server);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
  });
}

describe('everynode-agent doctor', () => {
  let fleet: SimulatedFleet;
  before(async () => {
    fleet = await startSimulatedFleet(1);
  });
  after(() => fleet.stop());

  test('a coordinator that answers is in order, and so is the clock', async () => {
    const { server } = accessOf(fleet.kubeconfig);
    const { code, findings } = await doctor(['--server', server]);
    assert.equal(code, 0);
    const [coordinator, clock] = findings.slice(-2);
    assert.match(coordinator?.found ?? '', /answered after \d+ ms$/);
    assert.deepEqual([coordinator?.result, clock?.check, clock?.result], ['ok', 'clock', 'ok']);
  });

  test('of several coordinators each is checked, and one that is away is an error', async () => {
    const { server } = accessOf(fleet.kubeconfig);
    const port = await freePort();
    const { code, findings } = await doctor(['--server', `https://127.0.0.1:${port},${server}`]);
    assert.equal(code, EXIT_CODES.environment);
    const results = findings.filter(({ check }) => check === 'coordinator').map(({ result }) => result);
    assert.deepEqual(results, ['error', 'ok']);
  });

  test('the coordinator is asked through the proxy, and a wrong password names the proxy', async (context) => {
    const { server } = accessOf(fleet.kubeconfig);
    const name = 'coordinator.behind-the-proxy.test';
    const proxy = await ForwardProxy.open(context, { credentials: 'u:p', names: { [name]: '127.0.0.1' } });
    const address = `https://${name}:${new URL(server).port}`;
    const right = await doctor(['--server', address], { HTTPS_PROXY: proxy.url });
    assert.equal(right.code, 0);
    const wrong = await doctor(['--server', address], { HTTPS_PROXY: proxy.url.replace('u:p', 'u:x') });
    assert.equal(wrong.code, EXIT_CODES.environment);
    const found = wrong.findings.at(-1);
    assert.match(found?.found ?? '', /status 407/);
    assert.match(found?.result === 'error' ? found.remedy : '', /HTTPS_PROXY/);
  });

  test('a certificate without its issuer is trusted, as the agent trusts it', async () => {
    const { server } = accessOf(fleet.kubeconfig);
    const data = await joinedHost(await certificateOf(server));
    const { findings } = await doctor(['--server', server], {}, data);
    assert.deepEqual(
      findings.filter(({ check }) => check === 'coordinator').map(({ result }) => result),
      ['ok'],
    );
  });

  test('a certificate that is not trusted is not blamed on the proxy', async (context) => {
    const { server } = accessOf(fleet.kubeconfig);
    const name = 'coordinator.behind-the-proxy.test';
    const proxy = await ForwardProxy.open(context, { names: { [name]: '127.0.0.1' } });
    const address = `https://${name}:${new URL(server).port}`;
    const data = await joinedHost((await selfSignedCertificate('other.test')).cert);
    const { findings } = await doctor(['--server', address], { HTTPS_PROXY: proxy.url }, data);
    const found = findings.at(-1);
    assert.equal(proxy.targets.length, 1);
    assert.match(found?.found ?? '', /certificate is not trusted/);
    assert.match(found?.result === 'error' ? found.remedy : '', /^Compare the address/);
  });

  test('without a coordinator nothing is asked', async () => {
    const { code, findings } = await doctor([]);
    assert.equal(code, 0);
    assert.equal(findings.at(-1)?.found, 'none is known; pass --server to check one');
  });
});
