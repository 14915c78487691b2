/** `npm run load -- [AGENTS]`: checks the rules under load with a fleet of any size. */
import { npmScript, parseScriptArguments, wholeNumber } from '../../harness/processes/npm-script.js';
import { withFleets } from '../hollow/measure-hollow.js';
import { checkRulesUnderLoad } from './rules-under-load.js';

const script = npmScript('load', 'Checks rules on a fleet under load; exit code 1 when a rule is broken.');
const {
  words: [agents],
} = await parseScriptArguments<object, [number]>(
  script.argument('[agents]', 'pretended hosts', wholeNumber, 10_000),
);
await withFleets(agents, (_, product) =>
  checkRulesUnderLoad(product, (what) => process.stdout.write(`${what}\n`)),
);
process.stdout.write('all rules held\n');
