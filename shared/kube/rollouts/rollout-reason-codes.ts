/** Reason codes of hosts in a rollout. `status.codes` counts hosts by code, and `everynode why` prints them. */

/** Codes of hosts that keep an older Pod. Also printed by `everynode why`. */
export const UPDATE_BLOCK_CODES = [
  'Reverted',
  'Budget',
  'WaitingForApproval',
  'WaitingForWave',
  'OutsideWindow',
  'AwaitingResync',
  'UpdateLocked',
  'ImageNotPulled',
  'NoTrustedTime',
  'InsufficientResources',
  'RolloutPaused',
  'Frozen',
  'RolloutFailed',
  'Skipped',
  'DeferredOffline',
] as const;

export type UpdateBlockCode = (typeof UPDATE_BLOCK_CODES)[number];

/** All codes in display order. */
export const ROLLOUT_REASON_CODES = [
  'Updated',
  'Soaking',
  'Updating',
  'Failed',
  'RollingBack',
  ...UPDATE_BLOCK_CODES,
  'NotEligible',
] as const;

/**
 * Codes besides `UPDATE_BLOCK_CODES`:
 * - `Updated`: the host runs the revision and its Pod is available.
 * - `Soaking`: like `Updated`, while the wave soaks.
 * - `Updating`: the host's Pod is being replaced.
 * - `Failed`: the host runs the revision and its Pod is not available.
 * - `RollingBack`: the host is about to get the previous revision.
 * - `NotEligible`: the DaemonSet does not run on the host.
 */
export type RolloutReasonCode = (typeof ROLLOUT_REASON_CODES)[number];
