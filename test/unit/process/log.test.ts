/** The content of a log line, and the secrets that it must not contain. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileLogger, createLogger, type Logger } from '../../../shared/process/output/logger.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

function logged(say: (log: Logger) => void): Record<string, unknown>[] {
  const path = join(temporaryDirectory(), 'below', 'log');
  say(createFileLogger(path));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readFileSync(path, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return rest;
    });
}

test('one line an event, the fields of its loggers first, in order', () => {
  const lines = logged((log) => {
    log.child({ component: 'a' }).child({ node: 'n"1' }).warn({ code: 3, none: undefined }, 'told\nonce');
    log.error('alone');
    log.debug('below the level');
  });
  assert.deepEqual(lines, [
    { level: 'warn', component: 'a', node: 'n"1', code: 3, msg: 'told\nonce' },
    { level: 'error', msg: 'alone' },
  ]);
});

test('secrets are hidden at every level and in bindings', () => {
  const secret = {
    token: 'T0P',
    object: { data: { a: 'T0P' }, password: 'T0P', kept: 1 },
    list: [{ secret: 'T0P' }],
  };
  const [line] = logged((log) => log.child({ credential: 'T0P' }).info(secret, 'm'));
  assert.deepEqual(line, {
    level: 'info',
    credential: '[redacted]',
    token: '[redacted]',
    object: { data: '[redacted]', password: '[redacted]', kept: 1 },
    list: [{ secret: '[redacted]' }],
    msg: 'm',
  });
});

test('an error of the operating system is logged without a stack', () => {
  const path = join(temporaryDirectory(), 'none');
  const lines = logged((log) => {
    try {
      readFileSync(path);
    } catch (err) {
      log.error({ err }, 'm');
    }
  });
  const message = `ENOENT: no such file or directory, open '${path}'`;
  assert.deepEqual(lines, [{ level: 'error', err: { type: 'Error', message, code: 'ENOENT' }, msg: 'm' }]);
});

test('an error is logged with its kind, code, cause and stack', () => {
  const err = Object.assign(new TypeError('no', { cause: new Error('why') }), { code: 'EWHY' });
  const [line] = logged((log) => log.warn({ err }, 'm'));
  const { stack, ...told } = (line?.err ?? {}) as Record<string, unknown>;
  assert.deepEqual(told, { type: 'TypeError', message: 'no', code: 'EWHY', cause: 'why' });
  assert.match(String(stack), /log\.test/);
});

test('a value that JSON cannot represent breaks no line', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const [line] = logged((log) =>
    log.info({ circle, big: 10n, nested: { big: 5n }, nothing: null, call: () => 1 }, 'm'),
  );
  assert.deepEqual(line, {
    level: 'info',
    circle: '[unreadable]',
    big: '10',
    nested: { big: '5' },
    nothing: null,
    msg: 'm',
  });
});

test('the silent logger writes nothing', () => {
  for (const say of Object.values(createLogger('silent'))) assert.doesNotThrow(() => say({}, 'm'));
});
