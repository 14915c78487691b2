/** Server-side apply by unmodified kubectl, old and new: ownership, conflicts, force, migration, diff. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';
import type { Kubectl } from '../../harness/clients/kubectl.js';

function manifest(name: string, image: string, extra: object = {}): string {
  const labels = { app: name };
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image, ...extra }] } },
    },
  });
}

interface Entry {
  manager: string;
  operation: string;
}

/** `manager Operation` of each entry. */
async function managers(kubectl: Kubectl, name: string): Promise<string[]> {
  const text = await kubectl.ok(`get ds ${name} -o json --show-managed-fields`);
  const entries: Entry[] = JSON.parse(text).metadata.managedFields;
  return entries.map(({ manager, operation }) => `${manager} ${operation}`);
}

const CONTAINER = '.spec.template.spec.containers[name="main"]';

forEachKubectl('server-side apply', (fixture) => {
  const apply = (text: string, flags = '') => fixture.kubectl.ok(`apply --server-side -f -${flags}`, text);

  test('apply --server-side creates, updates, and removes fields that the manifest dropped', async () => {
    const full = manifest('plain', 'a:1', { env: [{ name: 'A', value: '1' }] });
    assert.equal(await apply(full), 'daemonset.apps/plain serverside-applied');
    const version = () => fixture.kubectl.ok('get ds plain -o jsonpath={.metadata.resourceVersion}');
    const before = await version();
    await apply(full);
    assert.equal(await version(), before);
    await apply(manifest('plain', 'a:1'));
    assert.equal(
      await fixture.kubectl.ok('get ds plain -o jsonpath={.spec.template.spec.containers[0].env}'),
      '',
    );
    assert.deepEqual(await managers(fixture.kubectl, 'plain'), ['kubectl Apply']);
  });

  test('a conflict names the owner and the options, and --force-conflicts takes over', async () => {
    await apply(manifest('contested', 'a:1'));
    const rival = manifest('contested', 'a:2', { imagePullPolicy: 'Always' });
    const words = ['apply', '--server-side', '--field-manager=rival', '-f', '-'];
    const { code, stderr } = await fixture.kubectl.run(words, rival);
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^error: Apply failed with 1 conflict: conflict with "kubectl": ${CONTAINER.replace(/[.[\]]/g, '\\$&')}\\.image\nPlease review the fields above`,
      ),
    );
    await apply(rival, ' --field-manager=rival --force-conflicts');
    assert.deepEqual((await managers(fixture.kubectl, 'contested')).sort(), ['kubectl Apply', 'rival Apply']);
  });

  test('a switch from client-side apply has no conflict and leaves one owner', async () => {
    await fixture.kubectl.ok('apply -f -', manifest('moved', 'a:1', { env: [{ name: 'A', value: '1' }] }));
    assert.deepEqual(await managers(fixture.kubectl, 'moved'), ['kubectl-client-side-apply Update']);
    await apply(manifest('moved', 'a:2', { env: [{ name: 'B', value: '1' }] }));
    assert.deepEqual((await managers(fixture.kubectl, 'moved')).sort(), [
      'kubectl Apply',
      'kubectl-last-applied Apply',
    ]);
    const env = 'jsonpath={.spec.template.spec.containers[0].env[*].name}';
    assert.equal(await fixture.kubectl.ok(`get ds moved -o ${env}`), 'B');
    // After a switch back, client-side apply finds its annotation up to date.
    assert.equal(
      await fixture.kubectl.ok('apply -f -', manifest('moved', 'a:3')),
      'daemonset.apps/moved configured',
    );
  });

  test('set image causes a conflict in the next server-side apply', async () => {
    await apply(manifest('set', 'a:1'));
    await fixture.kubectl.ok('set image ds/set main=b:1');
    assert.deepEqual(await managers(fixture.kubectl, 'set'), ['kubectl Apply', 'kubectl-set Update']);
    const { stderr } = await fixture.kubectl.run(
      ['apply', '--server-side', '-f', '-'],
      manifest('set', 'a:1'),
    );
    assert.match(stderr, /conflict with "kubectl-set" using apps\/v1: \.spec\.template/);
  });

  test('diff --server-side shows the change and stores nothing', async () => {
    await apply(manifest('differing', 'a:1'));
    const words = ['diff', '--server-side', '-f', '-'];
    const { code, stdout, stderr } = await fixture.kubectl.run(words, manifest('differing', 'a:2'));
    assert.equal(code, 1, stderr);
    assert.match(stdout, /^-.* image: a:1\n\+.* image: a:2$/m);
    assert.equal((await fixture.kubectl.run(words, manifest('differing', 'a:1'))).code, 0);
  });

  test('a server-side dry run prints the result and stores nothing', async () => {
    const output = await apply(manifest('dry', 'a:1'), ' --dry-run=server');
    assert.equal(output, 'daemonset.apps/dry serverside-applied (server dry run)');
    assert.equal((await fixture.kubectl.run(['get', 'ds', 'dry'])).code, 1);
  });

  test('server-side apply rejects an unknown field by name', async () => {
    const { stderr } = await fixture.kubectl.run(
      ['apply', '--server-side', '-f', '-'],
      manifest('wrong', 'a:1', { imagePullPolizy: 'Always' }),
    );
    assert.match(stderr, /failed to create typed patch object \(default\/wrong; apps\/v1, Kind=DaemonSet\)/);
    assert.match(stderr, /\.imagePullPolizy: field not declared in schema/);
  });

  test('server-side apply of the status is separate', async () => {
    await apply(manifest('state', 'a:1'));
    const status = JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'state' },
      status: {
        currentNumberScheduled: 0,
        desiredNumberScheduled: 0,
        numberMisscheduled: 0,
        numberReady: 0,
        conditions: [{ type: 'Odd', status: 'True' }],
      },
    });
    await apply(status, ' --subresource=status --field-manager=observer');
    const condition = 'jsonpath={.status.conditions[*].type}';
    assert.equal(await fixture.kubectl.ok(`get ds state -o ${condition}`), 'Odd');
  });
});
