/** The version of both programs: they are released together. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From package.json, which stands above dist/ both in a clone and in an installed package. */
function packageVersion(): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

export const VERSION: string = packageVersion();
