/**
 * Unmodified kubectl, old and new, against the API alone. No controllers run, so objects change only by the test's
 * requests.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import { until } from '../../harness/basics/wait-until.js';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

const DAEMON_SET = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: NAME
spec:
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
      - name: main
        image: app:1
      - name: side
        image: side:1
`;

function manifest(name: string): string {
  return DAEMON_SET.replaceAll('NAME', name);
}

forEachKubectl('the API alone', (fixture) => {
  /** Applies a DaemonSet of this name from standard input. */
  const apply = (name: string) => fixture.kubectl.ok('apply -f -', manifest(name));

  test("version, api-resources and cluster-info read the API's discovery", async () => {
    const { stdout, stderr } = await fixture.kubectl.run(['version']);
    assert.match(stdout, /Server Version: v1\.35\.0\+everynode\./);
    assert.doesNotMatch(stdout + stderr, /WARNING/, 'kubectl warns of a server more than one minor away');
    assert.match(await fixture.kubectl.ok('api-resources'), /daemonsets +ds +apps\/v1 +true +DaemonSet/);
    assert.match(await fixture.kubectl.ok('cluster-info'), /is running at https:\/\/127\.0\.0\.1:/);
  });

  test('the API accepts objects that kubectl sends as protobuf', async () => {
    assert.equal(await fixture.kubectl.ok('create namespace proto'), 'namespace/proto created');
    await fixture.kubectl.ok('create configmap c -n proto --from-literal=a=b');
    assert.equal(await fixture.kubectl.ok('get configmap c -n proto -o jsonpath={.data.a}'), 'b');
    await fixture.kubectl.ok('create secret generic s -n proto --from-literal=a=b');
    assert.equal(await fixture.kubectl.ok('get secret s -n proto -o jsonpath={.data.a}'), 'Yg==');
  });

  test('a List is applied item by item, also if it is the output of get', async () => {
    const map = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { in: 'list' } },
    });
    const list = { apiVersion: 'v1', kind: 'List', items: [map('one'), map('two')] };
    const created = await fixture.kubectl.ok('apply -f -', JSON.stringify(list));
    assert.equal(created, 'configmap/one created\nconfigmap/two created');
    const printed = await fixture.kubectl.ok('get configmap -l in=list -o yaml');
    assert.match(printed, /^kind: List$/m);
    const again = await fixture.kubectl.ok('apply -f -', printed);
    assert.match(again, /^configmap\/one (unchanged|configured)$/m);
  });

  test('the API accepts kinds without effect that kubectl sends as protobuf', async () => {
    await fixture.kubectl.ok('create serviceaccount robot');
    await fixture.kubectl.ok('create role reader --verb=get,list --resource=pods');
    await fixture.kubectl.ok('create rolebinding reading --role=reader --serviceaccount=default:robot');
    await fixture.kubectl.ok('create clusterrole system:seer --verb=get --non-resource-url=/metrics');
    await fixture.kubectl.ok('create clusterrolebinding seeing --clusterrole=system:seer --user=eve');
    await fixture.kubectl.ok('create service clusterip web --tcp=80:8080');
    // This API has no allocator of addresses.
    assert.match(await fixture.kubectl.ok('get svc'), /\nweb +ClusterIP +<none> +<none> +80\/TCP /);
    assert.match(
      await fixture.kubectl.ok('get rolebinding -o wide'),
      /\nreading +Role\/reader .* default\/robot/,
    );
    const rules = await fixture.kubectl.ok('get clusterrole system:seer -o jsonpath={.rules}');
    assert.deepEqual(JSON.parse(rules), [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]);
    const targetPort = 'jsonpath={.spec.ports[0].targetPort}';
    assert.equal(await fixture.kubectl.ok(`get svc web -o ${targetPort}`), '8080');
  });

  test('debug of a node creates a Pod that kubectl sends as protobuf', async () => {
    await fixture.api.registry.create(nodeKind, undefined, { metadata: { name: 'n-debug' } });
    const custom = join(fixture.kubectl.home, 'custom.json');
    const limits = { memory: '64Mi' };
    const securityContext = { runAsUser: 0, capabilities: { add: ['SYS_PTRACE'] } };
    writeFileSync(
      custom,
      JSON.stringify({ env: [{ name: 'A', value: 'b' }], resources: { limits }, securityContext }),
    );
    await fixture.kubectl.ok(
      `debug node/n-debug --image=tools:1 --profile=sysadmin --custom=${custom} -- sleep 1`,
    );
    const { records } = await fixture.api.registry.list(podKind, { namespace: 'default' });
    const spec = records.map((record) => record.object().spec).find(({ nodeName }) => nodeName === 'n-debug');
    assert.ok(spec);
    const [container] = spec.containers;
    assert.deepEqual([spec.hostPID, spec.hostNetwork, spec.hostIPC], [true, true, true]);
    assert.deepEqual(spec.volumes, [{ name: 'host-root', hostPath: { path: '/', type: '' } }]);
    assert.deepEqual(container?.volumeMounts, [{ name: 'host-root', mountPath: '/host' }]);
    assert.deepEqual([container?.command, container?.resources?.limits], [['sleep', '1'], limits]);
    assert.equal(container?.securityContext?.runAsUser, 0);
    assert.deepEqual(container?.env, [{ name: 'A', value: 'b' }]);
  });

  test('auth can-i and whoami answer for the administrator', async () => {
    assert.equal(await fixture.kubectl.ok('auth can-i create pods'), 'yes');
    assert.match(await fixture.kubectl.ok('auth can-i --list'), /\*\.\*/);
    assert.match(await fixture.kubectl.ok('auth whoami'), /Username +everynode-admin/);
  });

  test('apply prints created, unchanged and configured', async () => {
    assert.equal(await apply('applied'), 'daemonset.apps/applied created');
    assert.equal(await apply('applied'), 'daemonset.apps/applied unchanged');
    const changed = manifest('applied').replace('app:1', 'app:2');
    assert.equal(await fixture.kubectl.ok('apply -f -', changed), 'daemonset.apps/applied configured');
    const images = 'get ds applied -o jsonpath={.spec.template.spec.containers[*].image}';
    assert.equal(await fixture.kubectl.ok(images), 'app:2 side:1');
  });

  test('apply merges lists by their merge keys', async () => {
    await apply('merged');
    const without = manifest('merged').replace(/ {6}- name: side\n.*\n/, '');
    await fixture.kubectl.ok('apply -f -', without);
    const names = 'get ds merged -o jsonpath={.spec.template.spec.containers[*].name}';
    assert.equal(await fixture.kubectl.ok(names), 'main');
  });

  test('an unknown field is rejected with its path', async () => {
    const wrong = manifest('wrong').replace('spec:\n', 'spec:\n  foo: 1\n');
    const { code, stderr } = await fixture.kubectl.run(['apply', '-f', '-'], wrong);
    assert.equal(code, 1);
    assert.match(stderr, /strict decoding error: unknown field "spec\.foo"/);
  });

  test('diff shows the next generation and stores nothing', async () => {
    await apply('different');
    const path = join(fixture.kubectl.home, 'different.yaml');
    writeFileSync(path, manifest('different').replace('app:1', 'app:2'));
    const { code, stdout } = await fixture.kubectl.run(['diff', '-f', path]);
    assert.equal(code, 1);
    assert.match(stdout, /- {2}generation: 1\n\+ {2}generation: 2/);
    assert.equal(await fixture.kubectl.ok('get ds different -o jsonpath={.metadata.generation}'), '1');
  });

  test('set image, three patch types, label and annotate change the object', async () => {
    await apply('changed');
    assert.equal(
      await fixture.kubectl.ok('set image ds/changed main=app:3'),
      'daemonset.apps/changed image updated',
    );
    await fixture.kubectl.ok('patch ds changed -p {"spec":{"minReadySeconds":1}}');
    await fixture.kubectl.ok('patch ds changed --type=merge -p {"spec":{"minReadySeconds":2}}');
    const jsonPatch = '[{"op":"replace","path":"/spec/minReadySeconds","value":3}]';
    await fixture.kubectl.ok(`patch ds changed --type=json -p ${jsonPatch}`);
    assert.equal(await fixture.kubectl.ok('get ds changed -o jsonpath={.spec.minReadySeconds}'), '3');
    await fixture.kubectl.ok('label ds changed color=green');
    await fixture.kubectl.ok('annotate ds changed note=x');
    assert.match(await fixture.kubectl.ok('get ds -l color=green'), /^NAME .*\nchanged /);
  });

  test('label with an existing value keeps the resourceVersion', async () => {
    await apply('same');
    await fixture.kubectl.ok('label ds same color=green');
    const version = 'get ds same -o jsonpath={.metadata.resourceVersion}';
    const before = await fixture.kubectl.ok(version);
    await fixture.kubectl.ok('label ds same color=green');
    assert.equal(await fixture.kubectl.ok(version), before);
  });

  test('taint, cordon and uncordon change the node', async () => {
    await fixture.api.registry.create(nodeKind, undefined, { metadata: { name: 'n1' } });
    assert.equal(await fixture.kubectl.ok('taint node n1 a=b:NoSchedule'), 'node/n1 tainted');
    assert.equal(await fixture.kubectl.ok('taint node n1 a-'), 'node/n1 untainted');
    assert.equal(await fixture.kubectl.ok('cordon n1'), 'node/n1 cordoned');
    assert.match(await fixture.kubectl.ok('get nodes'), /n1 +\S*SchedulingDisabled/);
    assert.equal(await fixture.kubectl.ok('uncordon n1'), 'node/n1 uncordoned');
    assert.match(await fixture.kubectl.ok('describe node n1'), /Name: +n1/);
  });

  test('replace with an old resourceVersion is a conflict', async () => {
    await fixture.kubectl.ok('create configmap replaced --from-literal=a=1');
    const stale = await fixture.kubectl.ok('get configmap replaced -o json');
    await fixture.kubectl.ok('replace -f -', stale.replace('"a": "1"', '"a": "2"'));
    const { code, stderr } = await fixture.kubectl.run(['replace', '-f', '-'], stale);
    assert.equal(code, 1);
    assert.match(stderr, /the object has been modified; please apply your changes/);
  });

  test('get prints tables: all namespaces, wide, sorted, in chunks', async () => {
    await fixture.kubectl.ok('create namespace tables');
    for (const name of ['c', 'a', 'b']) await fixture.kubectl.ok(`create configmap ${name} -n tables`);
    const names = (table: string) =>
      table
        .split('\n')
        .slice(1)
        .map((row) => row.split(/ +/)[0]);
    assert.deepEqual(names(await fixture.kubectl.ok('get cm -n tables')), ['a', 'b', 'c']);
    assert.deepEqual(names(await fixture.kubectl.ok('get cm -n tables --chunk-size=1')), ['a', 'b', 'c']);
    const sorted = await fixture.kubectl.ok('get cm -n tables --sort-by=.metadata.creationTimestamp');
    assert.equal(names(sorted).length, 3);
    assert.match(await fixture.kubectl.ok('get cm -A'), /^NAMESPACE +NAME +DATA +AGE\n/);
    assert.match(await fixture.kubectl.ok('get nodes -o wide'), /KERNEL-VERSION +CONTAINER-RUNTIME/);
  });

  test('get --watch prints existing objects and later changes', async () => {
    await fixture.kubectl.ok('create configmap watched');
    const watching = fixture.kubectl.start('get cm watched --watch --no-headers -L seen');
    const rows = () => watching.stdout.trimEnd().split('\n');
    await until(() => rows().length === 1 && rows()[0] !== '');
    await fixture.kubectl.ok('label cm watched seen=yes');
    await until(() => rows().length === 2 || watching.stdout);
    assert.match(rows()[1] ?? '', /^watched +0 +\S+ +yes$/);
    watching.stop();
  });

  test('wait resolves on a field value and on a deletion', async () => {
    await apply('awaited');
    const waiting = fixture.kubectl.ok(
      'wait ds/awaited --for=jsonpath={.spec.minReadySeconds}=7 --timeout=20s',
    );
    await fixture.kubectl.ok('patch ds awaited -p {"spec":{"minReadySeconds":7}}');
    assert.equal(await waiting, 'daemonset.apps/awaited condition met');
    const gone = fixture.kubectl.ok('wait ds/awaited --for=delete --timeout=20s');
    await fixture.kubectl.ok('delete ds awaited');
    assert.match(await gone, /condition met|^$/);
  });

  test('delete waits until the object is removed', async () => {
    await apply('deleted');
    assert.match(await fixture.kubectl.ok('delete ds deleted'), /^daemonset\.apps "deleted" deleted/);
    const { code, stderr } = await fixture.kubectl.run(['get', 'ds', 'deleted']);
    assert.equal(code, 1);
    assert.equal(stderr, 'Error from server (NotFound): daemonsets.apps "deleted" not found\n');
  });

  test('an unsupported resource or subresource is 404', async () => {
    await apply('scaled');
    const scaled = await fixture.kubectl.run(['scale', 'ds/scaled', '--replicas=2']);
    assert.match(scaled.stderr, /the server could not find the requested resource/);
    const unknown = await fixture.kubectl.run(['get', 'gadgets']);
    assert.match(unknown.stderr, /the server doesn't have a resource type "gadgets"/);
  });

  test("explain reads Everynode's schema", async () => {
    assert.match(await fixture.kubectl.ok('explain ds.spec.updateStrategy'), /rollingUpdate/);
    assert.match(await fixture.kubectl.ok('explain pod.spec.containers --recursive'), /imagePullPolicy/);
  });

  test('events of an object are found by field selectors', async () => {
    await fixture.kubectl.ok('create -f -', EVENT);
    assert.match(await fixture.kubectl.ok('events --for daemonset/x'), /Tested +DaemonSet\/x +it works/);
    assert.match(await fixture.kubectl.ok('get events'), /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE/);
  });
});

const EVENT = `apiVersion: v1
kind: Event
metadata: {name: x.1}
involvedObject: {apiVersion: apps/v1, kind: DaemonSet, name: x, namespace: default}
reason: Tested
message: it works
type: Normal
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 1
source: {component: test}
`;
