/** A version on trial: the host goes back to the one before unless the new one reaches the coordinator. */
import { readFileSync, rmSync } from 'node:fs';
import { writePrivateFile } from '../../shared/process/files/private-file.js';

/** As it lies on the disk while a version is on trial. */
interface UpgradeTrial {
  /** The container of the Pod that asked for it. */
  id: string;
  from: string;
  to: string;
  /** Starts of the new version so far. */
  starts: number;
}

/** Of a version that ends again and again before it reaches the coordinator. */
const MAX_STARTS = 3;

export class UpgradeTrialFile {
  constructor(readonly path: string) {}

  /** Undefined when no version is on trial; also when the file is damaged: nothing can be gone back to then. */
  read(): UpgradeTrial | undefined {
    try {
      const { id, from, to, starts } = JSON.parse(readFileSync(this.path, 'utf8')) as UpgradeTrial;
      return typeof from === 'string' && typeof to === 'string' ? { id, from, to, starts } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Resolves when it is on the disk. */
  async write(trial: UpgradeTrial): Promise<void> {
    await writePrivateFile(this.path, JSON.stringify(trial));
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

/** What a start of `version` means for the trial on the disk. */
export function trialVerdictAtStart(
  trial: UpgradeTrial | undefined,
  version: string,
): 'none' | 'try' | 'fall back' {
  if (trial === undefined) return 'none';
  if (trial.to !== version) return 'none';
  return trial.starts >= MAX_STARTS ? 'fall back' : 'try';
}
