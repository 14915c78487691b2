/** The version of both programs, which are released together. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Set by the bundler, because a bundled program has no package.json. */
declare const EVERYNODE_BUNDLE_VERSION: string | undefined;

/** True if the program is one bundled file. */
export const IS_BUNDLE: boolean = typeof EVERYNODE_BUNDLE_VERSION === 'string';

/** Reads package.json, which is above dist/ in a clone and in an installed package. */
function packageVersion(): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

export const VERSION: string =
  typeof EVERYNODE_BUNDLE_VERSION === 'string' ? EVERYNODE_BUNDLE_VERSION : packageVersion();
