/**
 * CustomResourceDefinitions and custom resources with a real kubectl and Helm on a real coordinator. The steps are those of
 * upstream's test/e2e/apimachinery/custom_resource_definition.go, crd_publish_openapi.go, crd_watch.go,
 * crd_selectable_fields.go, crd_validation_ratcheting.go and field_validation.go.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { until } from '../harness/basics/wait-until.js';
import { type ClientName, findClient } from '../harness/clients/client-binaries.js';
import { createHelm } from '../harness/clients/helm.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../harness/clients/kubectl.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';

const COLUMNS = `
      additionalPrinterColumns:
        - {name: Schedule, type: string, jsonPath: .spec.schedule}
        - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1}
        - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}`;

const SCHEMA = `
      schema:
        openAPIV3Schema:
          description: Copies a volume at fixed times.
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [schedule]
              properties:
                schedule: {type: string, pattern: '^\\d+ \\*$', description: When a copy is made.}
                image: {type: string, default: backup}
                replicas: {type: integer, minimum: 1, maximum: 9, default: 1}
                options: {type: object, x-kubernetes-preserve-unknown-fields: true}
                targets:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items:
                    type: object
                    required: [name]
                    properties: {name: {type: string}, url: {type: string}}
            status:
              type: object
              properties:
                replicas: {type: integer}
                conditions:
                  type: array
                  items: {type: object, properties: {type: {type: string}, status: {type: string}}}`;

/** `pattern` replaces that of the schedule. */
function definition(pattern?: string): string {
  const schema = pattern === undefined ? SCHEMA : SCHEMA.replace("'^\\d+ \\*$'", () => `'${pattern}'`);
  return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.store.example.com}
spec:
  group: store.example.com
  scope: Namespaced
  names: {plural: backups, singular: backup, kind: Backup, shortNames: [bk], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
      selectableFields: [{jsonPath: .spec.image}]${COLUMNS}${schema}
    - name: v1beta1
      served: true
      storage: false
      deprecated: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;
}

function backup(name: string, spec: object, metadata: object = {}): string {
  return JSON.stringify({
    ...{ apiVersion: 'store.example.com/v1', kind: 'Backup' },
    metadata: { name, namespace: 'default', ...metadata },
    spec: { schedule: '5 *', ...spec },
  });
}

