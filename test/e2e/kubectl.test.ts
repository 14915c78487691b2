/** Unmodified kubectl, old and new, against the API alone: no controllers run, so nothing moves by itself. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { nodeKind } from '../../coordinator/kinds/index.js';
import { startTestApi, type TestApi } from '../harness/api.js';
import { findClient } from '../harness/client-binaries.js';
import { KUBECTLS } from '../harness/each-kubectl.js';
import { eventually } from '../harness/eventually.js';
import { createKubectl, type Kubectl } from '../harness/kubectl.js';
import { leaveOut } from '../harness/leave-out.js';

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

for (const name of KUBECTLS) {
  const found = findClient(name);
  describe(`the API by ${name}`, () => {
    if ('why' in found) {
      test('there is none', (context: TestContext) => leaveOut(context, name, found.why));
      return;
    }
    let api: TestApi;
    let kubectl: Kubectl;

    before(async () => {
      api = await startTestApi();
      kubectl = createKubectl(api.kubeconfig, found.path);
    });
    after(async () => {
      kubectl.remove();
      await api.stop();
    });

    /** Applies a DaemonSet of this name from standard input. */
    const apply = (name: string) => kubectl.ok('apply -f -', manifest(name));

    test('version, api-resources and cluster-info', async () => {
      assert.match(await kubectl.ok('version'), /Server Version: v1\.35\.0\+everynode\./);
      assert.match(await kubectl.ok('api-resources'), /daemonsets +ds +apps\/v1 +true +DaemonSet/);
      assert.match(await kubectl.ok('cluster-info'), /is running at https:\/\/127\.0\.0\.1:/);
    });

    test('objects that kubectl sends as protobuf', async () => {
      assert.equal(await kubectl.ok('create namespace proto'), 'namespace/proto created');
      await kubectl.ok('create configmap c -n proto --from-literal=a=b');
      assert.equal(await kubectl.ok('get configmap c -n proto -o jsonpath={.data.a}'), 'b');
      await kubectl.ok('create secret generic s -n proto --from-literal=a=b');
      assert.equal(await kubectl.ok('get secret s -n proto -o jsonpath={.data.a}'), 'Yg==');
    });

    test('kinds without effect, which kubectl sends as protobuf too', async () => {
      await kubectl.ok('create serviceaccount robot');
      await kubectl.ok('create role reader --verb=get,list --resource=pods');
      await kubectl.ok('create rolebinding reading --role=reader --serviceaccount=default:robot');
      await kubectl.ok('create clusterrole system:seer --verb=get --non-resource-url=/metrics');
      await kubectl.ok('create clusterrolebinding seeing --clusterrole=system:seer --user=eve');
      await kubectl.ok('create service clusterip web --tcp=80:8080');
      assert.match(await kubectl.ok('get svc'), /\nweb +ClusterIP +None +<none> +80\/TCP /);
      assert.match(await kubectl.ok('get rolebinding -o wide'), /\nreading +Role\/reader .* default\/robot/);
      const rules = await kubectl.ok('get clusterrole system:seer -o jsonpath={.rules}');
      assert.deepEqual(JSON.parse(rules), [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]);
      const targetPort = 'jsonpath={.spec.ports[0].targetPort}';
      assert.equal(await kubectl.ok(`get svc web -o ${targetPort}`), '8080');
    });

    test('auth can-i and whoami', async () => {
      assert.equal(await kubectl.ok('auth can-i create pods'), 'yes');
      assert.match(await kubectl.ok('auth can-i --list'), /\*\.\*/);
      assert.match(await kubectl.ok('auth whoami'), /Username +everynode-admin/);
    });

    test('apply: created, unchanged, configured', async () => {
      assert.equal(await apply('applied'), 'daemonset.apps/applied created');
      assert.equal(await apply('applied'), 'daemonset.apps/applied unchanged');
      const changed = manifest('applied').replace('app:1', 'app:2');
      assert.equal(await kubectl.ok('apply -f -', changed), 'daemonset.apps/applied configured');
      const images = 'get ds applied -o jsonpath={.spec.template.spec.containers[*].image}';
      assert.equal(await kubectl.ok(images), 'app:2 side:1');
    });

    test('apply merges lists by their keys', async () => {
      await apply('merged');
      const without = manifest('merged').replace(/ {6}- name: side\n.*\n/, '');
      await kubectl.ok('apply -f -', without);
      const names = 'get ds merged -o jsonpath={.spec.template.spec.containers[*].name}';
      assert.equal(await kubectl.ok(names), 'main');
    });

    test('an unknown field is refused by its path', async () => {
      const wrong = manifest('wrong').replace('spec:\n', 'spec:\n  foo: 1\n');
      const { code, stderr } = await kubectl.run(['apply', '-f', '-'], wrong);
      assert.equal(code, 1);
      assert.match(stderr, /strict decoding error: unknown field "spec\.foo"/);
    });

    test('diff shows the next generation and stores nothing', async () => {
      await apply('different');
      const path = join(kubectl.home, 'different.yaml');
      writeFileSync(path, manifest('different').replace('app:1', 'app:2'));
      const { code, stdout } = await kubectl.run(['diff', '-f', path]);
      assert.equal(code, 1);
      assert.match(stdout, /- {2}generation: 1\n\+ {2}generation: 2/);
      assert.equal(await kubectl.ok('get ds different -o jsonpath={.metadata.generation}'), '1');
    });

    test('set image, patches of three types, label, annotate', async () => {
      await apply('changed');
      assert.equal(
        await kubectl.ok('set image ds/changed main=app:3'),
        'daemonset.apps/changed image updated',
      );
      await kubectl.ok('patch ds changed -p {"spec":{"minReadySeconds":1}}');
      await kubectl.ok('patch ds changed --type=merge -p {"spec":{"minReadySeconds":2}}');
      const jsonPatch = '[{"op":"replace","path":"/spec/minReadySeconds","value":3}]';
      await kubectl.ok(`patch ds changed --type=json -p ${jsonPatch}`);
      assert.equal(await kubectl.ok('get ds changed -o jsonpath={.spec.minReadySeconds}'), '3');
      await kubectl.ok('label ds changed color=green');
      await kubectl.ok('annotate ds changed note=x');
      assert.match(await kubectl.ok('get ds -l color=green'), /^NAME .*\nchanged /);
    });

    test('labelling with what is there already changes no resourceVersion', async () => {
      await apply('same');
      await kubectl.ok('label ds same color=green');
      const version = 'get ds same -o jsonpath={.metadata.resourceVersion}';
      const before = await kubectl.ok(version);
      await kubectl.ok('label ds same color=green');
      assert.equal(await kubectl.ok(version), before);
    });

    test('taint, cordon and uncordon of a node', async () => {
      await api.registry.create(nodeKind, undefined, { metadata: { name: 'n1' } });
      assert.equal(await kubectl.ok('taint node n1 a=b:NoSchedule'), 'node/n1 tainted');
      assert.equal(await kubectl.ok('taint node n1 a-'), 'node/n1 untainted');
      assert.equal(await kubectl.ok('cordon n1'), 'node/n1 cordoned');
      assert.match(await kubectl.ok('get nodes'), /n1 +\S*SchedulingDisabled/);
      assert.equal(await kubectl.ok('uncordon n1'), 'node/n1 uncordoned');
      assert.match(await kubectl.ok('describe node n1'), /Name: +n1/);
    });

    test('replace needs the version that it read', async () => {
      await kubectl.ok('create configmap replaced --from-literal=a=1');
      const stale = await kubectl.ok('get configmap replaced -o json');
      await kubectl.ok('replace -f -', stale.replace('"a": "1"', '"a": "2"'));
      const { code, stderr } = await kubectl.run(['replace', '-f', '-'], stale);
      assert.equal(code, 1);
      assert.match(stderr, /the object has been modified; please apply your changes/);
    });

    test('tables: all namespaces, wide, sorted, in chunks', async () => {
      await kubectl.ok('create namespace tables');
      for (const name of ['c', 'a', 'b']) await kubectl.ok(`create configmap ${name} -n tables`);
      const names = (table: string) =>
        table
          .split('\n')
          .slice(1)
          .map((row) => row.split(/ +/)[0]);
      assert.deepEqual(names(await kubectl.ok('get cm -n tables')), ['a', 'b', 'c']);
      assert.deepEqual(names(await kubectl.ok('get cm -n tables --chunk-size=1')), ['a', 'b', 'c']);
      const sorted = await kubectl.ok('get cm -n tables --sort-by=.metadata.creationTimestamp');
      assert.equal(names(sorted).length, 3);
      assert.match(await kubectl.ok('get cm -A'), /^NAMESPACE +NAME +DATA +AGE\n/);
      assert.match(await kubectl.ok('get nodes -o wide'), /KERNEL-VERSION +CONTAINER-RUNTIME/);
    });

    test('get --watch prints what is there and what comes', async () => {
      await kubectl.ok('create configmap watched');
      const watching = kubectl.start('get cm watched --watch --no-headers -L seen');
      const rows = () => watching.stdout.trimEnd().split('\n');
      await eventually(() => rows().length === 1 && rows()[0] !== '');
      await kubectl.ok('label cm watched seen=yes');
      await eventually(() => rows().length === 2 || watching.stdout);
      assert.match(rows()[1] ?? '', /^watched +0 +\S+ +yes$/);
      watching.stop();
    });

    test('wait for a field and for a deletion', async () => {
      await apply('awaited');
      const waiting = kubectl.ok('wait ds/awaited --for=jsonpath={.spec.minReadySeconds}=7 --timeout=20s');
      await kubectl.ok('patch ds awaited -p {"spec":{"minReadySeconds":7}}');
      assert.equal(await waiting, 'daemonset.apps/awaited condition met');
      const gone = kubectl.ok('wait ds/awaited --for=delete --timeout=20s');
      await kubectl.ok('delete ds awaited');
      assert.match(await gone, /condition met|^$/);
    });

    test('delete waits until the object has gone', async () => {
      await apply('deleted');
      assert.match(await kubectl.ok('delete ds deleted'), /^daemonset\.apps "deleted" deleted/);
      const { code, stderr } = await kubectl.run(['get', 'ds', 'deleted']);
      assert.equal(code, 1);
      assert.equal(stderr, 'Error from server (NotFound): daemonsets.apps "deleted" not found\n');
    });

    test('a subresource or resource that is not served is 404', async () => {
      await apply('scaled');
      const scaled = await kubectl.run(['scale', 'ds/scaled', '--replicas=2']);
      assert.match(scaled.stderr, /the server could not find the requested resource/);
      const unknown = await kubectl.run(['get', 'gadgets']);
      assert.match(unknown.stderr, /the server doesn't have a resource type "gadgets"/);
    });

    test('explain reads our schema', async () => {
      assert.match(await kubectl.ok('explain ds.spec.updateStrategy'), /rollingUpdate/);
      assert.match(await kubectl.ok('explain pod.spec.containers --recursive'), /imagePullPolicy/);
    });

    test('events of an object are found by its fields', async () => {
      await kubectl.ok('create -f -', EVENT);
      assert.match(await kubectl.ok('events --for daemonset/x'), /Tested +DaemonSet\/x +it works/);
      assert.match(await kubectl.ok('get events'), /LAST SEEN +TYPE +REASON +OBJECT +MESSAGE/);
    });
  });
}

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
