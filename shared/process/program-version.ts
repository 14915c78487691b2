/** The version of both programs: they are released together. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Put in by the bundler: a program in one file has no package.json near it. */
declare const EVERYNODE_BUNDLE_VERSION: string | undefined;

/** Whether all modules of this program are one file. */
export const IS_BUNDLE: boolean = typeof EVERYNODE_BUNDLE_VERSION === 'string';

/** From package.json, which stands above dist/ both in a clone and in an installed package. */
function packageVersion(): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

export const VERSION: string =
  typeof EVERYNODE_BUNDLE_VERSION === 'string' ? EVERYNODE_BUNDLE_VERSION : packageVersion();
