/** Secrets of type kubernetes.io/service-account-token over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TokenSecrets } from '../../../coordinator/controllers/access/token-secrets.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import {
  type AccessFixture,
  type AccessFixtureDeps,
  startAccessFixture,
} from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { until } from '../../harness/basics/wait-until.js';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const SECRETS = '/api/v1/namespaces/default/secrets';

let fixture: AccessFixture;
let controller: TokenSecrets;
let bundle = 'PEM 1';
let notify = (): void => undefined;

before(async () => {
  let deps: AccessFixtureDeps | undefined;
  fixture = await startAccessFixture((parts) => {
    deps = parts;
    return {};
  });
  controller = new TokenSecrets({
    ...(deps ?? assert.fail('the fixture has no parts')),
    tokens: fixture.identities.tokens,
    trust: {
      trustBundle: () => bundle,
      onTrustChange: (listener) => {
        notify = listener;
      },
    },
  });
});
after(async () => {
  await controller.stop();
  await fixture.stop();
});

const tokenSecret = (name: string, account: string) => ({
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
});

async function read(name: string): Promise<Secret | undefined> {
  const answer = await call(fixture.api, `GET ${SECRETS}/${name}`);
  return answer.code === 200 ? answer.json<Secret & Record<string, unknown>>() : undefined;
}

const decoded = (text = '') => Buffer.from(text, 'base64').toString();

/** Creates account and Secret. Resolves with the token. */
async function filled(account: string, secret = `${account}-token`): Promise<string> {
  await fixture.asAdmin(`POST ${ACCOUNTS}`, { metadata: { name: account } });
  await fixture.asAdmin(`POST ${SECRETS}`, tokenSecret(secret, account));
  return tokenIn(secret);
}

async function tokenIn(secret: string, isNew: (token: string) => boolean = Boolean): Promise<string> {
  let token = '';
  const hasNew = async () => {
    token = decoded((await read(secret))?.data?.token);
    return isNew(token);
  };
  await until(hasNew, { what: `a token in ${secret}` });
  return token;
}

const statusWith = async (token: string) => (await call(fixture.api, 'GET /apis', { token })).code;

test('the Secret gets token, namespace and certificates, and the uid of the account', async () => {
  const token = await filled('robot');
  const { data = {}, metadata } = (await read('robot-token')) ?? assert.fail('no Secret');
  assert.equal(decoded(data.namespace), 'default');
  assert.equal(decoded(data['ca.crt']), 'PEM 1');
  const account = (await call(fixture.api, `GET ${ACCOUNTS}/robot`)).json<Secret & Record<string, unknown>>();
  assert.equal(metadata.annotations?.['kubernetes.io/service-account.uid'], account.metadata.uid);
  const review = await call(fixture.api, 'POST /apis/authentication.k8s.io/v1/tokenreviews', {
    body: { spec: { token } },
  });
  const { status } = review.json<{ status: { authenticated: boolean; user: { username: string } } }>();
  assert.deepEqual(
    [status.authenticated, status.user.username],
    [true, 'system:serviceaccount:default:robot'],
  );
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  assert.equal(claims.exp, undefined);
});

test('the token ends with its Secret', async () => {
  const token = await filled('ended');
  assert.equal(await statusWith(token), 200);
  await fixture.asAdmin(`DELETE ${SECRETS}/ended-token`, undefined);
  assert.equal(await statusWith(token), 401);
});

test('the Secret and its token end with the account', async () => {
  const token = await filled('left');
  await fixture.asAdmin(`DELETE ${ACCOUNTS}/left`, undefined);
  assert.equal(await statusWith(token), 401);
  await until(async () => (await read('left-token')) === undefined, { what: 'the Secret to be deleted' });
});

test('a token that is removed from the Secret is replaced and no longer valid', async () => {
  const first = await filled('rotated');
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patch = { body: { data: { token: null } }, headers };
  assert.equal((await call(fixture.api, `PATCH ${SECRETS}/rotated-token`, patch)).code, 200);
  const second = await tokenIn('rotated-token', (token) => token !== '' && token !== first);
  assert.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);
});

test('a deleted Secret is removed from the list of its account, and others stay', async () => {
  await filled('lister');
  const headers = { 'content-type': 'application/merge-patch+json' };
  const secrets = [{ name: 'lister-token' }, { name: 'other' }];
  await call(fixture.api, `PATCH ${ACCOUNTS}/lister`, { body: { secrets }, headers });
  await fixture.settled();
  await fixture.asAdmin(`DELETE ${SECRETS}/lister-token`, undefined);
  const listed = async () =>
    (await call(fixture.api, `GET ${ACCOUNTS}/lister`)).json<{ secrets: { name: string }[] }>().secrets;
  await until(async () => (await listed()).length === 1, { what: 'the list to be shorter' });
  assert.deepEqual(await listed(), [{ name: 'other' }]);
});

test('a Secret of an account that does not exist is deleted', async () => {
  await fixture.asAdmin(`POST ${SECRETS}`, tokenSecret('nobodys', 'nobody'));
  await until(async () => (await read('nobodys')) === undefined, { what: 'the Secret to be deleted' });
});

test('a Secret without the annotation is refused', async () => {
  const body = { metadata: { name: 'unnamed' }, type: 'kubernetes.io/service-account-token' };
  assert.equal((await call(fixture.api, `POST ${SECRETS}`, { body })).code, 422);
});

test('the certificates follow the succession of the authority, and the token stays', async () => {
  const token = await filled('successor');
  bundle = 'PEM 1\nPEM 2';
  notify();
  const certificates = async () => decoded((await read('successor-token'))?.data?.['ca.crt']);
  await until(async () => (await certificates()) === bundle, { what: 'the new bundle' });
  assert.equal(decoded((await read('successor-token'))?.data?.token), token);
});

test('other Secrets stay as they are', async () => {
  const body = { metadata: { name: 'own', annotations: { 'kubernetes.io/service-account.name': 'nobody' } } };
  await fixture.asAdmin(`POST ${SECRETS}`, body);
  await filled('witness');
  assert.deepEqual((await read('own'))?.data ?? {}, {});
});
