/** How hollow containers behave, by the name of their image. */
import type { HollowProcessOutcome } from './hollow-process.js';

/** What an image does in a hollow runtime. Times are ms; an absent key means at once, and without failing. */
export interface ImageBehaviour {
  pull?: { afterMs?: number; error?: { reason: string; message: string } };
  /** The engine's own words when a start is to fail. */
  start?: { error: string };
  ready?: { afterMs: number } | 'never';
  /** Ends by itself; absent = runs until stopped. */
  exit?: { afterMs: number; code: number; oomKilled?: boolean };
  /** How long it takes to end after SIGTERM, if the grace lasts that long. */
  stop?: { afterMs: number };
  /** Lines it prints as it starts. */
  log?: string[];
  /** What commands in it do, by the command's words joined by spaces; others are as `HollowProcess` has them. */
  exec?: Record<string, HollowProcessOutcome>;
}

/** A row of the table: `*` in the pattern stands for any characters. */
export interface ImageBehaviourRow extends ImageBehaviour {
  pattern: string;
}

/** What holds when no row of the given table matches: upstream's test images by the names the conformance cases use. */
const DEFAULT_IMAGES: readonly ImageBehaviourRow[] = [
  { pattern: '*:broken', ready: 'never' },
  {
    pattern: '*:non-existent',
    pull: { error: { reason: 'ErrImagePull', message: 'manifest unknown: manifest unknown' } },
  },
  // For images that are fetched before any Pod of theirs is there to pretend something.
  { pattern: '*/slow-to-pull:*', pull: { afterMs: 500 } },
];

/** The first row that matches, then the defaults, then an image that is ready at once and runs until stopped. */
export function behaviourOf(image: string, table: readonly ImageBehaviourRow[]): ImageBehaviour {
  return [...table, ...DEFAULT_IMAGES].find((row) => matches(image, row.pattern)) ?? {};
}

function matches(image: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(image);
}
