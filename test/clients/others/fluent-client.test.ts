/** kubernetes-fluent-client, unmodified, against a coordinator and hollow hosts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { describeClient, reportedChecks, runProgram } from '../../harness/clients/client-program.js';
import { npmPackage } from '../../harness/clients/npm-package.js';

/** 3.11.11 needs Node 22, and a version of quicktype-core that the registry does not have. */
const VERSION = '3.11.6';
const PROGRAM = resolve(import.meta.dirname, '../programs/fluent-client.mjs');

const found = npmPackage('kubernetes-fluent-client', VERSION);

describeClient(
  'apply, watch, logs, scale, finalizers, custom resources, types of a CRD',
  'kubernetes-fluent-client',
  'why' in found ? found : { version: VERSION },
  async (fleet) => {
    assert.ok('path' in found);
    const environment = { KUBECONFIG: fleet.kubeconfigPath, CLIENT_MODULES: found.path };
    const checks = reportedChecks(await runProgram(process.execPath, [PROGRAM], environment));
    const types = temporaryDirectory();
    const cli = join(found.path, 'kubernetes-fluent-client/dist/cli.js');
    const made = await runProgram(
      process.execPath,
      [cli, 'crd', 'backups.fluent.example.com', types],
      environment,
    );
    const isMade =
      made.code === 0 && /target\?: string/.test(readFileSync(join(types, 'backup-v1.ts'), 'utf8'));
    const error = isMade ? undefined : `${made.stdout}${made.stderr}`;
    return [...checks, { title: 'crd writes the types of a CRD that the coordinator returns', error }];
  },
);
