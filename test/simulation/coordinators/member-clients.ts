/** Clients of simulated coordinators: they write with compare-and-swap, and watch. They go on at another member after a failure. */
import { Expired, KeyExists, KeyMissing, RevisionMismatch } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import type { Write } from '../../../coordinator/store/write-rules.js';
import type { SeededRandom } from '../machines/seeded-random.js';
import type { SimulatedProcess } from '../machines/simulated-process.js';
import type { LogAudit } from './log-audit.js';
import type { Serving, SimulatedMember } from './simulated-member.js';

const KEYS = ['/a', '/b', '/c', '/d', '/e'];
/** A client waits this long for an answer. */
const TIMEOUT_MS = 8_000;

export interface ClientDeps {
  readonly members: readonly SimulatedMember[];
  /** The client's own process, without faults. */
  readonly process: SimulatedProcess;
  readonly random: SeededRandom;
  readonly audit: LogAudit;
  readonly isOver: () => boolean;
  note(event: string): void;
}

interface Refusal {
  readonly write: Write;
  readonly why: string;
}

/** Writes until `isOver`. Returns the writes that were refused, which must never take effect. */
export async function runWriter(name: string, deps: ClientDeps): Promise<readonly Refusal[]> {
  const { process, random, isOver, members } = deps;
  const refusals: Refusal[] = [];
  for (let count = 1; !isOver(); count++) {
    await process.pause(random.integer(10, 250));
    const { serving } = random.pick(members);
    if (serving)
      await Promise.race([process.pause(TIMEOUT_MS), write(`${name}-${count}`, serving, deps, refusals)]);
  }
  return refusals;
}

/** Resolves when the leader answers, which may be never. */
async function write(value: string, serving: Serving, deps: ClientDeps, refusals: Refusal[]): Promise<void> {
  const { audit, random, note } = deps;
  await delivered(serving);
  const request = drawWrite(value, serving, random);
  audit.requested(request);
  try {
    const revision = await serving.store.write(request);
    await delivered(serving);
    audit.acknowledged(request, revision);
    note('write acknowledged');
  } catch (error) {
    await delivered(serving);
    const why = error instanceof StoreError ? error.code : (error as Error).constructor.name;
    note(`write refused: ${why}`);
    if (changedNothing(error)) refusals.push({ write: request, why });
  }
}

function changedNothing(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'unavailable' || error.code === 'full';
  return error instanceof KeyExists || error instanceof KeyMissing || error instanceof RevisionMismatch;
}

function drawWrite(value: string, { store }: Serving, random: SeededRandom): Write {
  const key = random.pick(KEYS);
  const stored = store.get(key);
  if (!stored) return { kind: 'create', key, value: Buffer.from(value) };
  const { revision } = stored;
  if (random.isTrue(0.15)) return { kind: 'delete', key, revision };
  return { kind: 'update', key, value: Buffer.from(value), revision };
}

/** Resolves when the process of the leader runs. */
function delivered({ process }: Serving): Promise<void> {
  return new Promise((resolve) => process.deliver(resolve));
}

/** Watches all keys until `isOver`, and continues after the last revision that it has seen. */
export async function runWatcher(deps: ClientDeps): Promise<void> {
  const { process, random, members, isOver } = deps;
  const place = { last: 0 };
  while (!isOver()) {
    await process.pause(random.integer(50, 500));
    const { serving } = random.pick(members);
    if (serving) await watchOnce(serving, deps, place);
  }
}

/** Watches until the leader ends, or the client connects again for a reason of its own. */
async function watchOnce(serving: Serving, deps: ClientDeps, place: { last: number }): Promise<void> {
  const { process, random, note } = deps;
  const connection = { isOpen: true };
  const watch = serving.store.watch(place.last);
  const ended = (async () => {
    try {
      for await (const { changes, revision } of watch) {
        await delivered(serving);
        if (!connection.isOpen) return;
        deps.audit.watched(place.last, changes, revision);
        place.last = Math.max(place.last, revision);
        if (changes.length > 0) note('watch saw changes');
      }
    } catch (error) {
      if (!(error instanceof Expired)) throw error;
      note('watch expired');
      if (connection.isOpen) place.last = Math.max(place.last, serving.store.revision);
    } finally {
      connection.isOpen = false;
    }
  })();
  ended.catch((error: unknown) => deps.audit.fail(`a watch failed: ${String(error)}`));
  const until = process.clock.monotonic() + random.integer(1_000, 30_000);
  while (connection.isOpen && !serving.process.isOver && process.clock.monotonic() < until)
    await process.pause(200);
  connection.isOpen = false;
  watch.close();
}
