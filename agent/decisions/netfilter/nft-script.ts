/** The text for `nft -f -` that turns the table in the kernel into the wanted one, in one transaction. */
import { type NftChain, type NftRuleset, type NftSet, TABLE } from './nft-ruleset.js';

/** Elements in one command. */
const ELEMENTS_AT_ONCE = 500;

/**
 * What is in the kernel: nothing; a table of which only the names are known, as after a start of the agent; or the
 * ruleset that was applied before.
 */
export type KernelTable =
  | { state: 'absent' }
  | { state: 'names'; chains: readonly string[]; sets: readonly string[] }
  | { state: 'applied'; ruleset: NftRuleset };

/**
 * Returns the script; "" if there is nothing to change. Unchanged chains and sets are not mentioned. Sets that packets
 * fill keep their elements.
 */
export function nftScript(kernel: KernelTable, wanted: NftRuleset): string {
  const lines = [
    ...newSets(kernel, wanted),
    ...newChains(kernel, wanted),
    ...changedRules(kernel, wanted),
    ...changedElements(kernel, wanted),
    ...staleObjects(kernel, wanted),
  ];
  if (lines.length === 0 && kernel.state === 'applied') return '';
  return `${[`add table ${TABLE}`, ...lines].join('\n')}\n`;
}

/** Returns the script that replaces the table, whatever is in it, in one transaction. Affinity of clients is lost. */
export function replacementScript(wanted: NftRuleset): string {
  return `add table ${TABLE}\ndelete table ${TABLE}\n${nftScript({ state: 'absent' }, wanted)}`;
}

function newSets(kernel: KernelTable, { sets }: NftRuleset): string[] {
  return [...sets].flatMap(([name, set]) => {
    if (kernel.state === 'applied' && kernel.ruleset.sets.has(name)) return [];
    return [`add ${keyword(set)} ${TABLE} ${name} { ${set.type}; }`];
  });
}

function keyword(set: NftSet): string {
  return set.kind === 'map' ? 'map' : 'set';
}

function newChains(kernel: KernelTable, { chains }: NftRuleset): string[] {
  return [...chains].flatMap(([name, { hook }]) => {
    if (kernel.state === 'applied' && kernel.ruleset.chains.has(name)) return [];
    return [`add chain ${TABLE} ${name}${hook === undefined ? '' : ` { ${hook}; }`}`];
  });
}

/** All chains exist by now, so a rule may go to any of them. */
function changedRules(kernel: KernelTable, { chains }: NftRuleset): string[] {
  return [...chains].flatMap(([name, chain]) => {
    const present = kernel.state === 'applied' ? kernel.ruleset.chains.get(name) : undefined;
    if (present && hasSameRules(present, chain)) return [];
    const flush = present || (kernel.state === 'names' && kernel.chains.includes(name));
    const rules = chain.rules.map((rule) => `add rule ${TABLE} ${name} ${rule}`);
    return flush ? [`flush chain ${TABLE} ${name}`, ...rules] : rules;
  });
}

function hasSameRules(one: NftChain, other: NftChain): boolean {
  return (
    one.rules.length === other.rules.length && one.rules.every((rule, index) => rule === other.rules[index])
  );
}

function changedElements(kernel: KernelTable, { sets }: NftRuleset): string[] {
  return [...sets].flatMap(([name, set]) => {
    if (set.kind === 'packets') return [];
    const known = kernel.state === 'applied' ? kernel.ruleset.sets.get(name) : undefined;
    const present = known && known.kind !== 'packets' ? known.elements : new Map<string, string>();
    const removed = [...present].filter(([key, value]) => set.elements.get(key) !== value);
    const added = [...set.elements].filter(([key, value]) => present.get(key) !== value);
    const mustFlush = kernel.state === 'names' && kernel.sets.includes(name);
    return [
      ...(mustFlush ? [`flush ${keyword(set)} ${TABLE} ${name}`] : []),
      ...elementCommands('delete', name, removed),
      ...elementCommands('add', name, added),
    ];
  });
}

function elementCommands(verb: 'add' | 'delete', set: string, elements: [string, string][]): string[] {
  const texts = elements.map(([key, value]) => (value === '' ? key : `${key} : ${value}`));
  const commands: string[] = [];
  for (let start = 0; start < texts.length; start += ELEMENTS_AT_ONCE)
    commands.push(
      `${verb} element ${TABLE} ${set} { ${texts.slice(start, start + ELEMENTS_AT_ONCE).join(', ')} }`,
    );
  return commands;
}

/** Stale chains are emptied first, because they may go to each other, and nft refuses to delete a chain in use. */
function staleObjects(kernel: KernelTable, { chains, sets }: NftRuleset): string[] {
  const present = namesIn(kernel);
  const staleChains = present.chains.filter((name) => !chains.has(name));
  const staleSets = present.sets.filter((name) => !sets.has(name));
  return [
    ...staleChains.map((name) => `flush chain ${TABLE} ${name}`),
    ...staleChains.map((name) => `delete chain ${TABLE} ${name}`),
    ...staleSets.map((name) => `delete set ${TABLE} ${name}`),
  ];
}

function namesIn(kernel: KernelTable): { chains: readonly string[]; sets: readonly string[] } {
  if (kernel.state === 'absent') return { chains: [], sets: [] };
  if (kernel.state === 'names') return kernel;
  return { chains: [...kernel.ruleset.chains.keys()], sets: [...kernel.ruleset.sets.keys()] };
}