describe('custom resources', () => {
  const why = whyNoKubectl();
  if (why !== undefined) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'en-crd-'));
  let coordinator: CoordinatorProcess;
  let kubectl: Kubectl;
  const refused = async (words: string, input: string) => {
    const { code, stderr } = await kubectl.run(words.split(' '), input);
    assert.notEqual(code, 0);
    return stderr;
  };
  const field = (name: string, path: string) => kubectl.ok(`get bk ${name} -o jsonpath={${path}}`);

  before(async () => {
    coordinator = await startCoordinatorProcess(join(folder, 'c'));
    kubectl = createKubectl(coordinator.kubeconfig);
    await kubectl.ok('apply -f -', definition());
    await kubectl.ok('wait --for condition=established crd/backups.store.example.com --timeout=10s');
  });
  after(async () => {
    kubectl.remove();
    await coordinator.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  test('discovery and explain have the kind at once', async () => {
    assert.match(
      await kubectl.ok('api-resources --api-group=store.example.com'),
      /backups +bk +\S+v1 +true +Backup/,
    );
    const explained = await kubectl.ok('explain backup.spec');
    assert.match(explained, /schedule\t<string> -required-\n {4}When a copy is made\./);
    assert.match(explained, /targets\t<\[\]Object>/);
  });

  test('an object gets defaults, and kubectl prints its columns', async () => {
    assert.equal(await kubectl.ok('apply -f -', backup('a', {})), 'backup.store.example.com/a created');
    assert.equal(await field('a', '.spec.image'), 'backup');
    assert.match(await kubectl.ok('get bk'), /^NAME +SCHEDULE +AGE\na +5 \* +\d+s$/);
    assert.match(await kubectl.ok('get bk a -o wide'), /^NAME +SCHEDULE +READY +AGE\na +5 \* +\d+s$/);
    assert.match(await kubectl.ok('get all'), /backup\.store\.example\.com\/a/);
  });

  test('fields are pruned, and refused with strict validation', async () => {
    const body = backup('b', { unknown: 1, options: { any: { thing: 1 } } });
    assert.match(await refused('create -f -', body), /strict decoding error: unknown field "spec\.unknown"/);
    await kubectl.ok('create --validate=ignore -f -', body);
    assert.equal(
      await field('b', '.spec'),
      '{"image":"backup","options":{"any":{"thing":1}},"replicas":1,"schedule":"5 *"}',
    );
    const unknownMetadata = backup('c', {}, { unknown: 1 });
    assert.match(await refused('create -f -', unknownMetadata), /unknown field "metadata\.unknown"/);
  });

  test('invalid objects are refused in the words of upstream', async () => {
    const stderr = await refused(
      'create -f -',
      backup('c', { schedule: 'x', replicas: 99, targets: [{ name: 'x' }, { name: 'x' }] }),
    );
    assert.match(stderr, /spec\.schedule in body should match '\^\\d\+ \\\*\$'/);
    assert.match(stderr, /spec\.replicas in body should be less than or equal to 9/);
    assert.match(stderr, /spec\.targets\[1\]: Duplicate value: \{"name":"x"\}/);
  });

  test('status and scale are subresources', async () => {
    await kubectl.ok('patch bk a --type=merge -p {"status":{"replicas":7}}');
    assert.equal(await field('a', '.status'), '');
    await kubectl.ok(
      'patch bk a --subresource=status --type=merge -p {"status":{"replicas":7,"conditions":[{"type":"Ready","status":"True"}]}}',
    );
    assert.match(await kubectl.ok('get bk a -o wide'), /True/);
    const generation = Number(await field('a', '.metadata.generation'));
    await kubectl.ok('scale bk/a --replicas=3');
    assert.equal(await field('a', '.spec.replicas'), '3');
    assert.equal(Number(await field('a', '.metadata.generation')), generation + 1);
    assert.match(
      await kubectl.ok('get bk a --subresource=scale -o yaml'),
      /kind: Scale\n[\s\S]*replicas: 3\nstatus:\n {2}replicas: 7/,
    );
  });

  test('server-side apply merges lists by their keys and reports conflicts', async () => {
    const one = backup('s', { targets: [{ name: 'a', url: 'x' }] });
    const two = backup('s', { targets: [{ name: 'b', url: 'y' }] });
    await kubectl.ok('apply --server-side --field-manager=one -f -', one);
    await kubectl.ok('apply --server-side --field-manager=two -f -', two);
    assert.equal(await field('s', '.spec.targets[*].name'), 'a b');
    const other = backup('s', { targets: [{ name: 'a', url: 'z' }] });
    assert.match(
      await refused('apply --server-side --field-manager=two -f -', other),
      /conflict with "one": \.spec\.targets\[name="a"\]\.url/,
    );
    const unknown = backup('s', { unknown: 1 });
    assert.match(
      await refused('apply --server-side -f -', unknown),
      /\.spec\.unknown: field not declared in schema/,
    );
  });

  test('a strategic merge patch is refused, like upstream does', async () => {
    assert.match(
      await refused('patch bk a --type=strategic -p {}', ''),
      /application\/strategic-merge-patch\+json is not supported/,
    );
  });

  test('apply changes an object, by a merge patch', async () => {
    await kubectl.ok('apply -f -', backup('changed', { image: 'one' }));
    assert.match(await kubectl.ok('apply -f -', backup('changed', { image: 'two' })), /configured/);
    assert.equal(await kubectl.ok('get bk changed -o jsonpath={.spec.image}'), 'two');
    await kubectl.ok('delete bk changed');
  });

  test('field selectors work for the fields that the definition names', async () => {
    await kubectl.ok('apply -f -', backup('other', { image: 'other' }));
    assert.equal(
      await kubectl.ok('get bk --field-selector spec.image=other -o name'),
      'backup.store.example.com/other',
    );
    const { stderr } = await kubectl.run(['get', 'bk', '--field-selector', 'spec.schedule=x']);
    assert.match(stderr, /field label not supported: spec\.schedule/);
  });

  test('another version has another apiVersion, and a deprecated one is warned of', async () => {
    const { stdout, stderr } = await kubectl.run([
      'get',
      'backups.v1beta1.store.example.com',
      'a',
      '-o',
      'jsonpath={.apiVersion}',
    ]);
    assert.equal(stdout, 'store.example.com/v1beta1');
    assert.match(stderr, /store\.example\.com\/v1beta1 Backup is deprecated/);
  });

  test('a watch sees every change', async () => {
    await kubectl.ok('apply -f -', backup('watched', { replicas: 1 }));
    const watch = kubectl.start(
      'get bk -w --field-selector metadata.name=watched -o jsonpath={.spec.replicas},',
    );
    await until(() => watch.stdout === '1,', { what: 'the first state' });
    await kubectl.ok('patch bk watched --type=merge -p {"spec":{"replicas":2}}');
    await until(() => watch.stdout === '1,2,', { what: 'the change' });
    await kubectl.ok('delete bk watched');
    await until(() => watch.stdout === '1,2,2,', { what: 'the deletion' });
    watch.stop();
  });

  test('a stricter schema does not block a change of other fields', async () => {
    await kubectl.ok('apply -f -', backup('old', {}));
    await kubectl.ok('apply -f -', definition('^9.*$'));
    await until(
      async () =>
        (await kubectl.run(['create', '--dry-run=server', '-f', '-'], backup('new', {}))).code !== 0,
      { what: 'the new schema' },
    );
    await kubectl.ok('patch bk old --type=merge -p {"spec":{"replicas":2}}');
    const patch = ['patch', 'bk', 'old', '--type=merge', '-p', '{"spec":{"schedule":"6 *"}}'];
    assert.match((await kubectl.run(patch)).stderr, /should match '\^9\.\*\$'/);
    await kubectl.ok('apply -f -', definition());
  });

  test('kinds and objects survive a restart', async () => {
    await coordinator.end('SIGKILL');
    coordinator = await startCoordinatorProcess(join(folder, 'c'));
    kubectl.remove();
    kubectl = createKubectl(coordinator.kubeconfig);
    assert.equal(await field('a', '.spec.replicas'), '3');
  });

  test('owners, dependents and namespaces are collected', async () => {
    await kubectl.ok('apply -f -', backup('owner', {}));
    const uid = await field('owner', '.metadata.uid');
    const owner = (kind: string) => [{ apiVersion: 'store.example.com/v1', kind, name: 'owner', uid }];
    await kubectl.ok('create -f -', backup('dependent', {}, { ownerReferences: owner('Backup') }));
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'dependent', ownerReferences: owner('Backup') },
    };
    await kubectl.ok('create -f -', JSON.stringify(map));
    await kubectl.ok('delete bk owner');
    await until(async () => (await kubectl.ok('get bk,cm -o name')).includes('/dependent') === false, {
      what: 'the dependents to be deleted',
    });
    await kubectl.ok('create ns shop');
    await kubectl.ok('create -f -', backup('in-shop', {}, { namespace: 'shop' }));
    await kubectl.ok('delete ns shop --timeout=30s');
    assert.equal(await kubectl.ok('get bk -A --field-selector metadata.namespace=shop -o name'), '');
  });

  test('a role on the custom group is enough', async () => {
    await kubectl.ok('create role reader --verb=get,list --resource=backups.store.example.com');
    await kubectl.ok('create rolebinding reader --role=reader --user=eve');
    assert.match(await kubectl.ok('get bk a --as=eve -o name'), /\/a$/);
    const { stderr } = await kubectl.run(['delete', 'bk', 'a', '--as=eve']);
    assert.match(stderr, /backups\.store\.example\.com "a" is forbidden: User "eve" cannot delete/);
  });

  for (const name of ['helm-3.17.2', 'helm-4.1.4'] as const satisfies readonly ClientName[]) {
    const found = findClient(name);
    test(`${name} installs a chart with its crds directory and an object of the kind`, async (context) => {
      if ('why' in found) {
        leaveOut(context, name, found.why);
        return;
      }
      const helm = createHelm(coordinator.kubeconfig, found.path);
      const chart = join(helm.home, 'chart');
      mkdirSync(join(chart, 'crds'), { recursive: true });
      mkdirSync(join(chart, 'templates'));
      writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: chart\nversion: 0.1.0\n');
      const gauges = definition()
        .replaceAll('backups', 'gauges')
        .replaceAll('backup', 'gauge')
        .replace('Backup', 'Gauge')
        .replace('[bk]', '[]');
      writeFileSync(join(chart, 'crds', 'gauges.yaml'), gauges);
      const gauge = backup('gauge', {}).replace('Backup', 'Gauge');
      writeFileSync(join(chart, 'templates', 'gauge.yaml'), gauge);
      await helm.ok(`install gauge ${chart} --wait --timeout 60s`);
      assert.match(await kubectl.ok('get gauges -o name'), /\/gauge$/);
      await helm.ok('uninstall gauge');
      await kubectl.ok('delete crd gauges.store.example.com --timeout=30s');
      helm.remove();
    });
  }

  test('a definition is deleted after its objects, whose finalizers are respected', async () => {
    await kubectl.ok('patch bk a --type=merge -p {"metadata":{"finalizers":["example.com/hold"]}}');
    await kubectl.ok('delete crd backups.store.example.com --wait=false');
    const terminating =
      'get crd backups.store.example.com -o jsonpath={.status.conditions[?(@.type=="Terminating")].reason}';
    await until(async () => (await kubectl.ok(terminating)) === 'InstanceDeletionInProgress', {
      what: 'the condition',
    });
    assert.match(
      await refused('create -f -', backup('late', {})),
      /create not allowed while custom resource definition is terminating/,
    );
    await kubectl.ok('patch bk a --type=merge -p {"metadata":{"finalizers":null}}');
    await kubectl.ok('wait --for=delete crd/backups.store.example.com --timeout=30s');
    assert.match(
      (await kubectl.run(['get', '--raw', '/apis/store.example.com/v1'])).stderr,
      /could not find the requested resource/,
    );
    await kubectl.ok('apply -f -', definition());
    await kubectl.ok('wait --for condition=established crd/backups.store.example.com --timeout=10s');
    assert.equal(await kubectl.ok('get backups.v1.store.example.com -A -o name'), '');
  });
});
