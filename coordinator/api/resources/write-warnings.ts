/**
 * Warnings that follow from all that is stored, not from the object alone: what a dry run of a DaemonSet would do, and what a
 * RolloutPolicy finds that is written or taken away. kubectl prints them.
 */

import type { Access } from '../../../shared/kube/access/rbac-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { CHANGING_ACTIONS } from '../../../shared/kube/fleet/plan-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { daemonSetKind, rolloutPolicyKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord } from '../../registry/registry.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';

/** To be called once the write is done, with what it made; with nothing, where it took the object away. */
type WarnOfWrite = (after?: ObjectRecord<KubeObject>) => Promise<void>;

/** Whoever may do this is told names of nodes. */
const LIST_NODES: Access = {
  ...{ verb: 'list', group: '', resource: 'nodes' },
  ...{ subresource: '', namespace: '', name: '' },
};

const SILENT: WarnOfWrite = async () => undefined;

/**
 * To be called before the write, for what is stored until then. What it answers never fails: the write is done by then, and an
 * error would say that it was not.
 */
export async function writeWarnings(
  deps: ApiDeps,
  kind: Kind,
  request: ApiRequest,
  { dryRun }: { dryRun?: boolean | undefined },
): Promise<WarnOfWrite> {
  if (kind.resource === rolloutPolicyKind.resource) {
    const before = await stored(deps, rolloutPolicyKind, request);
    return orSilent(deps, (after) =>
      warnOfPolicy(deps, before, after?.object() as RolloutPolicy | undefined, request),
    );
  }
  if (!dryRun || kind.resource !== daemonSetKind.resource) return SILENT;
  const before = await stored(deps, daemonSetKind, request);
  return orSilent(deps, (after) =>
    warnOfPlan(deps, before, after?.object() as DaemonSet | undefined, request),
  );
}

function orSilent({ log }: Pick<ApiDeps, 'log'>, warnOfWrite: WarnOfWrite): WarnOfWrite {
  return async (after) => {
    try {
      await warnOfWrite(after);
    } catch (error) {
      log.error({ err: error }, 'warnings of a write could not be told');
    }
  };
}

async function stored<T extends KubeObject>(
  { registry }: ApiDeps,
  kind: Kind<T>,
  { info: { name, namespace } }: ApiRequest,
): Promise<T | undefined> {
  if (name === undefined) return undefined;
  try {
    return (await registry.get(kind, { name, ...(namespace ? { namespace } : {}) })).object();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

async function warnOfPolicy(
  { planner, identities }: ApiDeps,
  before: RolloutPolicy | undefined,
  after: RolloutPolicy | undefined,
  { warn, user }: Pick<ApiRequest, 'warn' | 'user'>,
): Promise<void> {
  const { allowed } = identities.authorizer.decide(user, LIST_NODES);
  for (const remark of await planner.warningsFor({ before, after, mayNameNodes: allowed })) warn(remark);
}

/**
 * A line in short, one for each thing that would keep it from its end. Who prefers a minimal answer (RFC 7240) is not warned: an
 * editor that asks at every pause of typing.
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
  for (const text of plan.assumptions.slice(1)) warn(`plan: supposed that ${text}`);
}
