/** Services in unmodified kubectl: expose, create service, get, describe, apply and patch. No controllers run. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';

const SLICE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [192.0.2.1], conditions: {ready: true}}, {addresses: [192.0.2.2]}]
ports: [{port: 8080}]
---
apiVersion: v1
kind: Endpoints
metadata: {name: web}
subsets: [{addresses: [{ip: 192.0.2.1}, {ip: 192.0.2.2}], ports: [{port: 8080}]}]
`;
const APPLIED = `apiVersion: v1
kind: Service
metadata: {name: applied}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

for (const name of KUBECTLS) {
  const found = findClient(name);
  describe(`Services by ${name}`, () => {
    if ('why' in found) {
      test(`${name} is not installed`, (context: TestContext) => leaveOut(context, name, found.why));
      return;
    }
    let plane: ControlPlane;
    let api: TestApi;
    let kubectl: Kubectl;
    before(async () => {
      plane = await startControlPlane();
      api = await startTestApi({ registry: plane.registry });
      kubectl = createKubectl(api.kubeconfig, found.path);
    });
    after(async () => {
      kubectl.remove();
      await api.stop();
      await plane.stop();
    });
    const field = (service: string, path: string) => kubectl.ok(`get svc ${service} -o jsonpath={${path}}`);

    test('expose gives a Pod a Service with an address', async () => {
      await kubectl.ok('run web --image=app:1 --labels=app=web --port=8080');
      // kubectl itself exposes no DaemonSet, on any server.
      const { stdout, stderr } = await kubectl.run('expose pod web --port=80 --target-port=8080'.split(' '));
      assert.deepEqual([stdout, stderr], ['service/web exposed\n', '']);
      const [, line = ''] = (await kubectl.ok('get svc -o wide')).split('\n');
      assert.match(line, /^web +ClusterIP +10\.96\.\d+\.\d+ +<none> +80\/TCP +\S+ +app=web$/);
    });

    test('describe shows the endpoints, and get shows Endpoints and EndpointSlices', async () => {
      await kubectl.ok('apply -f -', SLICE);
      const text = await kubectl.ok('describe svc web');
      assert.match(text, /^Endpoints: +192\.0\.2\.1:8080,192\.0\.2\.2:8080$/m);
      assert.match(text, /^IP Family Policy: +SingleStack$/m);
      assert.match(text, /^Internal Traffic Policy: +Cluster$/m);
      assert.match(await kubectl.ok('get endpointslices'), /web-1 +IPv4 +8080 +192\.0\.2\.1,192\.0\.2\.2/);
      assert.match(await kubectl.ok('get endpoints web'), /web +192\.0\.2\.1:8080,192\.0\.2\.2:8080/);
    });

    test('create service makes each type, and only a load balancer gets a warning', async () => {
      const created = async (command: string) => {
        const { code, stdout, stderr } = await kubectl.run(`create service ${command}`.split(' '));
        assert.equal(code, 0, stderr);
        assert.match(stdout, /^service\/\S+ created\n$/);
        return stderr;
      };
      assert.equal(await created('clusterip a --tcp=80:8080'), '');
      assert.equal(await created('clusterip b --clusterip=None'), '');
      assert.equal(await created('nodeport c --tcp=80 --node-port=30080'), '');
      assert.equal(await created('externalname d --external-name db.example.org'), '');
      const warning = await created('loadbalancer e --tcp=80');
      assert.equal(warning, 'Warning: spec.type: no load balancer is created; use its node ports\n');
      const list = await kubectl.ok('get svc a b c d e');
      assert.match(list, /^b +ClusterIP +None +<none> +<none>/m);
      assert.match(list, /^c +NodePort +10\.96\.\d+\.\d+ +<none> +80:30080\/TCP/m);
      assert.match(list, /^d +ExternalName +<none> +db\.example\.org +<none>/m);
      assert.match(list, /^e +LoadBalancer +10\.96\.\d+\.\d+ +<pending> +80:3\d{4}\/TCP/m);
    });

    test('a second Service cannot have the same node port or address', async () => {
      const port = await kubectl.run('create service nodeport f --tcp=80 --node-port=30080'.split(' '));
      assert.match(
        port.stderr,
        /spec\.ports\[0\]\.nodePort: Invalid value: 30080: provided port is already allocated/,
      );
      const address = await field('a', '.spec.clusterIP');
      const taken = await kubectl.run(
        `create service clusterip f --tcp=80 --clusterip=${address}`.split(' '),
      );
      assert.match(taken.stderr, /provided IP is already allocated/);
    });

    test('apply twice changes nothing, and replace --force may keep the address', async () => {
      assert.equal(await kubectl.ok('apply -f -', APPLIED), 'service/applied created');
      const address = await field('applied', '.spec.clusterIP');
      assert.equal(await kubectl.ok('apply -f -', APPLIED), 'service/applied unchanged');
      assert.equal(
        await kubectl.ok('apply --server-side --force-conflicts -f -', APPLIED),
        'service/applied serverside-applied',
      );
      assert.equal(await field('applied', '.spec.clusterIP'), address);
      const stored = await kubectl.ok('get svc applied -o yaml');
      await kubectl.ok('replace -f -', stored);
      await kubectl.ok('replace --force -f -', stored);
      assert.equal(await field('applied', '.spec.clusterIP'), address);
    });

    test('patch changes the type, and the fields of the former type go', async () => {
      await kubectl.ok('patch svc applied -p {"spec":{"type":"NodePort"}}');
      assert.match(await field('applied', '.spec.ports[0].nodePort'), /^3\d{4}$/);
      await kubectl.ok('patch svc applied -p {"spec":{"type":"ClusterIP"}}');
      assert.equal(await field('applied', '.spec.ports[0].nodePort'), '');
      await kubectl.ok('patch svc applied -p {"spec":{"type":"ExternalName","externalName":"x.example"}}');
      assert.equal(await field('applied', '.spec.clusterIP'), '');
    });

    test('the relay annotation allocates a port, and the port cannot be written', async () => {
      const key = String.raw`.metadata.annotations.fleet\.everynode\.dev/relay-ports`;
      await kubectl.ok('annotate svc web fleet.everynode.dev/relay=true');
      const relay = await field('web', key);
      assert.match(relay, /^80:3\d{4}$/);
      await kubectl.ok('annotate --overwrite svc web fleet.everynode.dev/relay-ports=80:1');
      assert.equal(await field('web', key), relay);
      const refused = await kubectl.run(
        'annotate --overwrite svc web fleet.everynode.dev/relay=maybe'.split(' '),
      );
      assert.match(refused.stderr, /Unsupported value: "maybe": supported values: "false", "true"/);
    });
  });
}
