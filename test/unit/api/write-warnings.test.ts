/** Warnings about a finished write. They never undo the write, and name nodes only to users who may list them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiDeps, ApiRequest } from '../../../coordinator/api/http/api-context.js';
import type { PolicyWrite } from '../../../coordinator/api/ports.js';
import { writeWarnings } from '../../../coordinator/api/resources/write-warnings.js';
import { daemonSetKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { ObjectRecord } from '../../../coordinator/registry/registry.js';
import type { ResourceAccess } from '../../../shared/kube/access/rbac-types.js';
import { type DaemonSetPlan, HOST_ACTIONS, type HostAction } from '../../../shared/kube/fleet/plan-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

const WRITTEN = { object: () => ({ metadata: { name: 'gentle' } }) } as unknown as ObjectRecord<KubeObject>;

/** Returns the warnings and the log of a create by a user with these rights. */
async function warningsOf(
  kind: Kind,
  foresee: Partial<ApiDeps['planner']>,
  { rights = [] as string[], dryRun = false, headers = {} } = {},
) {
  const warnings: string[] = [];
  const logged: unknown[] = [];
  const decide = (_user: unknown, { verb, resource }: ResourceAccess) => ({
    allowed: rights.includes(`${verb} ${resource}`),
  });
  const parts = {
    ...{ planner: foresee, identities: { authorizer: { decide } } },
    log: { error: ({ err }: { err: unknown }) => logged.push(err) },
  } as unknown as ApiDeps;
  const request = {
    ...{ info: { namespace: 'default' }, user: { username: 'kim', groups: [] }, headers },
    warn: (text: string) => warnings.push(text),
  } as unknown as ApiRequest;
  await (await writeWarnings(parts, kind, request, { dryRun }))(WRITTEN);
  return { warnings, logged };
}

const saysWhatItMay = {
  warningsFor: async ({ mayNameNodes, before }: PolicyWrite) => [`${mayNameNodes} ${before === undefined}`],
};

test('a user who may list Nodes gets their names, others do not', async () => {
  assert.deepEqual((await warningsOf(rolloutPolicyKind, saysWhatItMay)).warnings, ['false true']);
  const named = await warningsOf(rolloutPolicyKind, saysWhatItMay, { rights: ['list nodes'] });
  assert.deepEqual(named.warnings, ['true true']);
});

test('an error of a warning is logged, and the write succeeds', async () => {
  const error = new Error('a bug');
  const fail = () => Promise.reject(error);
  assert.deepEqual(await warningsOf(rolloutPolicyKind, { warningsFor: fail }), {
    warnings: [],
    logged: [error],
  });
  const planned = await warningsOf(daemonSetKind, { planDaemonSet: fail }, { dryRun: true });
  assert.deepEqual(planned, { warnings: [], logged: [error] });
});

const CASES: [rule: string, changed: HostAction | undefined, headers: object, expected: string[]][] = [
  ['a change', 'replace', {}, ['plan: 3 hosts change', 'plan: assuming that wave b is approved']],
  ['a change that waits', 'wait', {}, ['plan: 3 hosts change', 'plan: assuming that wave b is approved']],
  ['no change', undefined, {}, []],
  ['a change with Prefer: return=minimal', 'replace', { prefer: 'return=minimal' }, []],
];

for (const [rule, changed, headers, expected] of CASES) {
  test(`a dry run of a DaemonSet with ${rule} causes ${expected.length} warnings`, async () => {
    const counts = Object.fromEntries(HOST_ACTIONS.map((action) => [action, action === changed ? 3 : 0]));
    const plan = {
      counts,
      sentence: '3 hosts change',
      assumptions: ['Pods start in 5 s', 'wave b is approved'],
    };
    const planDaemonSet = async () => plan as unknown as DaemonSetPlan;
    const { warnings } = await warningsOf(daemonSetKind, { planDaemonSet }, { dryRun: true, headers });
    assert.deepEqual(warnings, expected);
  });
}
