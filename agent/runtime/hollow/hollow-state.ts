/** What a hollow engine remembers, so that its containers outlive the agent's process. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ContainerConfig, ContainerOwner, ObservedContainer } from '../runtime-driver.js';

/** A hollow container. `ready` is what it was told by its image; an order to its Pod goes above that. */
export interface HollowContainer extends Omit<ObservedContainer, 'podPhase'> {
  owner: ContainerOwner;
  config: ContainerConfig;
  ready: boolean;
}

/** What a Pod was told by command; holds for its later containers too. */
export interface PodOverride {
  ready?: boolean;
  phase?: 'Failed' | 'Succeeded';
}

export interface HollowState {
  containers: HollowContainer[];
  /** Images that were pulled. */
  images: string[];
  overrides: Record<string, PodOverride>;
}

/** The state as last saved; empty when nothing was. Throws when the file is there but cannot be read. */
export function loadHollowState(path: string): HollowState {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as HollowState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { containers: [], images: [], overrides: {} };
  }
}

/** What a disk says that takes no writes now. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EROFS']);

/**
 * Replaces the file in one step, so that a killed process leaves the old state or the new one. Where there is no room, what the
 * engine pretends ends with the process.
 */
export function saveHollowState(path: string, state: HollowState): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(state));
    renameSync(`${path}.new`, path);
  } catch (error) {
    if (!NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
