/** Records changes of a spec in the status of its object, for kinds without a controller that keeps revisions. */
import { mergePatchBetween } from '../../shared/kube/objects/merge-patch.js';
import { toTimestamp } from '../../shared/kube/objects/meta.js';
import type {
  ObjectWithHistory,
  PastSpec,
  SpecHistoryStatus,
} from '../../shared/kube/objects/spec-history.js';
import type { WriteContext } from './kind.js';
import { semanticallyEqual } from './validation/semantic-equality.js';

/** Like the default of revisionHistoryLimit in upstream's workloads. */
const MAX_PAST_SPECS = 10;
/** A longer history would make each read of the object slow. */
const MAX_HISTORY_BYTES = 256 * 1024;

/** Sets the generation and the status of a new object, in place. */
export function recordFirstSpec(next: ObjectWithHistory, context: WriteContext): void {
  next.metadata.generation = 1;
  next.status = changeBy(context);
}

/** Sets the generation and the status of `next`, in place. What a client sends there has no effect. */
export function recordSpecChange(
  next: ObjectWithHistory,
  current: ObjectWithHistory,
  context: WriteContext,
): void {
  const { generation = 1 } = current.metadata;
  next.metadata.generation = generation;
  if (current.status) next.status = current.status;
  else delete next.status;
  if (semanticallyEqual(next.spec, current.spec)) return;
  next.metadata.generation = generation + 1;
  const history = historyAfter(next, current, generation);
  next.status = { ...changeBy(context), ...(history.length > 0 && { history }) };
}

function changeBy({ now, user }: WriteContext): SpecHistoryStatus {
  return { changedAt: toTimestamp(now), ...(user !== undefined && { changedBy: user }) };
}

/** Leaves out the oldest specs that are too many or too large. The others remain without a gap. */
function historyAfter(next: ObjectWithHistory, current: ObjectWithHistory, generation: number): PastSpec[] {
  const { changedAt, changedBy, history = [] } = current.status ?? {};
  const undo = mergePatchBetween({ ...next.spec }, { ...current.spec }) ?? {};
  const past: PastSpec = {
    generation,
    ...(changedAt !== undefined && { changedAt }),
    ...(changedBy !== undefined && { changedBy }),
    undo,
  };
  const kept: PastSpec[] = [];
  let bytes = 0;
  for (const each of [past, ...history].slice(0, MAX_PAST_SPECS)) {
    bytes += bytesOf(each);
    if (bytes > MAX_HISTORY_BYTES) break;
    kept.push(each);
  }
  return kept;
}

/**
 * Returns the object without its oldest specs, so that it is smaller by `excess` bytes. Without this an object near the
 * limit of the store could not be changed any more, because its history would not fit.
 */
export function dropPastSpecs<T extends ObjectWithHistory>(object: T, excess: number): T {
  const { history = [], ...status } = object.status ?? {};
  const kept = [...history];
  for (let left = excess; left > 0; ) {
    const oldest = kept.pop();
    if (!oldest) break;
    left -= bytesOf(oldest);
  }
  return { ...object, status: { ...status, ...(kept.length > 0 && { history: kept }) } };
}

/** The store counts bytes. A character can have three. */
function bytesOf(past: PastSpec): number {
  return Buffer.byteLength(JSON.stringify(past));
}
