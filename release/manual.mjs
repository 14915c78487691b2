/** The manual pages of both programs as entries of a layout. Their text comes from the programs' help. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compressed } from './file-layout.mjs';

const UNWRAPPED = 10_000;

/** Resolves with a function that returns the entries for a program. Needs the compiled project. */
export async function manualPages(root, { version, epoch }) {
  const load = (name) => import(pathToFileURL(join(root, 'dist/test/reference', name)).href);
  const [{ manPage }, { agentHelp, everynodeHelp }] = await Promise.all([
    load('man-pages.js'),
    load('program-help.js'),
  ]);
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const help = { everynode: everynodeHelp(UNWRAPPED), 'everynode-agent': agentHelp(root) };
  return (program) => {
    const text = compressed(Buffer.from(manPage(program, { version, date }, help[program])));
    return [[`/usr/share/man/man1/${program}.1.gz`, { text, mode: 0o644 }]];
  };
}
