/** `npm run load -- [AGENTS]`: the rules under load at any size, 10,000 agents if none is said. Exit code 1 when one is broken. */
import { withFleets } from '../hollow/hollow.js';
import { checkRulesUnderLoad } from './rules-under-load.js';

const agents = Number(process.argv[2] ?? 10_000);
await withFleets(agents, (_, product) =>
  checkRulesUnderLoad(product, (what) => process.stdout.write(`${what}\n`)),
);
process.stdout.write('all rules held\n');
