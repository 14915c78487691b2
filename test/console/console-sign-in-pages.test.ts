/** Signing in to the console in a real browser: at an OpenID Connect issuer, and by a client certificate. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import { makeSigningRequest } from '../../coordinator/pki/client-certificates.js';
import type { CertificateSigningRequest } from '../../shared/kube/access/certificate-signing-request.js';
import { withApprovalDecision } from '../../shared/kube/access/certificate-signing-request.js';
import { generateKeyPem } from '../../shared/process/files/private-key.js';
import { startTestIssuer, type TestIssuer } from '../harness/api/test-issuer.js';
import { until } from '../harness/basics/wait-until.js';
import { DESK } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const LIMITS = { timeoutMs: 60_000 };
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describeInBrowser('signing in', suite);

function suite(): void {
  const directory = mkdtempSync(join(tmpdir(), 'everynode-issuer-'));
  let issuer: TestIssuer;
  let fleet: SimulatedFleet;
  let server: string;

  const fixture = new ConsoleFixture(1, async () => {
    issuer = await startTestIssuer(directory, 'everynode', 'not-told');
    const oidcClientSecretFile = join(directory, 'secret');
    writeFileSync(oidcClientSecretFile, 'not-told\n');
    return {
      ...{ oidcIssuerUrl: issuer.issuer, oidcClientId: 'everynode' },
      ...{ oidcCaFile: issuer.caFile, oidcUsernamePrefix: 'oidc:', oidcClientSecretFile },
    };
  });

  before(() => {
    fleet = fixture.fleet;
    ({ server } = fixture.access);
  });
  after(() => {
    issuer?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const open = async (options: BrowserContextOptions = {}) => {
    const { page } = await fixture.visit(DESK, 'light', options);
    return page;
  };

  test('signing in at an issuer uses PKCE and returns to the linked page, and foreign responses are refused', async () => {
    const page = await open();
    await page.goto(`${server}/console/rollouts?x=1`);
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rollouts' }).waitFor();
    await page.getByText('oidc:ann', { exact: true }).waitFor();
    await page.waitForURL(/\/console\/rollouts\?x=1$/);
    const cookies = await page.context().cookies();
    const session = cookies.find(({ name }) => name === '__Host-everynode-session');
    assert.deepEqual([session?.httpOnly, session?.secure, session?.sameSite], [true, true, 'Strict']);
    assert.equal(
      cookies.some(({ name }) => name === '__Host-everynode-attempt'),
      false,
    );
    for (const wrong of [{ nonce: 'another' }, { audience: 'another' }]) {
      Object.assign(issuer.next, wrong);
      const other = await open();
      await other.goto(`${server}/console/`);
      await other.getByRole('link', { name: 'Sign in with your organisation' }).click();
      await other.getByText('Sign-in failed').waitFor();
      for (const key of Object.keys(wrong)) Reflect.deleteProperty(issuer.next, key);
    }
    const stolen = await open();
    await stolen.goto(`${server}/console/sign-in/oidc/callback?code=x&state=y`);
    await stolen.getByText('the sign-in has expired, or did not start here').waitFor();
  });

  test('a client certificate in the browser signs in by itself, only for pages of the console', async () => {
    const { cert, key } = await personalCertificate(fleet);
    const clientCertificates = [{ origin: server, cert: Buffer.from(cert), key: Buffer.from(key) }];
    const page = await open({ clientCertificates });
    await page.goto(`${server}/console/hosts`);
    await page.getByText('berta', { exact: true }).waitFor();
    await page.getByText('Signed in by client certificate').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0, 'it would end nothing');
    await page.getByRole('link', { name: 'node-1', exact: true }).waitFor();
    const foreign = await page.evaluate(`fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'of-own-page' } }),
    }).then(({ status }) => status)`);
    assert.equal(foreign, 201, 'its own pages may');
    const evil = await page.context().newPage();
    const form = `<form method="post" enctype="text/plain" action="${server}/api/v1/namespaces/default/configmaps">
      <input name='{"metadata":{"name":"of-evil-page"},"data":{"x":"' value='"}}'></form>`;
    await evil.route('https://evil.example/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: form }),
    );
    await evil.goto('https://evil.example/');
    const answered = evil.waitForResponse((response) => response.request().method() === 'POST');
    await evil.evaluate('document.forms[0].submit()');
    const answer = await answered;
    assert.equal(answer.status(), 403);
    assert.match(await answer.text(), /accepted from a browser only for requests of the console's own pages/);
    const { code } = await fleet.api.send('GET', '/api/v1/namespaces/default/configmaps/of-evil-page');
    assert.equal(code, 404);
    await evil.close();
  });
}

/** A cluster administrator's certificate, signed by the API's own signer. */
async function personalCertificate({ api }: SimulatedFleet): Promise<{ cert: string; key: string }> {
  const key = await generateKeyPem();
  const csr = await makeSigningRequest(key, { commonName: 'berta', organizations: ['ops'] });
  const made = await api.request<CertificateSigningRequest>('POST', REQUESTS, {
    metadata: { name: 'berta' },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  await api.request('POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'berta' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'berta' }],
  });
  const decided = withApprovalDecision(
    made,
    'Approved',
    'a test',
    `${new Date().toISOString().slice(0, 19)}Z`,
  );
  await api.request('PUT', `${REQUESTS}/berta/approval`, decided);
  let cert = '';
  await until(
    async () => {
      const { status } = await api.request<CertificateSigningRequest>('GET', `${REQUESTS}/berta`);
      cert = Buffer.from(status?.certificate ?? '', 'base64').toString();
      return cert !== '';
    },
    { ...LIMITS, what: 'the certificate' },
  );
  return { cert, key };
}
