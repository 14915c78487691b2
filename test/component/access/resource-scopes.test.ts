/**
 * A Role must grant nothing outside its namespace: a path of a cluster-scoped resource below a namespace is a 404 for
 * every caller. The test sends every resource, subresource and verb, with and without impersonation, and over a
 * WebSocket.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { ADMIN } from '../../../coordinator/api/auth/token-authenticator.js';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { STREAM_PROTOCOL } from '../../../shared/kube/objects/stream-protocol.js';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { everyRequest, LISTED_RESOURCES } from '../../harness/api/served-resources.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const FLEET = '/apis/fleet.everynode.dev/v1';
const NOT_FOUND = 'the server could not find the requested resource';

const owner = person('owner');
const CALLERS: [who: string, user: UserInfo, headers: Record<string, string>][] = [
  ['the owner of the namespace', owner, {}],
  ['a cluster administrator', ADMIN, {}],
  ['a cluster administrator who impersonates the owner', ADMIN, { 'impersonate-user': 'owner' }],
  ['a user without roles', person('ann'), {}],
];

/** A TLS handshake for each of thousands of requests took three quarters of the test's time. */
const connections = new Agent({ keepAlive: true });
let fixture: AccessFixture;
let confirmed = 0;

before(async () => {
  const confirm = async () => {
    confirmed += 1;
  };
  const restore = { unconfirmed: () => undefined, confirm };
  fixture = await startAccessFixture({ restore });
  const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  await fixture.asAdmin(`POST ${RBAC}/namespaces/default/roles`, {
    metadata: { name: 'everything' },
    rules: everything,
  });
  await fixture.bindRole('owner', roleRef('Role', 'everything'), { kind: 'User', name: 'owner' });
});
after(() => {
  connections.destroy();
  return fixture.stop();
});

/** Returns the status code, and the message of a rejection. */
function answerTo(
  line: string,
  user: UserInfo,
  others: Record<string, string> = {},
): Promise<{ code: number; message: string }> {
  const [method, path] = line.split(' ', 2);
  const headers = { authorization: `Bearer ${fixture.admit(user)}`, ...others };
  const { port, pki } = fixture.api;
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, ca: pki.ca.cert, agent: connections, method, path, headers },
      (response) => {
        const code = response.statusCode ?? 0;
        if (code < 400) {
          asked.destroy();
          resolve({ code, message: '' });
          return;
        }
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { message = '' } = JSON.parse(Buffer.concat(chunks).toString()) as Status;
          resolve({ code, message });
        });
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

const CLUSTER_SCOPED = LISTED_RESOURCES.filter(({ namespaced }) => !namespaced);

for (const [who, user, headers] of CALLERS) {
  for (const listed of CLUSTER_SCOPED) {
    test(`${who} finds no ${listed.resource} of ${listed.root} below a namespace`, async () => {
      for (const line of everyRequest(listed, `${listed.root}/namespaces/default`)) {
        const { code, message } = await answerTo(line, user, headers);
        assert.deepEqual([line, code, message], [line, 404, NOT_FOUND]);
      }
    });
  }
}

test('no restore can be confirmed through a namespace', () => {
  assert.equal(confirmed, 0);
});

test('with a role for everything in a namespace, cluster-scoped paths are forbidden', async () => {
  for (const listed of CLUSTER_SCOPED.filter(({ resource }) => !resource.startsWith('selfsubject'))) {
    for (const line of everyRequest(listed, listed.root)) {
      const { code, message } = await answerTo(line, owner);
      assert.deepEqual([line, code], [line, 403], message);
    }
  }
});

test('an object of a namespaced resource has no path outside of its namespace', async () => {
  for (const listed of LISTED_RESOURCES.filter(({ namespaced }) => namespaced)) {
    for (const line of everyRequest(listed, listed.root).filter((each) => each.includes('/x'))) {
      for (const user of [owner, ADMIN]) {
        const { code, message } = await answerTo(line, user);
        assert.deepEqual([line, code, message], [line, 404, NOT_FOUND]);
      }
    }
  }
});

interface DiscoveredPaths {
  groupVersion: string;
  resources: { name: string; namespaced: boolean; verbs: string[] }[];
}

