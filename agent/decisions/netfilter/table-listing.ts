/** Reads the output of `nft -j list table` and `nft -j list chains`. */
import { SAME_DEVICE } from './base-rules.js';
import { type NftRuleset, TABLE } from './nft-ruleset.js';

const TABLE_NAME = TABLE.replace('ip ', '');

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

export interface TableNames {
  chains: string[];
  /** Sets and maps. */
  sets: string[];
}

/** Returns the names in the table, from listings of all chains, sets and maps. */
export function tableNames(...listings: readonly string[]): TableNames {
  const listed = listings.flatMap(entries);
  const namesOf = (objects: (ListedObject | undefined)[]) =>
    objects.flatMap((object) => (object?.table === TABLE_NAME ? (object?.name ?? []) : []));
  return {
    chains: namesOf(listed.map(({ chain }) => chain)),
    sets: namesOf(listed.map(({ set, map }) => set ?? map)),
  };
}

/** nft needs about 75 bytes of memory to list one character of the rules, so about 30 MB. */
const MAX_CHARACTERS = 400_000;

/**
 * Returns true if the table can be listed with little memory. A table with session affinity is not small, because its
 * sets may have 65,535 clients for each endpoint, and any client of the network can fill them.
 */
export function isSmallTable({ chains, sets }: NftRuleset): boolean {
  let characters = 0;
  for (const { rules } of chains.values()) for (const rule of rules) characters += rule.length;
  for (const [name, set] of sets) {
    if (set.kind !== 'packets')
      for (const [key, value] of set.elements) characters += key.length + value.length;
    else if (name !== SAME_DEVICE.name) return false;
  }
  return characters <= MAX_CHARACTERS;
}

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
  const own = entries(json).flatMap(({ chain }) => (chain?.table === TABLE_NAME ? [chain] : []));
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
