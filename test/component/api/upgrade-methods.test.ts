/**
 * Exec, attach and port-forward accept GET and POST only, also on an upgraded connection. Other verbs must not run
 * anything.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { rawConnection } from '../../harness/api/raw-connection.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const POD = '/api/v1/namespaces/default/pods/p';
const SUBRESOURCES = ['exec', 'attach', 'portforward'] as const;

const editor = person('editor');
let fixture: AccessFixture;
let opened = 0;

before(async () => {
  const open = async () => {
    opened += 1;
    throw new ApiError('ServiceUnavailable', 'no host is connected');
  };
  fixture = await startAccessFixture({ streams: { logs: open, open } });
  const spec = { containers: [{ name: 'c', image: 'app:1' }], nodeName: 'n1' };
  await fixture.api.registry.create(podKind, 'default', { metadata: { name: 'p' }, spec });
  const resources = SUBRESOURCES.map((subresource) => `pods/${subresource}`);
  await fixture.asAdmin(`POST ${RBAC}/namespaces/default/roles`, {
    metadata: { name: 'editor' },
    rules: [{ verbs: ['get', 'update', 'patch', 'delete'], apiGroups: [''], resources }],
  });
  await fixture.bindRole('editor', roleRef('Role', 'editor'), { kind: 'User', name: 'editor' });
});
after(() => fixture.stop());

/** Returns the status code of a SPDY upgrade with this method. */
async function upgradeBy(method: string, subresource: string): Promise<number> {
  const lines = [
    `${method} ${POD}/${subresource}?command=id&stdout=true HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${fixture.admit(editor)}`,
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    'X-Stream-Protocol-Version: v4.channel.k8s.io',
    'X-Stream-Protocol-Version: portforward.k8s.io',
  ];
  const { socket } = await rawConnection(fixture.api, `${lines.join('\r\n')}\r\n\r\n`);
  const [head] = await socket.take(1).toArray();
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(head))?.[1]);
}

for (const subresource of SUBRESOURCES) {
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    test(`${method} does not open ${subresource}, although the role allows the verb`, async () => {
      assert.equal(await upgradeBy(method, subresource), 405);
    });
  }

  test(`${subresource} by GET or POST still needs the verb create`, async () => {
    assert.deepEqual([await upgradeBy('GET', subresource), await upgradeBy('POST', subresource)], [403, 403]);
  });
}

test('no host was asked to open a stream', () => {
  assert.equal(opened, 0);
});
