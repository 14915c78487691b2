/**
 * Applies, applies again, compares and deletes public manifests with kubectl, client-side and server-side:
 *   npm run manifests -- FILE...
 * The files are not part of this repository, because they are other people's work.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createKubectl } from './harness/clients/kubectl.js';
import { runManifestLife } from './harness/clients/manifest-life.js';
import { startCoordinatorProcess } from './harness/processes/everynode-processes.js';
import { npmScript, parseScriptArguments } from './harness/processes/npm-script.js';

const script = npmScript('manifests', 'Applies public manifests twice, compares and deletes them.').argument(
  '<file...>',
  'files of manifests',
);
const {
  words: [files],
} = await parseScriptArguments<object, [string[]]>(script);
const folder = mkdtempSync(join(tmpdir(), 'everynode-manifests-'));
const coordinator = await startCoordinatorProcess(join(folder, 'c'));
const kubectl = createKubectl(coordinator.kubeconfig);
try {
  for (const file of files) {
    const problem = await runManifestLife(kubectl, resolve(file));
    process.stdout.write(`${file}: ${problem ? `failed: ${problem.what}\n${problem.error}` : 'ok'}\n`);
    if (problem) process.exitCode = 1;
  }
} finally {
  kubectl.remove();
  await coordinator.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
