/** Runs the same tests with every supported kubectl. */
import { after, before, describe, type TestContext, test } from 'node:test';
import type { ApiServerOptions } from '../../../coordinator/api/http/api-server.js';
import { startTestApi, type TestApi } from '../api/api-fixture.js';
import { leaveOut } from '../basics/skip-reason.js';
import { type ClientName, findClient } from './client-binaries.js';
import { createKubectl, type Kubectl } from './kubectl.js';

/** Set to `all`, versions between the newest and the oldest run, too: before a release, and by `npm run compatibility`. */
export const KUBECTLS_VARIABLE = 'EVERYNODE_TEST_KUBECTLS';

type Versions = readonly [newest: ClientName, ...between: ClientName[], oldest: ClientName];

/** A change of kubectl that breaks a test stays in all later versions, so the newest and the oldest find it. */
function ofThisRun([newest, ...older]: Versions): readonly [ClientName, ...ClientName[]] {
  return [newest, ...(process.env[KUBECTLS_VARIABLE] === 'all' ? older : older.slice(-1))];
}

export const KUBECTLS = ofThisRun(['kubectl-1.36.3', 'kubectl-1.35.2', 'kubectl-1.34.5']);

/** Older versions, which run a shorter list of commands. */
export const OLDER_KUBECTLS = ofThisRun([
  'kubectl-1.33.9',
  'kubectl-1.32.3',
  'kubectl-1.31.9',
  'kubectl-1.30.0',
  'kubectl-1.29.4',
  'kubectl-1.28.3',
  'kubectl-1.27.1',
]);

/** Reads OpenAPI v2 alone: it validates manifests itself, and explains kinds from this document. */
export const OLD_KUBECTL = 'kubectl-1.20.0' satisfies ClientName;

/** State of the tests of one kubectl, set before the first of them. */
interface KubectlFixture {
  readonly api: TestApi;
  readonly kubectl: Kubectl;
}

/** Defines the tests once for each kubectl, each time with a new API. */
export function forEachKubectl(
  title: string,
  define: (fixture: KubectlFixture) => void,
  change: Partial<ApiServerOptions> = {},
  names: readonly ClientName[] = KUBECTLS,
): void {
  for (const name of names) {
    const found = findClient(name);
    describe(`${title} by ${name}`, () => {
      if ('why' in found) {
        test('there is none', (context: TestContext) => leaveOut(context, name, found.why));
        return;
      }
      let fixture: KubectlFixture | undefined;
      const current = (): KubectlFixture => {
        if (!fixture) throw new Error('the fixture is used before its tests');
        return fixture;
      };
      before(async () => {
        const api = await startTestApi(change);
        fixture = { api, kubectl: createKubectl(api.kubeconfig, found.path) };
      });
      after(async () => {
        fixture?.kubectl.remove();
        await fixture?.api.stop();
      });
      define({
        get api() {
          return current().api;
        },
        get kubectl() {
          return current().kubectl;
        },
      });
    });
  }
}
