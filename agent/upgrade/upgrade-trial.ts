/** The stored state of an upgrade on trial. The host rolls back unless the new version reaches the coordinator. */
import { readFileSync, rmSync } from 'node:fs';
import { writePrivateFile } from '../../shared/process/files/private-file.js';

/** Contents of the file. */
interface UpgradeTrial {
  /** Container of the Pod that requested the version. */
  id: string;
  from: string;
  to: string;
  /** Number of starts of the new version so far. */
  starts: number;
}

/** Limit for a version that exits before it reaches the coordinator. */
const MAX_STARTS = 3;

export class UpgradeTrialFile {
  constructor(readonly path: string) {}

  /** Returns undefined if no version is on trial, or if the file is damaged: a rollback is impossible then. */
  read(): UpgradeTrial | undefined {
    try {
      const { id, from, to, starts } = JSON.parse(readFileSync(this.path, 'utf8')) as UpgradeTrial;
      return typeof from === 'string' && typeof to === 'string' ? { id, from, to, starts } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Resolves when the file is on disk. */
  async write(trial: UpgradeTrial): Promise<void> {
    await writePrivateFile(this.path, JSON.stringify(trial));
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** Decides what a start of `version` does about the stored trial. */
export function trialVerdictAtStart(
  trial: UpgradeTrial | undefined,
  version: string,
): 'none' | 'try' | 'fall back' {
  if (trial === undefined) return 'none';
  if (trial.to !== version) return 'none';
  return trial.starts >= MAX_STARTS ? 'fall back' : 'try';
}
