/** The data sources of the console require permissions on every path and protocol. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { STREAM_PROTOCOL } from '../../../shared/kube/objects/stream-protocol.js';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';

const FLEET = '/apis/fleet.everynode.dev/v1';
const IN_DEFAULT = `${FLEET}/namespaces/default`;

/** In addition to the stored kinds, which `authorization.test.ts` covers. */
const READS = [
  `GET ${FLEET}/hosts`,
  `GET ${FLEET}/hosts/n1/readings`,
  `GET ${FLEET}/hosts/n1/meters`,
  `GET ${FLEET}/hostavailability`,
  `GET ${FLEET}/auditevents`,
  `GET ${FLEET}/joinaddress`,
  `GET ${IN_DEFAULT}/daemonsets/till/why?node=n1`,
  `GET ${IN_DEFAULT}/services/till/why`,
  `GET ${IN_DEFAULT}/rolloutpolicies/gentle/calendar`,
  `GET ${IN_DEFAULT}/rollouts/till/hosts?code=Failed`,
  `GET /api/v1/namespaces/default/pods/till/log`,
  `GET /api/v1/namespaces/default/events`,
  `GET /api/v1/namespaces/kube-system/secrets`,
  `POST ${FLEET}/backups`,
  `POST ${FLEET}/releases`,
  `GET ${FLEET}/releasetrust`,
  `POST ${FLEET}/releasetrust`,
  `POST ${FLEET}/plan`,
  `POST ${FLEET}/hosteffects`,
] as const;
const STREAMS = [
  `${FLEET}/hosts?watch=true`,
  '/api/v1/nodes?watch=true',
  '/api/v1/namespaces/default/pods/till/log?follow=true',
] as const;

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture();
});
after(() => fixture.stop());

test('without credentials and without rights a request is rejected, and the rejection names no user', async () => {
  const token = fixture.admit({ username: 'ann', groups: ['system:authenticated'] });
  for (const line of READS) {
    const body = line.startsWith('POST') ? {} : undefined;
    const nobody = await call(fixture.api, line, { token: null, body });
    assert.deepEqual([line, nobody.code], [line, 401]);
    const ann = await call(fixture.api, line, { token, body });
    assert.deepEqual([line, ann.code], [line, 403], ann.text);
  }
});

test('without credentials and without rights a stream is rejected', async () => {
  const token = fixture.admit({ username: 'ann', groups: ['system:authenticated'] });
  for (const path of STREAMS) {
    assert.equal(await refusedWith(path, {}), 401, path);
    assert.equal(await refusedWith(path, { authorization: `Bearer ${token}` }), 403, path);
  }
});

/** Returns the status of a rejected upgrade, or 101. */
function refusedWith(path: string, headers: Record<string, string>): Promise<number> {
  const { url, pki } = fixture.api;
  const socket = new WebSocket(url.replace('https', 'wss') + path, STREAM_PROTOCOL, {
    headers,
    ca: pki.ca.cert,
  });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      socket.terminate();
      resolve(statusCode);
    });
  });
}
