/**
 * Runs every table of a folder of cases: `npm run conformance -- [DIR] [--table NAME]`.
 * Prints a line a table, then its failing cases; exit code 1 if any case failed or was left out.
 */
import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmScript, parseScriptArguments } from '../harness/processes/npm-script.js';
import { runTable, type TableResult } from './tables/run-table.js';

const OWN_CASES = join(dirname(fileURLToPath(import.meta.url)), 'cases');

function report({ table, total, failed }: TableResult): string {
  const lines = failed.map(
    ({ name, expected, got }) =>
      `  ${name}\n    expected ${JSON.stringify(expected)}\n    got      ${JSON.stringify(got)}\n`,
  );
  return `${table} ${total - failed.length}/${total}\n${lines.join('')}`;
}

const script = npmScript('conformance', 'Runs tables of cases; exit code 1 if one failed or was left out.')
  .argument('[dir]', 'folder of the tables (default: the tables of this project)')
  .option('--table <NAME>', 'run only this table');
const {
  options: { table },
  words: [directory],
} = await parseScriptArguments<{ table?: string }, [string?]>(script);

async function main(): Promise<number> {
  // npm changes into the package's folder; resolve a relative DIR from the user's working directory.
  const folder = directory ? resolve(process.env.INIT_CWD ?? '.', directory) : OWN_CASES;
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.json') && (!table || file === `${table}.json`))
    .sort();
  let clean = files.length > 0;
  if (!clean) process.stdout.write(`no table${table ? ` ${table}` : ''} in ${folder}\n`);
  for (const file of files) {
    const result = await runTable(join(folder, file));
    process.stdout.write(report(result));
    if (result.failed.length > 0) clean = false;
  }
  return clean ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`conformance: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
