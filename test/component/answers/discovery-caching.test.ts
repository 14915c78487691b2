/** ETags of discovery, by which clients keep their copy (upstream `endpoints/discovery/aggregated/etag.go`). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api.stop());

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

async function read(path: string, accept: string, tag?: string) {
  const headers: Record<string, string> = tag === undefined ? { accept } : { accept, 'if-none-match': tag };
  return call(api, `GET ${path}`, { headers });
}

for (const path of ['/api', '/apis']) {
  test(`aggregated discovery at ${path} is sent once to a client that has its ETag`, async () => {
    const first = await read(path, AGGREGATED);
    const tag = first.headers.etag ?? '';
    assert.match(tag, /^"[0-9A-F]{32,}"$/);
    assert.deepEqual([first.code, first.headers.vary], [200, 'Accept']);
    const again = await read(path, AGGREGATED, tag);
    assert.deepEqual(
      [again.code, again.text, again.headers.etag, again.headers.vary],
      [304, '', tag, 'Accept'],
    );
  });

  test(`aggregated discovery at ${path} is sent to a client with another ETag`, async () => {
    const answer = await read(path, AGGREGATED, '"0123"');
    assert.deepEqual([answer.code, answer.json().kind], [200, 'APIGroupDiscoveryList']);
  });

  test(`plain discovery at ${path} varies with Accept and ignores the ETag of the aggregated form`, async () => {
    const tag = (await read(path, AGGREGATED)).headers.etag ?? '';
    const plain = await read(path, 'application/json', tag);
    assert.deepEqual([plain.code, plain.headers.vary, plain.headers.etag], [200, 'Accept', undefined]);
  });
}

test('the two aggregated documents have different ETags', async () => {
  const [core, groups] = await Promise.all([read('/api', AGGREGATED), read('/apis', AGGREGATED)]);
  assert.notEqual(core.headers.etag, groups.headers.etag);
});
