/** The stored state of a hollow engine: its containers survive a restart of the agent. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ContainerConfig, ContainerOwner, ObservedContainer } from '../runtime-driver.js';

/** A hollow container. `ready` follows from its image. A Pod's override has precedence over it. */
export interface HollowContainer extends Omit<ObservedContainer, 'podPhase'> {
  owner: ContainerOwner;
  config: ContainerConfig;
  ready: boolean;
}

/** State that a command set for a Pod. Also applies to containers that the Pod starts later. */
export interface PodOverride {
  ready?: boolean;
  phase?: 'Failed' | 'Succeeded';
}

export interface HollowState {
  containers: HollowContainer[];
  /** Names of pulled images. */
  images: string[];
  overrides: Record<string, PodOverride>;
}

/** Returns the stored state, or an empty one if there is no file. Throws when the file exists but cannot be read. */
export function loadHollowState(path: string): HollowState {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as HollowState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { containers: [], images: [], overrides: {} };
  }
}

/** Error codes of a full or read-only disk. */
const NOT_WRITABLE: ReadonlySet<string> = new Set(['ENOSPC', 'EROFS']);

/**
 * Replaces the file atomically, so that a kill leaves the old state or the new one. On a full or read-only disk the
 * state is kept in memory only.
 */
export function saveHollowState(path: string, state: HollowState): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(state));
    renameSync(`${path}.new`, path);
  } catch (error) {
    if (!NOT_WRITABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
