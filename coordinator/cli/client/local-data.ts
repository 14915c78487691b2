/** Chooses between the data directory of this machine and the coordinator of a kubeconfig. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDir } from '../../coordinator-settings.js';
import { DATABASE_FILE } from '../../store/data-files.js';
import type { KubeconfigOptions } from './kubeconfig-choice.js';

/** Returns the data directory to work on. Undefined: the coordinator of the kubeconfig does the work. */
export function localData({ data, kubeconfig, context }: KubeconfigOptions): string | undefined {
  if (data !== undefined) return data;
  if (kubeconfig !== undefined || context !== undefined) return undefined;
  const own = defaultDataDir();
  return existsSync(join(own, DATABASE_FILE)) ? own : undefined;
}
