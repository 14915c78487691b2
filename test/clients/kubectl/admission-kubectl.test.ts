/** Admission policies by unmodified kubectl: one with parameters, and a wrong expression. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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
});
