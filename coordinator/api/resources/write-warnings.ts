/**
 * Warnings that depend on other stored objects: the effects of a DaemonSet's dry run, and problems of a written or
 * deleted RolloutPolicy. kubectl prints them.
 */

import type { Access } from '../../../shared/kube/access/rbac-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { CHANGING_ACTIONS } from '../../../shared/kube/fleet/plan-types.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { daemonSetKind, rolloutPolicyKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord } from '../../registry/registry.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';

/** Call it after the write with the stored object, or without one after a deletion. */
type WarnOfWrite = (after?: ObjectRecord<KubeObject>) => Promise<void>;

/** Users with this right get the names of nodes in warnings. */
const LIST_NODES: Access = {
  ...{ verb: 'list', group: '', resource: 'nodes' },
  ...{ subresource: '', namespace: '', name: '' },
};

const NO_WARNINGS: WarnOfWrite = async () => undefined;

/**
 * Call it before the write, because it reads the stored object. The returned function never fails: the write has
 * succeeded by then, and an error would mean that it had not.
 */
export async function writeWarnings(
  deps: ApiDeps,
  kind: Kind,
  request: ApiRequest,
  { dryRun }: { dryRun?: boolean | undefined },
): Promise<WarnOfWrite> {
  if (kind.resource === rolloutPolicyKind.resource) {
    const before = await stored(deps, rolloutPolicyKind, request);
    return neverFailing(deps, (after) =>
      warnOfPolicy(deps, before, after?.object() as RolloutPolicy | undefined, request),
    );
  }
  if (!dryRun || kind.resource !== daemonSetKind.resource) return NO_WARNINGS;
  const before = await stored(deps, daemonSetKind, request);
  return neverFailing(deps, (after) =>
    warnOfPlan(deps, before, after?.object() as DaemonSet | undefined, request),
  );
}

function neverFailing({ log }: Pick<ApiDeps, 'log'>, warnOfWrite: WarnOfWrite): WarnOfWrite {
  return async (after) => {
    try {
      await warnOfWrite(after);
    } catch (error) {
      log.error({ err: error }, 'failed to compute the warnings of a write');
    }
  };
}

async function stored<T extends KubeObject>(
  { registry }: ApiDeps,
  kind: Kind<T>,
  { info: { name, namespace } }: ApiRequest,
): Promise<T | undefined> {
  if (name === undefined) return undefined;
  return orUndefined(async () =>
    (await registry.get(kind, { name, ...(namespace ? { namespace } : {}) })).object(),
  );
}

async function warnOfPolicy(
  { planner, identities }: ApiDeps,
  before: RolloutPolicy | undefined,
  after: RolloutPolicy | undefined,
  { warn, user }: Pick<ApiRequest, 'warn' | 'user'>,
): Promise<void> {
  const { allowed } = identities.authorizer.decide(user, LIST_NODES);
  for (const warning of await planner.warningsFor({ before, after, mayNameNodes: allowed })) warn(warning);
}

/**
 * Warns with a summary and one line for each assumption. `Prefer: return=minimal` (RFC 7240) turns it off for editors
 * that send a dry run at every pause of typing.
 */
async function warnOfPlan(
  { planner }: ApiDeps,
  before: DaemonSet | undefined,
  after: DaemonSet | undefined,
  { warn, headers }: Pick<ApiRequest, 'warn' | 'headers'>,
): Promise<void> {
  if (!after || headers.prefer === 'return=minimal') return;
  const plan = await planner.planDaemonSet(after, before);
  if (!CHANGING_ACTIONS.some((action) => plan.counts[action] > 0)) return;
  warn(`plan: ${plan.sentence}`);
  for (const text of plan.assumptions.slice(1)) warn(`plan: assuming that ${text}`);
}
