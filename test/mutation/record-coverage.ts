/** Preloaded into each process of a test. When the process exits, it writes the ids of the mutants that were executed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.MUTANT_COVERAGE_FOLDER;

process.on('exit', () => {
  const { __stryker__: recorded } = globalThis as { __stryker__?: { mutantCoverage?: { static: object } } };
  const ids = Object.keys(recorded?.mutantCoverage?.static ?? {});
  if (folder !== undefined && ids.length > 0) {
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(ids));
  }
});
