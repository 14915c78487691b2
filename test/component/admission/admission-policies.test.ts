/** ValidatingAdmissionPolicies in the registry (apiserver pkg/admission/plugin/policy/validating). */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  namespaceKind,
  podKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from '../../../coordinator/kinds/index.js';
import type { WriteOptions } from '../../../coordinator/registry/registry-options.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';
import { admissionPolicy, CONFIG_MAP_RULE, policyBinding } from '../../harness/objects/admission-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

type PolicySpec = Parameters<typeof admissionPolicy>[1];
type BindingSpec = Parameters<typeof policyBinding>[1];

const BIG = { size: 'big' };
const SMALL = { size: 'small' };

/** Stores a policy with its binding, and waits until both are known. */
async function enforce(
  plane: ControlPlane,
  spec: PolicySpec = {},
  binding: BindingSpec = {},
  name = 'p',
): Promise<void> {
  await plane.registry.create(validatingAdmissionPolicyKind, undefined, admissionPolicy(name, spec));
  await plane.registry.create(validatingAdmissionPolicyBindingKind, undefined, policyBinding(name, binding));
  await plane.settle();
}

function createMap(
  { registry }: ControlPlane,
  name: string,
  data: Record<string, string>,
  options: WriteOptions = {},
) {
  return registry.create(configMapKind, 'default', { metadata: { name }, data }, options);
}

async function refusedText(action: Promise<unknown>): Promise<string> {
  return (await refusal(action)).message;
}

