/**
 * `npm run screenshots`: pictures of every page of the console, in both themes and two sizes, with the fleet of an operator
 * who has work to do. Compares them with the references in `test/fixtures/pictures`; `-- --update` writes these.
 * `-- DIRECTORY` writes pictures in full resolution for reviewers; the two of the README are in `console/screenshots`.
 */
import { resolve } from 'node:path';
import { startBrowser } from '../harness/console/browser.js';
import {
  OPERATOR_HOSTS,
  PICTURED_FLEET_FLAGS,
  prepareOperatorFleet,
  untilHostsAreUnknown,
} from '../harness/console/operator-fleet.js';
import {
  compareWithReferences,
  takePictures,
  writeFullPictures,
  writeReferences,
} from '../harness/console/picture-run.js';
import { addPicturedWork } from '../harness/console/pictured-work.js';
import { npmScript, parseScriptArguments } from '../harness/processes/npm-script.js';
import { startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const script = npmScript(
  'screenshots',
  'Compares pictures of every page of the console with their references; exit code 1 if one differs.',
).argument('[directory]', 'writes pictures in full resolution to this directory, without a comparison');
script.option('--update', 'write the references');
script.option('--pages <names>', 'only these pages, comma-separated');
const {
  words: [place],
  options,
} = await parseScriptArguments<{ update?: true; pages?: string }, [string | undefined]>(script);
const only = options.pages?.split(',');
const fleet = await startSimulatedFleet(OPERATOR_HOSTS, 1, PICTURED_FLEET_FLAGS);
const browser = await startBrowser();
try {
  await prepareOperatorFleet(fleet);
  await addPicturedWork(fleet);
  await untilHostsAreUnknown(fleet);
  if (place !== undefined) {
    const written = await writeFullPictures(fleet, browser, resolve(place), only);
    process.stdout.write(`${resolve(place)}: ${written} pictures\n`);
  } else {
    const pictures = await takePictures(fleet, browser, only);
    if (options.update) process.stdout.write(writeReferences(pictures, only === undefined));
    else {
      const differences = compareWithReferences(pictures);
      process.stdout.write(
        `${pictures.size} pictures, ${differences.length} differ\n${differences.join('')}`,
      );
      process.exitCode = differences.length > 0 ? 1 : 0;
    }
  }
} finally {
  await browser.close();
  await fleet.stop();
}
