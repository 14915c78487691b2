/** `npm run reference`: writes docs/reference/ from the compiled programs and their source. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmScript, parseScriptArguments } from '../harness/processes/npm-script.js';
import { referencePages } from './reference-pages.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
const FOLDER = join(ROOT, 'docs/reference');

await parseScriptArguments(npmScript('reference', 'Writes docs/reference/ from the source.'));
const pages = referencePages(ROOT);
mkdirSync(FOLDER, { recursive: true });
for (const name of readdirSync(FOLDER)) if (!pages.has(name)) rmSync(join(FOLDER, name));
for (const [name, text] of pages) writeFileSync(join(FOLDER, name), text);
process.stdout.write(`${pages.size} pages written to docs/reference\n`);
