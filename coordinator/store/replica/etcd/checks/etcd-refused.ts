/** Why a coordinator does not start with an etcd. */

/**
 * `code` is a key of EXIT_CODES:
 * - `usage`: the settings contradict each other.
 * - `environment`: etcd or a file is not as it must be, and an operator can change that.
 * - `refused`: this etcd serves something else.
 */
export type EtcdRefusalCode = 'usage' | 'environment' | 'refused';

/** `message` is one sentence for the operator. */
export class EtcdRefused extends Error {
  override name = 'EtcdRefused';

  constructor(
    readonly code: EtcdRefusalCode,
    message: string,
  ) {
    super(message);
  }
}
