/** What the verbs share: collaborators only, no state of their own. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { Kind } from '../kinds/kind.js';
import type { Store } from '../store/store.js';
import type { FindAccount } from './admission/service-account-admission.js';

export interface RegistryDeps {
  store: Store;
  kinds: readonly Kind[];
  clock: Clock;
  log: Logger;
  /** For uids and generated names. */
  random: Random;
  /** Absent: Pods get no tokens of accounts. */
  findAccount?: FindAccount;
}
