/** `kubectl debug` of a Pod: ephemeral containers are not served, and kubectl must be able to report that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

const POD = `
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec: {containers: [{name: app, image: "app:1"}]}
`;

forEachKubectl('debug', (fixture) => {
  test('debug of a Pod ends with an error message, without a crash of kubectl', async () => {
    await fixture.kubectl.ok('apply -f -', POD);
    const { code, stderr } = await fixture.kubectl.run(['debug', 'lone', '--image=busybox:1']);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^error: ephemeral containers are disabled for this cluster/m);
  });
});
