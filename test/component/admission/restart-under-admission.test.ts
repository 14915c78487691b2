/** No policy and no webhook keeps a coordinator from starting: without its API, nobody could delete the cause. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { admissionPolicy, policyBinding } from '../../harness/objects/admission-builders.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

interface Cause {
  path: string;
  body: object;
}

function ruleFor(apiGroups: string[], resources: string[], scope = '*') {
  return { operations: ['CREATE', 'UPDATE'], apiGroups, apiVersions: ['*'], resources, scope };
}

/** A webhook that refuses connections, with failurePolicy Fail. */
function webhookCause(resource: string, rule: ReturnType<typeof ruleFor>): Cause {
  const webhooks = [
    {
      name: 'closed.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [rule],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ];
  return { path: `${ADMISSION}/${resource}`, body: { metadata: { name: 'cause' }, webhooks } };
}

const NEEDS_TEAM = admissionPolicy('cause', {
  matchConstraints: { resourceRules: [ruleFor([''], ['namespaces'])] },
  validations: [{ expression: "has(object.metadata.labels) && 'team' in object.metadata.labels" }],
});

const CAUSES: [string, Cause[], string][] = [
  [
    'a webhook for all resources that refuses connections',
    [webhookCause('validatingwebhookconfigurations', ruleFor(['*'], ['*/*']))],
    '/api/v1/namespaces',
  ],
  [
    'a mutating webhook for ClusterRoles',
    [webhookCause('mutatingwebhookconfigurations', ruleFor(['rbac.authorization.k8s.io'], ['clusterroles']))],
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ],
  [
    'a policy that requires a label of Namespaces',
    [
      { path: `${ADMISSION}/validatingadmissionpolicies`, body: NEEDS_TEAM },
      { path: `${ADMISSION}/validatingadmissionpolicybindings`, body: policyBinding('cause') },
    ],
    '/api/v1/namespaces',
  ],
];

describe('a coordinator restarts on its data', () => {
  for (const [what, causes, refusedPath] of CAUSES) {
    test(`under ${what}, which still decides on clients' writes and can be deleted`, async (context) => {
      const data = join(temporaryDirectory(), 'coordinator');
      const first = await startCoordinatorProcess(data);
      context.after(() => first.end('SIGKILL'));
      const before = new CoordinatorApi(first.kubeconfig);
      context.after(() => before.close());
      for (const { path, body } of causes) {
        const { code, body: answer } = await before.send('POST', path, body);
        assert.equal(code, 201, JSON.stringify(answer));
      }
      await first.end('SIGTERM');

      const second = await startCoordinatorProcess(data);
      context.after(() => second.end('SIGKILL'));
      const api = new CoordinatorApi(second.kubeconfig);
      context.after(() => api.close());
      const create = (name: string) => api.send('POST', refusedPath, { metadata: { name }, rules: [] });
      const refused = await create('refused');
      assert.notEqual(refused.code, 201, JSON.stringify(refused.body));
      for (const { path, body } of causes) {
        const { name } = (body as { metadata: { name: string } }).metadata;
        assert.equal((await api.send('DELETE', `${path}/${name}`)).code, 200);
      }
      await untilPasses(async () => assert.equal((await create('accepted')).code, 201));
    });
  }
});
