#!/usr/bin/env node
/** Runs the `everynode` program. */
import { ApiError } from '../../shared/kube/objects/api-status.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { runProgram } from '../../shared/process/service/program-lifecycle.js';
import { runCommandLine } from '../../shared/process/settings/command-line.js';
import { refusalText } from './client/api-http-client.js';
import { createEverynodeProgram } from './everynode-program.js';

await runProgram(async () => {
  try {
    await runCommandLine(createEverynodeProgram(), process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ExitError(EXIT_CODES.refused, refusalText(error));
  }
});
