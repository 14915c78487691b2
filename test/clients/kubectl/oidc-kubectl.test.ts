/**
 * A user with an ID token of an OpenID Connect issuer uses kubectl. The coordinator was started with the issuer's
 * flags.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl } from '../../harness/clients/kubectl.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';

/** Starts an issuer and returns it with a function that signs tokens. */
async function openIssuer(context: TestContext, folder: string) {
  const pki = await loadPki(join(folder, 'issuer'), ['127.0.0.1'], Date.now());
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
  const server = createServer(pki.serving, ({ url }, response) => {
    response.end(JSON.stringify(url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const caFile = join(folder, 'issuer.crt');
  writeFileSync(caFile, pki.ca.cert);
  const token = (claims: Record<string, unknown>, expires = '1h') =>
    new SignJWT({ email_verified: true, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience('everynode')
      .setIssuedAt()
      .setExpirationTime(expires)
      .sign(privateKey);
  return { issuer, caFile, token };
}

for (const name of KUBECTLS) {
  test(`${name} with an ID token acts as the issuer's user, with the rights of their groups`, async (context) => {
    const found = findClient(name);
    if ('why' in found) return leaveOut(context, name, found.why);
    const folder = temporaryDirectory();
    const { issuer, caFile, token } = await openIssuer(context, folder);
    const flags = ['--oidc-issuer-url', issuer, '--oidc-client-id', 'everynode', '--oidc-ca-file', caFile];
    flags.push(
      '--oidc-username-claim',
      'email',
      '--oidc-groups-claim',
      'groups',
      '--oidc-groups-prefix',
      'corp:',
    );
    flags.push('--oidc-signing-algs', 'ES256', '--oidc-required-claims', 'tenant=shops');
    const coordinator = await startCoordinatorProcess(join(folder, 'data'), flags);
    context.after(() => coordinator.end('SIGKILL'));
    const admin = createKubectl(coordinator.kubeconfig, found.path);
    // A user's kubeconfig: server and CA, with the token as the only credential.
    const bare = coordinator.kubeconfig.replace(
      / +(token|client-certificate-data|client-key-data): .*\n/g,
      '',
    );
    const kubectl = createKubectl(bare, found.path);
    context.after(() => {
      admin.remove();
      kubectl.remove();
    });
    await admin.ok('create clusterrolebinding ops --clusterrole=view --group=corp:ops');
    const as = (text: string, command: string) => kubectl.run([...command.split(' '), `--token=${text}`]);
    const ann = await token({ email: 'ann@example.com', groups: ['ops'], tenant: 'shops' });
    const whoami = await as(ann, 'auth whoami');
    assert.match(whoami.stdout, /Username +ann@example\.com\n/, whoami.stderr);
    assert.match(whoami.stdout, /Groups +\[corp:ops system:authenticated\]/);
    assert.equal((await as(ann, 'auth can-i list daemonsets')).stdout, 'yes\n');
    assert.equal((await as(ann, 'auth can-i delete daemonsets')).stdout, 'no\n');
    assert.equal((await as(ann, 'get namespace default -o name')).stdout, 'namespace/default\n');
    for (const [what, bad] of [
      ['of another tenant', await token({ email: 'eve@example.com', groups: ['ops'], tenant: 'x' })],
      ['that has ended', await token({ email: 'ann@example.com', tenant: 'shops' }, '-1m')],
      ['with a changed end', `${ann.slice(0, -6)}AAAAAA`],
    ] as const) {
      const { code, stderr } = await as(bad, 'get namespaces');
      assert.equal(code, 1, what);
      assert.match(stderr, /Unauthorized/, what);
    }
  });
}
