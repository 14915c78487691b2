/** Single parts of the coordinator without anything around them. */
import type { Bench } from '../section.js';
import { measurePlacement } from './placement.js';
import { measureRolloutSteps } from './rollout-steps.js';
import { measureStore } from './store.js';

export async function measureParts(bench: Bench): Promise<void> {
  await measurePlacement(bench);
  await measureRolloutSteps(bench);
  await measureStore(bench);
}
