/** What the verbs share: collaborators only, no state of their own. */
import type { Random } from '../../shared/process/chance.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Kind } from '../kinds/kind.js';
import type { Store } from '../store/store.js';
import type { FindAccount } from './account-volume.js';

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
