/** Debian's python3-kubernetes, unmodified, against a coordinator and hollow hosts. */
import { join, resolve } from 'node:path';
import {
  describeClient,
  programVersion,
  reportedChecks,
  runProgram,
} from '../../harness/clients/client-program.js';

/** Debian's own Python, because another one on the PATH does not find Debian's packages. */
const PYTHON = '/usr/bin/python3';
const PROGRAMS = resolve(import.meta.dirname, '../programs');
/** Rounds of the test. `npm run compatibility -- --rounds N` sets another number. */
const ROUNDS = process.env.EVERYNODE_ROUNDS ?? '100';

const found = programVersion(PYTHON, ['-c', 'import kubernetes; print(kubernetes.__version__)'], /^(\S+)/);

describeClient(
  'typed and dynamic client, stream, watch, leader election',
  'python3-kubernetes',
  found,
  async (fleet) => {
    const environment = { KUBECONFIG: fleet.kubeconfigPath };
    const checks = reportedChecks(
      await runProgram(PYTHON, [join(PROGRAMS, 'python_client.py')], environment),
    );
    const rounds = await runProgram(PYTHON, [join(PROGRAMS, 'python_rounds.py'), ROUNDS], environment);
    const error = rounds.code === 0 ? undefined : rounds.stderr;
    return [...checks, { title: `${ROUNDS} list-and-patch rounds without a refusal`, error }];
  },
);
