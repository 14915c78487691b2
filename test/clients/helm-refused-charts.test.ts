/** Helm refuses a chart with a kind that Everynode does not run before it stores anything. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startTestApi, type TestApi } from '../harness/api/api-fixture.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { findClient } from '../harness/clients/client-binaries.js';
import { createHelm, type Helm } from '../harness/clients/helm.js';

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\n';

/** A manifest of another kind, and the sentence that names the kind. */
const REFUSED: [kind: string, apiVersion: string, sentence: RegExp][] = [
  ['StatefulSet', 'apps/v1', /Everynode does not support StatefulSets: use a DaemonSet/],
  [
    'APIService',
    'apiregistration.k8s.io/v1',
    /Everynode does not support APIServices: the coordinator serves all APIs itself/,
  ],
  [
    'NetworkPolicy',
    'networking.k8s.io/v1',
    /Everynode does not support NetworkPolicies: hosts would not enforce it/,
  ],
];

function writeChart(directory: string, kind: string, apiVersion: string): void {
  const other = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: "{{ .Release.Name }}"}\nspec: {}\n`;
  mkdirSync(join(directory, 'templates'), { recursive: true });
  writeFileSync(join(directory, 'Chart.yaml'), 'apiVersion: v2\nname: refused\nversion: 0.1.0\n');
  writeFileSync(join(directory, 'values.yaml'), 'whole: true\n');
  writeFileSync(join(directory, 'templates/map.yaml'), CONFIG_MAP);
  writeFileSync(join(directory, 'templates/other.yaml'), `{{- if .Values.whole }}\n${other}{{- end }}\n`);
}

for (const name of ['helm-3.17.2', 'helm-4.1.4'] as const) {
  const found = findClient(name);
  describe(`charts that ${name} refuses`, () => {
    if ('why' in found) {
      test('there is no Helm', (context: TestContext) => leaveOut(context, name, found.why));
      return;
    }
    let api: TestApi;
    let helm: Helm;
    before(async () => {
      api = await startTestApi();
      helm = createHelm(api.kubeconfig, found.path);
    });
    after(async () => {
      helm.remove();
      await api.stop();
    });
    const stored = async (): Promise<string[]> => {
      const kinds = api.registry.kinds.filter(({ resource }) => ['configmaps', 'secrets'].includes(resource));
      const lists = await Promise.all(kinds.map((kind) => api.registry.list(kind, { namespace: 'default' })));
      return lists.flatMap(({ records }) => records.map((record) => record.object().metadata.name));
    };

    for (const [kind, apiVersion, sentence] of REFUSED) {
      test(`a chart with a ${kind} is refused as a whole`, async () => {
        writeChart(join(helm.home, kind), kind, apiVersion);
        const { code, stderr } = await helm.run(`install first ./${kind}`);
        assert.equal(code, 1);
        assert.match(stderr, sentence);
        assert.deepEqual(await stored(), []);
      });
    }

    test('an upgrade that adds a StatefulSet is refused, and the release stays as it was', async () => {
      writeChart(join(helm.home, 'later'), 'StatefulSet', 'apps/v1');
      await helm.ok('install kept ./later --set whole=false');
      const before = await stored();
      const { code, stderr } = await helm.run('upgrade kept ./later --set whole=true');
      assert.equal(code, 1);
      assert.match(stderr, /Everynode does not support StatefulSets/);
      assert.deepEqual(await stored(), before);
    });
  });
}