const METHODS: Readonly<Record<string, string>> = {
  ...{ get: 'GET', list: 'GET', watch: 'GET', create: 'POST', update: 'PUT', patch: 'PATCH' },
  ...{ delete: 'DELETE', deletecollection: 'DELETE' },
};
const OF_COLLECTION: ReadonlySet<string> = new Set(['list', 'watch', 'create', 'deletecollection']);

test('every verb that discovery names is served', async () => {
  const roots = new Set(LISTED_RESOURCES.map((listed) => listed.root));
  for (const root of roots) {
    const { resources } = (await fixture.as(ADMIN, `GET ${root}`)).json<DiscoveredPaths>();
    for (const { name: path, namespaced, verbs } of resources) {
      const [resource, subresource] = path.split('/', 2);
      const base = `${root}${namespaced ? '/namespaces/kube-public' : ''}/${resource}`;
      for (const verb of verbs.filter((each) => each !== 'deletecollection')) {
        const isNamed = subresource !== undefined || !OF_COLLECTION.has(verb);
        const target = `${base}${isNamed ? '/x' : ''}${subresource ? `/${subresource}` : ''}`;
        const query = verb === 'watch' ? '?watch=true' : '';
        const line = `${METHODS[verb]} ${target}${query}`;
        const { code, message } = await answerTo(line, ADMIN);
        assert.ok(code !== 405 && message !== NOT_FOUND, `${line}: ${code} ${message}`);
      }
    }
  }
});

test('outside of namespaces a namespaced resource can only be listed and watched', async () => {
  const pods = ['POST /api/v1/pods', 'DELETE /api/v1/pods'];
  for (const line of pods) assert.equal((await answerTo(line, ADMIN)).code, 405, line);
  for (const line of pods) assert.equal((await answerTo(line, owner)).code, 403, line);
  for (const line of ['GET /api/v1/pods', 'GET /api/v1/pods?watch=true']) {
    assert.equal((await answerTo(line, ADMIN)).code, 200, line);
    assert.equal((await answerTo(line, owner)).code, 403, line);
  }
  const review = 'POST /apis/authorization.k8s.io/v1/localsubjectaccessreviews';
  assert.equal((await answerTo(review, ADMIN)).code, 404);
});

test('as upstream, a resource that is not served is authorized first and not found then', async () => {
  for (const path of ['/api/v1/namespaces/default/things', '/apis/none.dev/v1/namespaces/default/things/x']) {
    assert.equal((await answerTo(`GET ${path}`, person('ann'))).code, 403, path);
    assert.deepEqual(await answerTo(`GET ${path}`, owner), { code: 404, message: NOT_FOUND });
  }
});

test('no stream of a cluster-scoped resource starts below a namespace', async () => {
  for (const { root, resource } of CLUSTER_SCOPED) {
    const path = `${root}/namespaces/default/${resource}?watch=true`;
    assert.equal(await upgradeTo(path), 404, path);
  }
  const logs = '/api/v1/namespaces/default/nodes/x/log';
  assert.equal(await upgradeTo(logs), 404, logs);
});

/** Returns the status of a rejected upgrade, or 101. */
function upgradeTo(path: string): Promise<number> {
  const { url, pki } = fixture.api;
  const headers = { authorization: `Bearer ${fixture.admit(owner)}` };
  const socket = new WebSocket(url.replace('https', 'wss') + path, STREAM_PROTOCOL, {
    headers,
    ca: pki.ca.cert,
  });
  return new Promise((resolve) => {
    const end = (code: number) => {
      socket.terminate();
      resolve(code);
    };
    socket.on('error', () => undefined);
    socket.on('open', () => end(101));
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => end(statusCode));
  });
}

test('access reviews are answered by roles alone, whatever the scope of the resource', async () => {
  const ask = async (namespace: string) => {
    const resourceAttributes = { verb: 'list', group: 'fleet.everynode.dev', resource: 'hosts', namespace };
    const answer = await fixture.as(owner, 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    });
    return answer.json<{ status: { allowed: boolean } }>().status.allowed;
  };
  assert.deepEqual([await ask('default'), await ask('')], [true, false]);
  const rules = await fixture.as(owner, 'POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'default' },
  });
  assert.equal(rules.code, 201);
  assert.equal((await fixture.as(owner, `GET ${FLEET}/namespaces/default/daemonsets/x/why`)).code, 404);
});
