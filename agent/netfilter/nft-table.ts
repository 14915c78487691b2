/** The table of the service proxy in the kernel. */
import { type NftRuleset, TABLE } from '../decisions/netfilter/nft-ruleset.js';
import { type KernelTable, nftScript, replacementScript } from '../decisions/netfilter/nft-script.js';
import { SAMPLE_NODE, sampleServices } from '../decisions/netfilter/sample-services.js';
import { serviceRuleset } from '../decisions/netfilter/service-ruleset.js';
import {
  chainHandles,
  readTableListing,
  type TableListing,
  type TableNames,
  tableNames,
} from '../decisions/netfilter/table-listing.js';
import { NftError, runNft } from './nft-command.js';

/** Resolves if nft and the kernel can do what the rules need. Rejects with `NftError` if not. Changes nothing. */
export async function checkNft(): Promise<void> {
  const script = nftScript({ state: 'absent' }, serviceRuleset(sampleServices(), SAMPLE_NODE));
  await runNft(['--check', '-f', '-'], script.replaceAll(TABLE, `${TABLE}-check`));
}

/**
 * Resolves with the handles of the table's chains; undefined if there are none. `nft list tables` would be 20 times as
 * expensive, because it reads all elements.
 */
export async function readChainHandles(): Promise<string | undefined> {
  return chainHandles(await runNft(['-j', 'list', 'chains', 'ip']));
}

/**
 * Resolves with the names in the table; undefined if there is none. nft loads a whole table to list it: 490 MB for 4,000
 * Services of 64 endpoints, which count for the agent's own memory limit. Names need 13 MB.
 */
export async function readTableNames(): Promise<TableNames | undefined> {
  const chains = await runNft(['-j', 'list', 'chains', 'ip']);
  if (chainHandles(chains) === undefined) return undefined;
  const sets = await runNft(['-j', '-t', 'list', 'sets', 'ip']);
  return tableNames(chains, sets, await runNft(['-j', '-t', 'list', 'maps', 'ip']));
}

/** Resolves with the table; undefined if there is none. Only for a table that `isSmallTable`. */
export async function readTable(): Promise<TableListing | undefined> {
  if ((await readChainHandles()) === undefined) return undefined;
  return readTableListing(await runNft(['-j', 'list', 'table', ...TABLE.split(' ')]));
}

/** Makes the kernel's table the wanted one. Resolves with false if it was already. */
export async function updateTable(kernel: KernelTable, wanted: NftRuleset): Promise<boolean> {
  const script = nftScript(kernel, wanted);
  if (script === '') return false;
  try {
    await runNft(['-f', '-'], script);
  } catch (error) {
    // Another program changed the table, or an agent of another version made sets of other types.
    if (!(error instanceof NftError) || error.failure !== 'refused' || kernel.state === 'absent') throw error;
    await runNft(['-f', '-'], replacementScript(wanted));
  }
  return true;
}

/** Removes all rules. Resolves with false if there were none, or nft cannot run. */
export async function removeServiceRules(): Promise<boolean> {
  try {
    if ((await readChainHandles()) === undefined) return false;
    await runNft(['delete', 'table', ...TABLE.split(' ')]);
    return true;
  } catch (error) {
    if (error instanceof NftError) return false;
    throw error;
  }
}
