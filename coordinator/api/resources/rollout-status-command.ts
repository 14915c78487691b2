/**
 * Ends `kubectl rollout status ds/NAME` with an error when the DaemonSet's rollout by waves has failed. Otherwise the
 * command waits forever: after a rollback no Pod has the newest template, and kubectl has no failure state for a
 * DaemonSet (pkg/polymorphichelpers/rollout_status.go, DaemonSetStatusViewer). kubectl retries after an ERROR event.
 * Only two responses end it: an error for its first GET, and a DELETED event in its watch. For the latter kubectl
 * prints "object has been deleted", so the server sends the real cause as a warning first. Other clients do not get
 * these responses.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { daemonSetKind, rolloutKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord, Registry, RegistryWatch, WatchEvent } from '../../registry/registry.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';

/** The value of the header `Kubectl-Command` (KEP-859), which kubectl sends since 1.22. */
const COMMAND = 'kubectl rollout status';
const BY_NAME = /^metadata\.name=([^,=!]+)$/;
/** client-go logs an error if a watch ends within a second without an event. */
const SHORT_WATCH_MS = 1_100;

type Events = WatchEvent<KubeObject>[];

/** Throws 409 if the command reads a DaemonSet with a failed rollout. */
export async function refuseFailedRollout(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<void> {
  const { namespace, name } = request.info;
  if (!isTheCommand(kind, request) || namespace === undefined || name === undefined) return;
  const failure = await rolloutFailure(deps.registry, { namespace, name });
  if (failure === undefined) return;
  throw new ApiError('Conflict', failure, { name, group: kind.group, kind: kind.resource });
}

/**
 * Returns `watch`, or a wrapper that ends a watch of the command. Call it before the head of the response is sent,
 * because it may warn.
 */
export async function endWithFailedRollout(
  deps: ApiDeps,
  kind: Kind,
  request: ApiRequest,
  watch: RegistryWatch<KubeObject>,
): Promise<RegistryWatch<KubeObject>> {
  const { namespace, query } = request.info;
  const [, name] = BY_NAME.exec(query.get('fieldSelector') ?? '') ?? [];
  if (!isTheCommand(kind, request) || namespace === undefined || name === undefined) return watch;
  try {
    return await endedByFailure(deps, request, { namespace, name }, watch);
  } catch (error) {
    watch.close();
    throw error;
  }
}

async function endedByFailure(
  { registry, clock, log }: ApiDeps,
  { info: { query }, warn }: ApiRequest,
  ref: Required<ObjectRef>,
  watch: RegistryWatch<KubeObject>,
): Promise<RegistryWatch<KubeObject>> {
  const failure = await rolloutFailure(registry, ref);
  if (failure === undefined) {
    const selection = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
    const rollouts = await registry.watch(rolloutKind, selection);
    return new UntilFailure({ registry, clock, log, ref, watch, rollouts });
  }
  const record = await registry.get<DaemonSet>(daemonSetKind, ref);
  warn(failure);
  const isInitial =
    query.get('sendInitialEvents') !== null || Number(query.get('resourceVersion') ?? 0) === 0;
  return {
    close: () => watch.close(),
    [Symbol.asyncIterator]: () => endedAtOnce(watch, record, isInitial),
  };
}

function isTheCommand({ group, resource }: Kind, { headers }: ApiRequest): boolean {
  return headers.kubectlCommand === COMMAND && group === 'apps' && resource === 'daemonsets';
}

/** The text contains no hosts and no users, because the client may have no right to read Rollouts. */
async function rolloutFailure(registry: Registry, ref: ObjectRef): Promise<string | undefined> {
  const [daemonSet, rollout] = await Promise.all([
    found(registry.get<DaemonSet>(daemonSetKind, ref)),
    found(registry.get<Rollout>(rolloutKind, ref)),
  ]);
  const { metadata, status } = daemonSet ?? {};
  if (!rollout?.status || status?.observedGeneration !== metadata?.generation) return undefined;
  if (!hasFailed(rollout.status)) return undefined;
  const what = rollout.status.phase === 'RolledBack' ? 'failed and was rolled back' : 'failed';
  return `the rollout of daemon set "${ref.name}" ${what}; for the cause: everynode rollout status -n ${ref.namespace} ds/${ref.name}`;
}

/** True if the rollout has failed and no host is still rolling back. */
function hasFailed({ phase, endTime, codes }: RolloutStatus): boolean {
  return (phase === 'Failed' || phase === 'RolledBack') && endTime !== undefined && !codes?.RollingBack;
}

async function found<T extends KubeObject>(record: Promise<ObjectRecord<T>>): Promise<T | undefined> {
  return orUndefined(async () => (await record).object());
}

/** Sends the initial events first, because an informer reports a deletion only for objects that it has received. */
async function* endedAtOnce(
  watch: RegistryWatch<KubeObject>,
  record: ObjectRecord,
  isInitial: boolean,
): AsyncGenerator<Events> {
  try {
    if (isInitial) {
      for await (const batch of watch) {
        yield batch;
        if (batch.some(({ type }) => type === 'BOOKMARK')) break;
      }
    }
    yield [{ type: 'DELETED', record }];
  } finally {
    watch.close();
  }
}

interface UntilFailureOptions {
  registry: Registry;
  clock: Clock;
  log: Logger;
  ref: ObjectRef;
  watch: RegistryWatch<KubeObject>;
  rollouts: RegistryWatch<Rollout>;
}

/**
 * Ends without an event when the rollout fails. The command then opens another watch. Its response can contain the
 * warning.
 */
class UntilFailure implements RegistryWatch<KubeObject> {
  readonly #options: UntilFailureOptions;
  readonly #openedAt: number;
  #ending: Timer | undefined;

  constructor(options: UntilFailureOptions) {
    this.#options = options;
    this.#openedAt = options.clock.monotonic();
    this.#follow().catch((error) => {
      options.log.warn({ err: error }, 'ending a watch of kubectl rollout status: cannot follow its rollout');
      this.close();
    });
  }

  close(): void {
    this.#ending?.cancel();
    this.#options.watch.close();
    this.#options.rollouts.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Events> {
    try {
      for await (const batch of this.#options.watch) {
        yield batch;
        // The controller writes the Rollout before `observedGeneration` of the DaemonSet.
        await this.#endIfFailed();
      }
    } finally {
      this.close();
    }
  }

  async #follow(): Promise<void> {
    for await (const _ of this.#options.rollouts) await this.#endIfFailed();
  }

  async #endIfFailed(): Promise<void> {
    const { registry, ref, clock } = this.#options;
    if (this.#ending || (await rolloutFailure(registry, ref)) === undefined) return;
    const rest = this.#openedAt + SHORT_WATCH_MS - clock.monotonic();
    this.#ending ??= clock.after(Math.max(0, rest), () => this.close());
  }
}
