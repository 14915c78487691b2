/**
 * Which coordinator's address an agent connects to. A round tries every address once, without a pause between two
 * addresses. The back-off of the link follows a whole round.
 */

/** Timeout for the TCP connection to an address, if another address follows in the round. */
export const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Timeout for the TCP and TLS connection in the first round: the kernel of a stopped coordinator still accepts TCP
 * connections. It doubles with each failed round, and then ends, so that a host with a very slow network connects.
 */
export const HANDSHAKE_TIMEOUT_MS = 4_000;
const LIMITED_ROUNDS = 2;

/** Addresses are `https://HOST:PORT`. */
export interface AddressRound {
  /** Learnt from the coordinator, in its order. */
  readonly learnt: readonly string[];
  /** From the settings; not empty. */
  readonly configured: readonly string[];
  /** The address of the last live link; absent before the first. */
  readonly lastGood?: string | undefined;
  /** Addresses that failed in this round. */
  readonly failed: ReadonlySet<string>;
  /** Rounds since the last live link in which every address failed. */
  readonly failedRounds: number;
}

/**
 * The timeouts are absent for the last address of a round: no other address waits for it, and on a slow network a
 * connection may take longer.
 */
export type AddressStep =
  | {
      readonly kind: 'connect';
      readonly address: string;
      /** For TCP. */
      readonly connectTimeoutMs?: number;
      /** For TCP and TLS. */
      readonly handshakeTimeoutMs?: number;
    }
  /** Every address failed: wait, then start another round. */
  | { readonly kind: 'wait' };

/** Returns all addresses in the order in which a round tries them. */
export function addressOrder({
  learnt,
  configured,
  lastGood,
}: Omit<AddressRound, 'failed' | 'failedRounds'>): string[] {
  const known = [...learnt, ...configured];
  // The address of the last link may have left both lists: the coordinator was removed from the fleet.
  return [...new Set(lastGood !== undefined && known.includes(lastGood) ? [lastGood, ...known] : known)];
}

export function nextAddress(round: AddressRound): AddressStep {
  const [address, following] = addressOrder(round).filter((each) => !round.failed.has(each));
  if (address === undefined) return { kind: 'wait' };
  if (following === undefined) return { kind: 'connect', address };
  const { failedRounds } = round;
  return {
    ...{ kind: 'connect', address, connectTimeoutMs: CONNECT_TIMEOUT_MS },
    ...(failedRounds < LIMITED_ROUNDS && { handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS * 2 ** failedRounds }),
  };
}
