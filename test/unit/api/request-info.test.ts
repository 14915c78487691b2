import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLongRunning, isSwitchedOn, readRequest } from '../../../coordinator/api/http/request-info.js';

/** Method, target, and `verb group/version namespace/resource/name/subresource` with - for absent parts. */
const RESOURCES: [string, string, string][] = [
  ['GET', '/api/v1/pods', 'list /v1 -/pods/-/-'],
  ['GET', '/api/v1/namespaces/a/pods', 'list /v1 a/pods/-/-'],
  ['GET', '/api/v1/namespaces/a/pods/p', 'get /v1 a/pods/p/-'],
  ['GET', '/api/v1/namespaces/a/pods/p/log?follow=true', 'get /v1 a/pods/p/log'],
  ['GET', '/api/v1/namespaces', 'list /v1 -/namespaces/-/-'],
  ['GET', '/api/v1/namespaces/a', 'get /v1 -/namespaces/a/-'],
  ['PUT', '/api/v1/namespaces/a/status', 'update /v1 -/namespaces/a/status'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 -/namespaces/a/finalize'],
  ['GET', '/api/v1/nodes/n%2D1/status/', 'get /v1 -/nodes/n-1/status'],
  ['GET', '/apis/apps/v1/daemonsets?watch=1', 'watch apps/v1 -/daemonsets/-/-'],
  ['GET', '/apis/apps/v1/daemonsets?watch=false', 'list apps/v1 -/daemonsets/-/-'],
  ['GET', '/apis/apps/v1/namespaces/a/daemonsets/d?watch=true', 'get apps/v1 a/daemonsets/d/-'],
  ['POST', '/apis/apps/v1/namespaces/a/daemonsets', 'create apps/v1 a/daemonsets/-/-'],
  ['POST', '/api/v1/namespaces/a/pods/p/eviction', 'create /v1 a/pods/p/eviction'],
  ['PUT', '/apis/apps/v1/namespaces/a/daemonsets/d', 'update apps/v1 a/daemonsets/d/-'],
  ['PATCH', '/apis/apps/v1/namespaces/a/daemonsets/d/scale', 'patch apps/v1 a/daemonsets/d/scale'],
  ['DELETE', '/apis/apps/v1/namespaces/a/daemonsets/d', 'delete apps/v1 a/daemonsets/d/-'],
  ['DELETE', '/apis/apps/v1/namespaces/a/daemonsets', 'deletecollection apps/v1 a/daemonsets/-/-'],
];

for (const [method, target, expected] of RESOURCES) {
  test(`${method} ${target} is ${expected}`, () => {
    const info = readRequest(method, target);
    assert.ok(info.type === 'resource');
    const { verb, group, version, namespace = '-', resource, name = '-', subresource = '-' } = info;
    assert.equal(`${verb} ${group}/${version} ${namespace}/${resource}/${name}/${subresource}`, expected);
  });
}

const PATHS: [string, string][] = [
  ['/', '/'],
  ['/api', '/api'],
  ['/api/v1/', '/api/v1'],
  ['/apis/apps', '/apis/apps'],
  ['/apis/apps/v1?timeout=32s', '/apis/apps/v1'],
  ['/openapi/v3/apis/apps/v1?hash=x', '/openapi/v3/apis/apps/v1'],
];

for (const [target, path] of PATHS) {
  test(`${target} is the path ${path}`, () => {
    const info = readRequest('GET', target);
    assert.ok(info.type === 'path');
    assert.equal(info.path, path);
  });
}

const REFUSED: [string, string, string][] = [
  ['PUT', '/api/v1/pods', 'method'],
  ['PATCH', '/api/v1/namespaces/a/pods', 'method'],
  ['POST', '/api/v1/namespaces/a/pods/p', 'method'],
  ['OPTIONS', '/api/v1/pods', 'method'],
  ['GET', '/api/v1/namespaces/a/pods/p/log/more', 'path'],
  ['GET', '/api/v1/namespaces/%zz/pods', 'path'],
  ['GET', '/api/v1/namespaces/a%2Fb/pods', 'traversal'],
  ['GET', '/api/v1//pods', 'path'],
  ['GET', '/api/v1/namespaces/../pods', 'traversal'],
  ['GET', '/api/v1/namespaces/a/pods/%2e%2e/log', 'traversal'],
];

for (const [method, target, reason] of REFUSED) {
  test(`${method} ${target} is rejected for its ${reason}`, () => {
    assert.deepEqual(readRequest(method, target), { type: 'refused', reason });
  });
}

test('a plus in the query is a space', () => {
  const info = readRequest('GET', '/api/v1/pods?labelSelector=a+in+%28b%29');
  assert.ok(info.type === 'resource');
  assert.equal(info.query.get('labelSelector'), 'a in (b)');
});

test('only a watch, a log and a backup of the fleet may take longer than other requests', () => {
  const cases = [
    ['GET', '/api/v1/pods?watch=1', true],
    ['GET', '/api/v1/namespaces/a/pods/p/log', true],
    ['POST', '/apis/fleet.everynode.dev/v1/backups', true],
    ['POST', '/apis/velero.io/v1/namespaces/a/backups', false],
    ['GET', '/apis/fleet.everynode.dev/v1/hosts', false],
  ] as const;
  for (const [method, target, expected] of cases) {
    const info = readRequest(method, target);
    assert.ok(info.type === 'resource');
    assert.equal(isLongRunning(info), expected, target);
  }
});

test('a switch without a value is on', () => {
  assert.equal(isSwitchedOn(new URLSearchParams('watch'), 'watch'), true);
  assert.equal(isSwitchedOn(new URLSearchParams('watch=0'), 'watch'), false);
  assert.equal(isSwitchedOn(new URLSearchParams(''), 'watch'), false);
});
