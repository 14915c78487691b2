/** Lists of coordinators' addresses: `https://HOST:PORT`. */
import { MAX_ADDRESS_LENGTH, MAX_COORDINATORS } from './messages/link-messages.js';

/** Returns the address without path, or undefined if it is not the address of a coordinator. */
export function readCoordinatorAddress(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_ADDRESS_LENGTH || !URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, origin } = new URL(text);
  const isAddress = protocol === 'https:' && hostname !== '' && username === '' && password === '';
  return isAddress ? origin : undefined;
}

/** Returns the valid addresses of a list without duplicates, in its order, at most `MAX_COORDINATORS`. */
export function validCoordinatorAddresses(list: readonly unknown[]): string[] {
  const valid = new Set<string>();
  for (const each of list) {
    const address = readCoordinatorAddress(each);
    if (address !== undefined) valid.add(address);
  }
  return [...valid].slice(0, MAX_COORDINATORS);
}
