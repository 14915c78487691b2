/** Behaviours of hollow containers, by image name. */
import type { HollowProcessOutcome } from './hollow-process.js';

/** How a hollow engine treats an image. Times are ms. By default everything happens at once and nothing fails. */
export interface ImageBehaviour {
  pull?: { afterMs?: number; error?: { reason: string; message: string } };
  /** Error message of a failing start. */
  start?: { error: string };
  ready?: { afterMs: number } | 'never';
  /**
   * Exits after this time. `never`: runs until it is stopped. Default: containers that run to completion exit with 0 after
   * a second, other containers never exit.
   */
  exit?: { afterMs: number; code: number; oomKilled?: boolean } | 'never';
  /** Time from SIGTERM to the exit. A shorter grace period ends in SIGKILL. */
  stop?: { afterMs: number };
  /** Lines that the container logs at its start. */
  log?: string[];
  /** Results of exec commands, by the command's words joined by spaces. Others behave as `HollowProcess` defines. */
  exec?: Record<string, HollowProcessOutcome>;
}

/** A row of the table. `*` in the pattern matches any characters. */
export interface ImageBehaviourRow extends ImageBehaviour {
  pattern: string;
}

/** Used when no given row matches. The names are those of upstream's test images in the conformance cases. */
const DEFAULT_IMAGES: readonly ImageBehaviourRow[] = [
  { pattern: '*:broken', ready: 'never' },
  {
    pattern: '*:non-existent',
    pull: { error: { reason: 'ErrImagePull', message: 'manifest unknown: manifest unknown' } },
  },
  // For images that are pulled before any Pod uses them, so that no Pod's annotation can slow them down.
  { pattern: '*/slow-to-pull:*', pull: { afterMs: 500 } },
];

/** Returns the first matching row. Without one the image is ready at once and runs until it is stopped. */
export function behaviourOf(image: string, table: readonly ImageBehaviourRow[]): ImageBehaviour {
  return [...table, ...DEFAULT_IMAGES].find((row) => matches(image, row.pattern)) ?? {};
}

function matches(image: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(image);
}