const DENIED = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: `;

describe('ValidatingAdmissionPolicies', () => {
  withControlPlane('a failed validation refuses creates, updates and patches with a 422', async (plane) => {
    await enforce(plane);
    const error = await refusal(createMap(plane, 'a', BIG));
    const text = `${DENIED}failed expression: object.data.size == 'small'`;
    assert.deepEqual([error.code, error.reason, error.message], [422, 'Invalid', text]);
    assert.deepEqual(error.details?.causes, [{ message: text.replace('configmaps "a" is forbidden: ', '') }]);
    await createMap(plane, 'a', SMALL);
    const ref = { namespace: 'default', name: 'a' };
    const patch = { type: 'merge' as const, body: { data: BIG } };
    assert.equal(await refusedText(plane.registry.patch(configMapKind, ref, patch)), text);
    const body = { metadata: { name: 'a' }, data: BIG };
    assert.equal(await refusedText(plane.registry.update(configMapKind, ref, body)), text);
    const apply = { type: 'apply' as const, body: { apiVersion: 'v1', kind: 'ConfigMap', ...body } };
    const applied = plane.registry.patch(configMapKind, ref, apply, { fieldManager: 'x', dryRun: true });
    assert.match(await refusedText(applied), /conflict|failed expression/);
  });

  withControlPlane('message, messageExpression and reason decide the error', async (plane) => {
    const message = { message: 'too big', messageExpression: "'size ' + object.data.size" };
    await enforce(plane, {
      validations: [{ expression: "object.data.size != 'big'", ...message, reason: 'Forbidden' }],
    });
    const error = await refusal(createMap(plane, 'a', BIG));
    assert.deepEqual([error.code, error.message], [403, `${DENIED}size big`]);
  });

  withControlPlane('a policy without a binding, or of another kind, changes nothing', async (plane) => {
    await plane.registry.create(validatingAdmissionPolicyKind, undefined, admissionPolicy('unbound'));
    await enforce(plane, {
      matchConstraints: { resourceRules: [{ ...CONFIG_MAP_RULE, resources: ['secrets'] }] },
    });
    await createMap(plane, 'a', BIG);
  });

  withControlPlane('Warn warns, Audit annotates, and both let the write pass', async (plane) => {
    await enforce(plane, {}, { validationActions: ['Warn', 'Audit'] });
    const warnings: string[] = [];
    const annotations = new Map<string, string>();
    await createMap(plane, 'a', BIG, {
      warn: (text) => warnings.push(text),
      annotate: (key, value) => annotations.set(key, value),
    });
    const message = "failed expression: object.data.size == 'small'";
    assert.deepEqual(warnings, [
      `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': ${message}`,
    ]);
    const failure = annotations.get('validation.policy.admission.k8s.io/validation_failure') ?? '';
    assert.deepEqual(JSON.parse(failure), [
      {
        message,
        policy: 'p',
        binding: 'p-binding',
        expressionIndex: 0,
        validationActions: ['Warn', 'Audit'],
      },
    ]);
  });

  withControlPlane('audit annotations are published with the name of the policy', async (plane) => {
    const auditAnnotations = [{ key: 'size', valueExpression: "'was ' + object.data.size" }];
    await enforce(plane, { validations: [], auditAnnotations });
    const annotations = new Map<string, string>();
    await createMap(plane, 'a', BIG, { annotate: (key, value) => annotations.set(key, value) });
    assert.deepEqual([...annotations], [['p/size', 'was big']]);
  });

  withControlPlane('an error denies the write with Fail, and not with Ignore', async (plane) => {
    await enforce(plane, { validations: [{ expression: "object.data.other == 'x'" }] });
    const text = `${DENIED}expression 'object.data.other == 'x'' resulted in error: no such key: other`;
    assert.equal(await refusedText(createMap(plane, 'a', BIG)), text);
    const ignore = { type: 'merge' as const, body: { spec: { failurePolicy: 'Ignore' } } };
    await plane.registry.patch(validatingAdmissionPolicyKind, { name: 'p' }, ignore);
    await plane.settle();
    await createMap(plane, 'a', BIG);
  });

  withControlPlane('variables, match conditions, oldObject and request can be used', async (plane) => {
    await enforce(plane, {
      matchConditions: [{ name: 'not-admin', expression: "request.userInfo.username != 'admin'" }],
      variables: [
        { name: 'size', expression: "object.?data.?size.orValue('')" },
        { name: 'grows', expression: 'oldObject != null && variables.size != oldObject.data.size' },
      ],
      validations: [
        { expression: '!variables.grows', messageExpression: "request.operation + ' to ' + variables.size" },
      ],
    });
    await createMap(plane, 'a', SMALL);
    const patch = { type: 'merge' as const, body: { data: BIG } };
    const ref = { namespace: 'default', name: 'a' };
    const refused = plane.registry.patch(configMapKind, ref, patch, { user: 'kim' });
    assert.equal(await refusedText(refused), `${DENIED}UPDATE to big`);
    await plane.registry.patch(configMapKind, ref, patch, { user: 'admin' });
  });

  withControlPlane('selectors, resource names and exclusions limit a policy', async (plane) => {
    const { registry } = plane;
    await registry.create(namespaceKind, undefined, { metadata: { name: 'free', labels: { free: 'yes' } } });
    await enforce(plane, {
      matchConstraints: {
        resourceRules: [CONFIG_MAP_RULE],
        excludeResourceRules: [{ ...CONFIG_MAP_RULE, resourceNames: ['excluded'] }],
        namespaceSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
        objectSelector: { matchLabels: { checked: 'yes' } },
      },
    });
    const body = (name: string) => ({ metadata: { name, labels: { checked: 'yes' } }, data: BIG });
    await registry.create(configMapKind, 'free', body('a'));
    await registry.create(configMapKind, 'default', body('excluded'));
    await createMap(plane, 'unlabelled', BIG);
    assert.match(await refusedText(registry.create(configMapKind, 'default', body('a'))), /denied request/);
  });

  withControlPlane('parameters come from ConfigMaps by name or by labels', async (plane) => {
    const { registry } = plane;
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const limit = { expression: 'params.data.only == object.data.size', message: 'another size' };
    const matchConditions = [{ name: 'others', expression: "!object.metadata.name.startsWith('limit')" }];
    const paramRef = { name: 'limit', namespace: 'default', parameterNotFoundAction: 'Deny' };
    await enforce(plane, { paramKind, matchConditions, validations: [limit] }, { paramRef });
    const missing =
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
    assert.equal(await refusedText(createMap(plane, 'a', BIG)), `${DENIED}${missing}`);
    // The parameter itself matches the policy as well, so it is stored before the binding refuses everything.
    await registry.delete(validatingAdmissionPolicyBindingKind, { name: 'p-binding' });
    await plane.settle();
    await createMap(plane, 'limit', { only: 'small' });
    const selector = { selector: { matchLabels: { kind: 'limit' } }, parameterNotFoundAction: 'Allow' };
    const bySelector = policyBinding('p', { paramRef: selector }, 'by-selector');
    await registry.create(validatingAdmissionPolicyBindingKind, undefined, bySelector);
    await registry.create(validatingAdmissionPolicyBindingKind, undefined, policyBinding('p', { paramRef }));
    await plane.settle();
    assert.equal(await refusedText(createMap(plane, 'a', BIG)), `${DENIED}another size`);
    await createMap(plane, 'a', SMALL);
  });

  withControlPlane('an unknown kind of parameters denies', async (plane) => {
    await enforce(
      plane,
      { paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } },
      { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } },
    );
    const text =
      "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'";
    assert.equal(await refusedText(createMap(plane, 'a', SMALL)), `${DENIED}${text}`);
  });

  withControlPlane('deletions match DELETE, with oldObject alone', async (plane) => {
    await enforce(plane, {
      matchConstraints: { resourceRules: [{ ...CONFIG_MAP_RULE, operations: ['DELETE'] }] },
      validations: [{ expression: "object == null && oldObject.data.size != 'big'", message: 'kept' }],
    });
    await createMap(plane, 'a', BIG);
    const ref = { namespace: 'default', name: 'a' };
    assert.equal(await refusedText(plane.registry.delete(configMapKind, ref)), `${DENIED}kept`);
    await createMap(plane, 'b', SMALL);
    await plane.registry.delete(configMapKind, { namespace: 'default', name: 'b' });
  });

  withControlPlane('the authorizer asks RBAC about the user', async (plane) => {
    const { registry } = plane;
    await enforce(plane, {
      validations: [
        {
          expression:
            "authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed() && authorizer.requestResource.check('list').allowed()",
          message: 'not allowed',
        },
      ],
    });
    const rules = [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list'] }];
    await registry.create(clusterRoleKind, undefined, { metadata: { name: 'reader' }, rules });
    await registry.create(clusterRoleBindingKind, undefined, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'kim' }],
    });
    await plane.settle();
    await createMap(plane, 'a', BIG, { user: 'kim', groups: [] });
    const refused = createMap(plane, 'a', BIG, { user: 'eve', groups: [] });
    assert.equal(await refusedText(refused), `${DENIED}not allowed`);
  });

  withControlPlane('status writes of the coordinator match only rules for the status', async (plane) => {
    const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
    const spec = { validations: [{ expression: 'request.operation == "CREATE"', message: 'frozen' }] };
    await enforce(plane, { ...spec, matchConstraints: { resourceRules: [rule] } });
    await plane.registry.create(podKind, 'default', podObject('web'));
    const ref = { namespace: 'default', name: 'web' };
    const running = () => plane.registry.writeStatus(podKind, ref, () => ({ phase: 'Running' as const }));
    await running();
    const status = { ...rule, resources: ['pods/status'] };
    await enforce(plane, { ...spec, matchConstraints: { resourceRules: [status] } }, {}, 'q');
    const failed = plane.registry.writeStatus(podKind, ref, () => ({ phase: 'Failed' as const }));
    assert.match(await refusedText(failed), /ValidatingAdmissionPolicy 'q' .*frozen/);
  });

  withControlPlane('a policy never decides on policies', async (plane) => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    await enforce(plane, {
      matchConstraints: { resourceRules: [everything] },
      validations: [{ expression: 'false', message: 'nothing' }],
    });
    assert.equal(await refusedText(createMap(plane, 'a', SMALL)), `${DENIED}nothing`);
    await plane.registry.delete(validatingAdmissionPolicyKind, { name: 'p' });
    await plane.settle();
    await createMap(plane, 'a', SMALL);
  });
});
