/** Access rights in kubectl: whoami, can-i, tokens, impersonation, and the message of a 403. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';

for (const name of KUBECTLS) {
  const found = findClient(name);
  describe(`access rights by ${name}`, () => {
    if ('why' in found) {
      test(`${name} is not installed`, (context: TestContext) => leaveOut(context, name, found.why));
      return;
    }
    let fixture: AccessFixture;
    let kubectl: Kubectl;
    let token: string;
    before(async () => {
      fixture = await startAccessFixture();
      kubectl = createKubectl(fixture.api.kubeconfig, found.path);
      await kubectl.ok('create serviceaccount robot');
      await kubectl.ok('create rolebinding robot --clusterrole=view --serviceaccount=default:robot');
      token = await kubectl.ok('create token robot --duration 10m');
      await fixture.settled();
    });
    after(async () => {
      kubectl.remove();
      await fixture.stop();
    });
    const robot = (command: string) => kubectl.run([...command.split(' '), `--token=${token}`]);

    test('auth whoami prints user and groups', async () => {
      const own = await kubectl.ok('auth whoami -o jsonpath={.status.userInfo.username}');
      assert.equal(own, 'everynode-admin');
      const { stdout } = await robot('auth whoami');
      assert.match(stdout, /Username +system:serviceaccount:default:robot\n/);
      assert.match(
        stdout,
        /Groups +\[system:serviceaccounts system:serviceaccounts:default system:authenticated\]/,
      );
    });

    test("auth can-i answers for the token's user", async () => {
      assert.equal((await robot('auth can-i list pods')).stdout, 'yes\n');
      const no = await robot('auth can-i delete pods');
      assert.deepEqual([no.code, no.stdout], [1, 'no\n']);
      assert.equal((await robot('auth can-i get pods --subresource=log')).stdout, 'yes\n');
      assert.equal((await robot('auth can-i list pods -n kube-system')).stdout, 'no\n');
      const { stdout: list } = await robot('auth can-i --list');
      assert.match(list, /daemonsets\.apps +\[\] +\[\] +\[get list watch\]/);
      assert.match(list, /selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]/);
    });

    test('a forbidden request prints who may not do what', async () => {
      const { code, stderr } = await robot('get secrets');
      assert.equal(code, 1);
      assert.equal(
        stderr,
        'Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:default:robot" cannot list resource "secrets" in API group "" in the namespace "default"\n',
      );
    });

    test('create token refuses a lifetime that is too short', async () => {
      const { stderr } = await kubectl.run(['create', 'token', 'robot', '--duration=60s']);
      assert.match(stderr, /may not specify a duration less than 10 minutes/);
    });

    test('--as impersonates another user', async () => {
      const jane = await kubectl.ok(
        'auth whoami --as=jane --as-group=dev -o jsonpath={.status.userInfo.groups}',
      );
      assert.equal(jane, '["dev","system:authenticated"]');
      assert.equal(await kubectl.ok('auth can-i list pods --as=system:serviceaccount:default:robot'), 'yes');
      const { stderr } = await robot('get pods --as=jane');
      assert.match(stderr, /users "jane" is forbidden: .* cannot impersonate resource "users"/);
    });

    test('describe role prints its rules, and auth reconcile applies them', async () => {
      assert.match(
        await kubectl.ok('describe clusterrole view'),
        /pods\/log +\[\] +\[\] +\[get list watch\]/,
      );
      const role = [
        'apiVersion: rbac.authorization.k8s.io/v1',
        'kind: Role',
        'metadata: {name: looker, namespace: default}',
        'rules: [{verbs: [get], apiGroups: [""], resources: [secrets]}]',
      ].join('\n');
      assert.match(await kubectl.ok('auth reconcile -f -', role), /reconciled/);
    });
  });
}
