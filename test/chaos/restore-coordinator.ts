/**
 * Restores a lost coordinator from an older backup: no host may stop a container before an operator confirms the
 * restore.
 */
import { pause } from '../harness/basics/wait-until.js';
import { stoppedWithoutRequest } from './chaos-check.js';
import type { ChaosFleet } from './chaos-fleet.js';
import type { Fault } from './chaos-plan.js';
import type { RequestedState } from './requested-state.js';

type Restore = Extract<Fault, { kind: 'restore coordinator' }>;

/**
 * Runs backup, loss, restore and confirmation, with users who repeat their requests. Returns containers that stopped
 * without a request. Hosts that are disturbed in this round are not checked.
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
    // Pods that this coordinator was deleting may end at any time. All other Pods must keep running.
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
