/** Reviews of the user's rights while the coordinator cannot answer. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { consoleModule } from '../../harness/console/console-module.js';

/** The used part of `console/api/access-checks.ts`, as types, because its own need a browser. */
interface AccessChecks {
  mayListIn(namespace: string, resources: readonly { verb: string; resource: string }[]): Promise<boolean>;
}

const { mayListIn } = await consoleModule<AccessChecks>('api/access-checks.ts');

const PODS = { verb: 'list', resource: 'pods' };
const RULES = {
  resourceRules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  incomplete: false,
};
const { fetch } = globalThis;
let requests = 0;

/** Responds to each request with the next response, and to all later ones with the last. */
function respondWith(...responses: (() => Response)[]): void {
  requests = 0;
  globalThis.fetch = async () => {
    const respond = responses[Math.min(requests, responses.length - 1)];
    requests += 1;
    assert.ok(respond);
    return respond();
  };
}

const failed = (code: number) => () => Response.json({ code, message: 'not now' }, { status: code });
const unreachable = (): Response => {
  throw new TypeError('fetch failed');
};
const allowed = () => Response.json({ status: RULES });

afterEach(() => {
  globalThis.fetch = fetch;
});

for (const [what, failure] of [
  ['a coordinator that starts', failed(503)],
  ['a failed coordinator', failed(500)],
  ['too many requests', failed(429)],
  ['an unreachable coordinator', unreachable],
  ['an incomplete answer', () => new Response('{"status":')],
] as const)
  test(`${what} does not mean that the user is not allowed`, async () => {
    respondWith(failure, allowed);
    assert.equal(await mayListIn(what.replaceAll(' ', '-'), [PODS]), true);
    assert.equal(requests, 2);
  });

test('a refused review denies access, and is repeated at the next call', async () => {
  respondWith(failed(403), allowed);
  assert.equal(await mayListIn('refused', [PODS]), false);
  assert.equal(await mayListIn('refused', [PODS]), true);
});
