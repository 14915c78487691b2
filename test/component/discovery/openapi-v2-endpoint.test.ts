/** `/openapi/v2` over HTTP: forms, compression and caching. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { startTestApi, TEST_TOKEN, type TestApi } from '../../harness/api/api-fixture.js';

const OLD_TYPE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

interface Answer {
  code: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

describe('/openapi/v2', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  /** Sends the headers as given: fetch would add and remove encodings. */
  const get = (headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const options = {
        ca: api.pki.ca.cert,
        headers: { authorization: `Bearer ${TEST_TOKEN}`, ...headers },
      };
      const sent = request(`${api.url}/openapi/v2`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('end', () =>
          resolve({
            code: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      sent.on('error', reject).end();
    });

  test('concurrent first requests get the same Swagger 2.0 document as JSON', async () => {
    const [one, other] = await Promise.all([get(), get({ accept: '*/*' })]);
    assert.deepEqual(one.body, other.body);
    assert.equal(one.headers['content-type'], 'application/json');
    const document = JSON.parse(one.body.toString());
    assert.equal(document.swagger, '2.0');
    assert.ok(document.definitions['io.k8s.api.apps.v1.DaemonSet']);
  });

  test('gzip is sent to clients that accept it', async () => {
    const [plain, zipped] = [await get(), await get({ 'accept-encoding': 'gzip' })];
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(zipped.body), plain.body);
  });

  for (const accept of [OLD_TYPE, TYPE]) {
    test(`Accept ${accept} gets protobuf with a content type that Go can parse`, async () => {
      const { code, headers, body } = await get({ accept });
      assert.deepEqual([code, headers['content-type']], [200, TYPE]);
      // Field 1, `swagger`, is the string 2.0.
      assert.deepEqual(body.subarray(0, 5), Buffer.from([0x0a, 3, 0x32, 0x2e, 0x30]));
    });
  }

  test('a client that has the form gets 304, one that has the other form does not', async () => {
    const etag = String((await get({ accept: TYPE })).headers.etag);
    const known = await get({ accept: TYPE, 'if-none-match': etag });
    assert.deepEqual([known.code, known.body.length, known.headers.etag], [304, 0, etag]);
    assert.equal((await get({ 'if-none-match': etag })).code, 200);
  });

  test('another type is refused with 406', async () => {
    const { code, body } = await get({ accept: 'text/html' });
    assert.deepEqual([code, JSON.parse(body.toString()).reason], [406, 'NotAcceptable']);
  });
});
