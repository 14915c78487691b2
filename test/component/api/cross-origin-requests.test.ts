/** Browsers attach a client certificate to requests of any page. Requests of other sites must not change anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN } from '../../../coordinator/api/auth/token-authenticator.js';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

test('a change is accepted from kubectl and the console, and not from a page of another site', async (context) => {
  const api = await startTestApi({ authenticateSocket: () => ADMIN });
  context.after(() => api.stop());
  const callers: [string, number, Record<string, string>][] = [
    ['kubectl', 201, {}],
    ['own', 201, { 'sec-fetch-site': 'same-origin', origin: api.url }],
    ['own-without-site', 201, { origin: api.url }],
    ['foreign', 403, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['foreign-without-site', 403, { origin: 'https://evil.example' }],
    ['foreign-form', 403, { 'sec-fetch-site': 'cross-site', origin: 'null', 'content-type': 'text/plain' }],
  ];
  const path = '/api/v1/namespaces/default/configmaps';
  for (const [name, code, headers] of callers) {
    const answer = await call(api, `POST ${path}`, { body: { metadata: { name } }, token: null, headers });
    assert.equal(answer.code, code, `${name}: ${answer.text}`);
  }
  const { records } = await api.registry.list(configMapKind);
  const stored = records.map((record) => record.object().metadata.name).sort();
  assert.deepEqual(stored, ['kubectl', 'own', 'own-without-site']);
});
