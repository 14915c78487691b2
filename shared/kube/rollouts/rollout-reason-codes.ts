/** The reason codes of hosts in a rollout by waves, as `status.codes` counts them and `why` names them. */

/** Why a host keeps an older Pod: `why` names these, too. `RolloutPaused` and `RolloutFailed` are its first names for them. */
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

/** One of `HOLD_CODES`. */
export type UpdateBlockCode = (typeof UPDATE_BLOCK_CODES)[number];

/** Every code, in the order in which a fleet's are listed. They are part of the API: one may be added, none renamed. */
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
 * One of `ROLLOUT_CODES`. Besides those that hold a host: `Updated`: it has the revision, and is well. `Soaking`: the
 * same, while its wave is watched. `Updating`: its Pod is being replaced. `Failed`: it took the revision and is not well.
 * `RollingBack`: it is to be given the earlier one. `NotEligible`: it has no part in the rollout.
 */
export type RolloutReasonCode = (typeof ROLLOUT_REASON_CODES)[number];
