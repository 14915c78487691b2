/** Reads the output of `nft -j list table` and `nft -j list chains`. */
import type { NftRuleset } from './nft-ruleset.js';

/** The table as nft lists it. */
export interface TableListing {
  chains: string[];
  /** Sets and maps. */
  sets: string[];
  /** Number of rules by chain. */
  rules: Map<string, number>;
  /** Number of elements by set. */
  elements: Map<string, number>;
  /** Text of all rules and of the sets that packets do not fill. It differs if another program changed the table. */
  content: string;
}

interface ListedObject {
  name?: string;
  table?: string;
  chain?: string;
  handle?: number;
  flags?: unknown;
  elem?: unknown[];
}

type Listed = Record<string, ListedObject | undefined>;

/** Returns the table. Throws if the text is not a listing. */
export function readTableListing(json: string): TableListing {
  const listing: TableListing = { chains: [], sets: [], rules: new Map(), elements: new Map(), content: '' };
  const content: unknown[] = [];
  for (const entry of entries(json)) {
    const { chain, rule } = entry;
    const set = entry.set ?? entry.map;
    if (chain?.name !== undefined) listing.chains.push(chain.name);
    if (rule?.chain !== undefined) listing.rules.set(rule.chain, (listing.rules.get(rule.chain) ?? 0) + 1);
    if (set?.name !== undefined) {
      listing.sets.push(set.name);
      listing.elements.set(set.name, set.elem?.length ?? 0);
    }
    // Packets fill sets with flags: timeouts of their elements change.
    content.push(set?.flags === undefined ? entry : { ...set, elem: [] });
  }
  listing.content = JSON.stringify(content);
  return listing;
}

/**
 * Returns the handles of the table's chains, as one text. A chain that is deleted and created again has another handle.
 * Undefined: there are no such chains.
 */
export function chainHandles(json: string): string | undefined {
  const own = entries(json).flatMap(({ chain }) => (chain?.table === 'everynode' ? [chain] : []));
  return own.length === 0 ? undefined : own.map(({ name, handle }) => `${name} ${handle}`).join();
}

/** Returns true if the table has as many rules and elements as were applied. */
export function isComplete(listing: TableListing, { chains, sets }: NftRuleset): boolean {
  const hasRules = [...chains].every(([name, { rules }]) => (listing.rules.get(name) ?? 0) === rules.length);
  const hasElements = [...sets].every(
    ([name, set]) => set.kind === 'packets' || listing.elements.get(name) === set.elements.size,
  );
  const hasAllSets = [...sets.keys()].every((name) => listing.sets.includes(name));
  return hasRules && hasElements && hasAllSets && listing.chains.length === chains.size;
}

function entries(json: string): Listed[] {
  const { nftables } = JSON.parse(json) as { nftables?: Listed[] };
  if (!Array.isArray(nftables)) throw new Error('nft printed no listing');
  return nftables;
}
