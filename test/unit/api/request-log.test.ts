import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest } from '../../../coordinator/api/http/request-info.js';
import {
  type LoggedRequest,
  type RequestLogLevel,
  requestFields,
  requestLogger,
} from '../../../coordinator/api/http/request-log.js';
import { silentLogger } from '../../../shared/process/output/logger.js';

function request(line: string, change: Partial<LoggedRequest> = {}): LoggedRequest {
  const [method = '', target = ''] = line.split(' ');
  return {
    method,
    path: target.split('?')[0] ?? '',
    info: readRequest(method, target),
    identity: { user: { username: 'ann', groups: [] } },
    remoteAddress: '192.0.2.1',
    userAgent: 'kubectl/v1.35.2',
    code: 200,
    durationMs: 1.234,
    ...change,
  };
}

const COMMON = {
  user: 'ann',
  code: 200,
  durationMs: 1.2,
  remoteAddress: '192.0.2.1',
  userAgent: 'kubectl/v1.35.2',
};

test('a line contains user, verb, object, result, duration and client', () => {
  assert.deepEqual(requestFields(request('PATCH /apis/apps/v1/namespaces/default/daemonsets/x/status')), {
    ...COMMON,
    verb: 'patch',
    group: 'apps',
    resource: 'daemonsets',
    namespace: 'default',
    name: 'x',
    subresource: 'status',
  });
});

test('a creation names the created object, a dry run is marked, a query is not logged', () => {
  const created = request('POST /api/v1/namespaces/a/secrets?dryRun=All&token=hush', {
    createdName: 's',
    isDryRun: true,
  });
  const fields = requestFields(created);
  assert.deepEqual([fields.name, fields.dryRun], ['s', true]);
  assert.ok(!JSON.stringify(fields).includes('hush'));
});

test('other paths are named, and client-chosen text is truncated', () => {
  const long = 'x'.repeat(1_000);
  const fields = requestFields(request(`GET /${long}?a=b`, { userAgent: long }));
  assert.deepEqual(
    [fields.verb, String(fields.path).length, String(fields.userAgent).length],
    ['get', 256, 256],
  );
});

const LEVELS: [RequestLogLevel, string, number, boolean][] = [
  ['none', 'DELETE /api/v1/nodes/n', 200, false],
  ['changes', 'DELETE /api/v1/nodes/n', 200, true],
  ['changes', 'DELETE /api/v1/nodes/n', 404, true],
  ['changes', 'GET /api/v1/nodes/n', 200, false],
  ['changes', 'GET /api/v1/nodes?watch=1', 200, false],
  ['changes', 'GET /api/v1/nodes', 401, true],
  ['changes', 'GET /api/v1/nodes', 429, true],
  ['changes', 'GET /version', 200, false],
  ['all', 'GET /api/v1/nodes/n', 200, true],
  ['all', 'GET /version', 200, true],
];

for (const [level, line, code, isWritten] of LEVELS) {
  test(`${level}: ${line} with ${code} is ${isWritten ? '' : 'not '}logged`, () => {
    let written = 0;
    const info = () => {
      written += 1;
    };
    const log = { ...silentLogger, info };
    requestLogger(level, log)(request(line, { code }));
    assert.equal(written, isWritten ? 1 : 0);
  });
}
