/** Admission policies by unmodified kubectl: with parameters, and a wrong expression; and a webhook. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { selfSignedCertificate } from '../../harness/api/self-signed-certificate.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: image-registry
spec:
  failurePolicy: Fail
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [daemonsets]
  variables:
  - name: containers
    expression: object.spec.template.spec.containers
  validations:
  - expression: variables.containers.all(c, c.image.startsWith(params.data.registry))
    messageExpression: "'images must come from ' + params.data.registry"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: image-registry-default
spec:
  policyName: image-registry
  validationActions: [Deny]
  paramRef: {name: registry, namespace: default, parameterNotFoundAction: Deny}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: registry}
data: {registry: registry.example.com/}
`;

function daemonSet(image: string): string {
  const labels = { app: 'till' };
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'till' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  });
}

describe('admission policies by kubectl', () => {
  let fleet: SimulatedFleet;
  let kubectl: Kubectl;

  before(async () => {
    fleet = await startSimulatedFleet(1);
    kubectl = createKubectl(fleet.kubeconfig);
  });
  after(async () => {
    kubectl.remove();
    await fleet.stop();
  });

  test('a policy with parameters refuses what its expression refuses', async () => {
    await kubectl.ok('apply -f -', POLICY);
    await untilPasses(async () => {
      const { code, stderr } = await kubectl.run(['apply', '-f', '-'], daemonSet('other/till:1'));
      assert.equal(code, 1);
      assert.match(
        stderr,
        /The daemonsets "till" is invalid: : ValidatingAdmissionPolicy 'image-registry' with binding 'image-registry-default' denied request: images must come from registry\.example\.com\//,
      );
    });
    await kubectl.ok('apply -f -', daemonSet('registry.example.com/till:1'));
    const table = await kubectl.ok('get validatingadmissionpolicies image-registry');
    assert.match(table, /NAME +VALIDATIONS +PARAMKIND +AGE\nimage-registry +1 +v1\/ConfigMap /);
    assert.match(
      await kubectl.ok('get validatingadmissionpolicybindings'),
      /image-registry-default +image-registry +default\/registry /,
    );
    assert.match(await kubectl.ok('explain validatingadmissionpolicy.spec.validations'), /messageExpression/);
  });

  test('an expression that does not compile is refused with its position', async () => {
    const wrong = POLICY.replace('params.data.registry)', 'parms.data.registry)');
    const { code, stderr } = await kubectl.run(['apply', '-f', '-'], wrong);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /spec\.validations\[0\]\.expression: Invalid value: .*undeclared reference to 'parms'/,
    );
  });

  test('a webhook server changes and refuses what kubectl applies', async () => {
    const { cert, key } = await selfSignedCertificate('localhost');
    const server = createServer({ cert, key }, async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString());
      const patch = Buffer.from('[{"op":"add","path":"/data/seen","value":"yes"}]').toString('base64');
      const verdict =
        asked.name === 'bad'
          ? { allowed: false, status: { code: 403, message: 'a bad name' } }
          : { allowed: true, patchType: 'JSONPatch', patch };
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...verdict } }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'hooks' },
      webhooks: [
        {
          name: 'maps.example.com',
          clientConfig: { url: `https://localhost:${port}/`, caBundle: Buffer.from(cert).toString('base64') },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    };
    try {
      await kubectl.ok('apply -f -', JSON.stringify(configuration));
      await untilPasses(async () => {
        const { stderr } = await kubectl.run(['create', 'configmap', 'bad', '--from-literal=a=1']);
        assert.match(stderr, /admission webhook "maps\.example\.com" denied the request: a bad name/);
      });
      await kubectl.ok('create configmap good --from-literal=a=1');
      assert.equal(await kubectl.ok('get configmap good -o jsonpath={.data.seen}'), 'yes');
    } finally {
      await kubectl.ok('delete mutatingwebhookconfiguration hooks');
      server.closeAllConnections();
      server.close();
    }
  });
});
