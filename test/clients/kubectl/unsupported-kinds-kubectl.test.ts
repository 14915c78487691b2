/** kubectl commands that list kinds which Everynode does not run, and manifests of such kinds. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

const REFUSAL =
  /Everynode does not support StatefulSets: use a DaemonSet, which runs one Pod on each matching host/;

function configMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default, labels: {app: x}}\n`;
}

function manifest(apiVersion: string, kind: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: web, namespace: default}\nspec: {}\n`;
}

const STATEFUL_SET = manifest('apps/v1', 'StatefulSet');

forEachKubectl('kinds without objects', (fixture) => {
  test('apply --prune deletes what the directory no longer has, with the default list of kinds', async () => {
    const { kubectl } = fixture;
    const folder = join(kubectl.home, 'pruned');
    mkdirSync(folder);
    writeFileSync(join(folder, 'keep.yaml'), configMap('keep'));
    await kubectl.ok('apply -f -', configMap('gone'));
    const printed = await kubectl.ok(`apply --prune -l app=x -f ${folder}`);
    assert.match(printed, /^configmap\/keep created$/m);
    assert.match(printed, /^configmap\/gone pruned$/m);
    assert.equal(await kubectl.ok('get cm -l app=x -o name'), 'configmap/keep');
  });

  test('cluster-info dump writes every list', async () => {
    const { kubectl } = fixture;
    const folder = join(kubectl.home, 'dump');
    await kubectl.ok(`cluster-info dump --namespaces default --output-directory ${folder}`);
    const files = readdirSync(join(folder, 'default')).map((name) => name.split('.')[0]);
    const lists = [
      'daemonsets',
      'deployments',
      'events',
      'pods',
      'replicasets',
      'replication-controllers',
      'services',
    ];
    assert.deepEqual(files.sort(), lists);
    assert.ok(readdirSync(folder).some((name) => name.startsWith('nodes.')));
  });

  for (const words of ['apply -f -', 'create -f -', 'apply --server-side -f -', 'diff -f -', 'delete -f -']) {
    test(`${words} of a StatefulSet is refused with the reason`, async () => {
      const { code, stderr } = await fixture.kubectl.run(words.split(' '), STATEFUL_SET);
      assert.notEqual(code, 0);
      assert.match(stderr, REFUSAL);
    });
  }

  test('get sts NAME and its rollout status are refused with the reason', async () => {
    for (const words of ['get sts web', 'rollout status sts/web']) {
      const { code, stderr } = await fixture.kubectl.run(words.split(' '));
      assert.notEqual(code, 0);
      assert.match(stderr, REFUSAL);
    }
  });

  test('get of such kinds prints that there are no resources, and get all does not ask for them', async () => {
    const listed = await fixture.kubectl.run(['get', 'deploy,sts,pvc,pv,jobs,ing', '-A']);
    assert.deepEqual([listed.code, listed.stderr], [0, 'No resources found\n']);
    const all = await fixture.kubectl.run(['get', 'all', '-v=6']);
    assert.doesNotMatch(all.stderr, /statefulsets/);
  });

  test('explain prints why the kind is not supported', async () => {
    const printed = await fixture.kubectl.ok('explain statefulset');
    assert.match(printed, /Everynode does not support StatefulSets: use a DaemonSet/);
  });

  test('a kind that is not served is reported as unknown', async () => {
    for (const [apiVersion, kind] of [
      ['autoscaling/v1', 'HorizontalPodAutoscaler'],
      ['example.com/v1', 'Widget'],
    ] as const) {
      const { code, stderr } = await fixture.kubectl.run(['apply', '-f', '-'], manifest(apiVersion, kind));
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`no matches for kind "${kind}" in version "${apiVersion}"`));
    }
  });
});
