/** A coordinator that is lost and restored from an older backup: until a person confirms, no host may end anything. */
import { pause } from '../harness/basics/wait-until.js';
import { stoppedWithoutRequest } from './chaos-check.js';
import type { ChaosFleet } from './chaos-fleet.js';
import type { Fault } from './chaos-plan.js';
import type { RequestedState } from './requested-state.js';

type Restore = Extract<Fault, { kind: 'restore coordinator' }>;

/**
 * Plays it to the end: backup, loss, restore, confirmation, and people who ask for everything again. Answers what ended in between
 * though nobody had asked for it; on hosts that are disturbed in this round nobody can tell.
 */
export async function loseAndRestore(
  { backupAgeMs, changesAll, unconfirmedMs, repeatsFirst }: Restore,
  {
    fleet,
    book,
    isDisturbed,
  }: { fleet: ChaosFleet; book: RequestedState; isDisturbed: (host: string) => boolean },
): Promise<string[]> {
  const backup = await fleet.backUp();
  if (changesAll) await book.changeAll();
  await pause(backupAgeMs);
  return book.exclusively(async () => {
    await fleet.killCoordinator();
    // What this one had deleted may end at any time, and what it had not, at none.
    const kept = fleet.storedPods().filter(({ metadata }) => !metadata.deletionTimestamp);
    const before = await fleet.observeHosts();
    await fleet.restore(backup);
    await fleet.startCoordinator();
    await pause(unconfirmedMs);
    if (repeatsFirst) await book.resendRequests();
    const ended = stoppedWithoutRequest(before, await fleet.observeHosts(), { kept, isDisturbed });
    await fleet.confirmRestore();
    if (!repeatsFirst) await book.resendRequests();
    return ended;
  });
}
