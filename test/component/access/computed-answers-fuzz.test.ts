/**
 * Users with random roles send random requests. No response contains the name of an object in a namespace for which the
 * user has no rule. `EVERYNODE_FUZZ_RUNS=100000` runs longer. A failure names the user's rules, the request and the
 * leaked name.
 */
import assert from 'node:assert/strict';
import { Agent, request as httpsRequest } from 'node:https';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
} from '../../../coordinator/kinds/index.js';
import type { PolicyRule } from '../../../shared/kube/access/rbac-types.js';
import { type AccessFixture, person, roleRef } from '../../harness/api/access-fixture.js';
import { TEST_TOKEN } from '../../harness/api/api-fixture.js';
import {
  closedNamespaces,
  type GeneratedRequest,
  type GeneratedUser,
  USER_WITH_REQUESTS,
} from '../../harness/api/generated-requests.js';
import { markedNames, NAMESPACES, NODES, startMarkedFleet } from '../../harness/api/marked-fleet.js';

/** A run sends about a hundred requests. */
const numRuns = Math.ceil(Number(process.env.EVERYNODE_FUZZ_RUNS ?? 2_000) / 32);
/** Duration for which a watch is read after its start. */
const STREAM_MS = 30;

let fixture: AccessFixture;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
before(async () => {
  fixture = await startMarkedFleet();
});
after(async () => {
  agent.destroy();
  await fixture.stop();
});

/** Status line, headers and body as one text. For a watch, only its start. */
function textOf({ method, path, headers, body }: GeneratedRequest, token: string): Promise<string> {
  const { port, pki } = fixture.api;
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const length = bytes ? { 'content-length': String(bytes.length) } : {};
  const all = { ...headers, ...length, authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = httpsRequest(
      { host: '127.0.0.1', port, ca: pki.ca.cert, agent, method, path, headers: all },
      (response) => {
        const chunks: Buffer[] = [];
        const { statusCode, rawHeaders } = response;
        const whole = () => `${statusCode} ${rawHeaders.join(' ')} ${Buffer.concat(chunks)}`;
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(whole()));
        response.on('error', () => resolve(whole()));
        if (path.includes('watch=true') && statusCode === 200) setTimeout(() => asked.destroy(), STREAM_MS);
      },
    );
    asked.on('error', reject);
    asked.end(bytes);
  });
}

/** Stores the roles of a user and removes them afterwards. */
async function withRoles(
  name: string,
  { cluster, everywhere, inNamespace }: GeneratedUser,
  work: () => Promise<void>,
): Promise<void> {
  const { registry } = fixture;
  const subjects = [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }];
  const bind = async (namespace: string | undefined, rules: PolicyRule[]): Promise<void> => {
    const [roles, bindings] = namespace
      ? [roleKind, roleBindingKind]
      : [clusterRoleKind, clusterRoleBindingKind];
    const roleKindName = namespace ? 'Role' : 'ClusterRole';
    await registry.create(roles, namespace, { metadata: { name }, rules });
    await registry.create(bindings, namespace, {
      metadata: { name },
      roleRef: roleRef(roleKindName, name),
      subjects,
    });
  };
  const unbind = async (namespace: string | undefined): Promise<void> => {
    const ref = { name, ...(namespace ? { namespace } : {}) };
    await registry.delete(namespace ? roleKind : clusterRoleKind, ref, {});
    await registry.delete(namespace ? roleBindingKind : clusterRoleBindingKind, ref, {});
  };
  const scopes: [string | undefined, PolicyRule[]][] = [
    [undefined, [...cluster, ...everywhere]],
    ...NAMESPACES.map((namespace): [string, PolicyRule[]] => [namespace, inNamespace[namespace] ?? []]),
  ];
  for (const [namespace, rules] of scopes) await bind(namespace, rules);
  await fixture.settled();
  try {
    await work();
  } finally {
    for (const [namespace] of scopes) await unbind(namespace);
  }
}

test('no answer names an object of a namespace for which the user has no rule', async () => {
  let users = 0;
  const check = async ([user, requests]: [GeneratedUser, GeneratedRequest[]]): Promise<void> => {
    const name = `user-${users++}`;
    const token = fixture.admit(person(name));
    const closed = closedNamespaces(user).flatMap(markedNames);
    await withRoles(name, user, async () => {
      const answers = await Promise.all(requests.map((request) => textOf(request, token)));
      for (const [index, answer] of answers.entries()) {
        const asked = JSON.stringify(requests[index]);
        const leaked = closed.filter((marked) => answer.includes(marked) && !asked.includes(marked));
        assert.deepEqual(leaked, [], `${asked}\n${answer.slice(0, 2_000)}`);
      }
    });
  };
  await fc.assert(fc.asyncProperty(USER_WITH_REQUESTS, check), { numRuns });
});

test('the same requests name every marked object to an administrator', async () => {
  const paths = [
    '/apis/fleet.everynode.dev/v1/hosts',
    '/apis/metrics.k8s.io/v1beta1/pods',
    '/api/v1/events',
    '/api/v1/secrets',
    '/api/v1/configmaps',
    '/api/v1/serviceaccounts',
    '/apis/fleet.everynode.dev/v1/rolloutpolicies',
    `/apis/fleet.everynode.dev/v1/hosteffects`,
  ];
  const change = { taints: { add: [{ key: 'k', effect: 'NoExecute' }] } };
  const answers = await Promise.all(
    paths.map((path) =>
      textOf(
        path.endsWith('hosteffects')
          ? {
              method: 'POST',
              path,
              headers: { 'content-type': 'application/json' },
              body: { hosts: NODES, change },
            }
          : { method: 'GET', path, headers: {} },
        TEST_TOKEN,
      ),
    ),
  );
  const named = answers.join('\n');
  for (const marked of NAMESPACES.flatMap(markedNames)) assert.ok(named.includes(marked), marked);
});
