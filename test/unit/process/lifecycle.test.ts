import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { type Component, startComponents } from '../../../shared/process/service/program-lifecycle.js';

function recorded(
  seen: string[],
  name: string,
  failing: 'start' | 'stop' | 'nothing' = 'nothing',
): Component {
  const step = (what: 'start' | 'stop') => () => {
    seen.push(`${what} ${name}`);
    if (failing === what) throw new Error(name);
  };
  return { name, start: step('start'), stop: step('stop') };
}

test('components start in order and stop in reverse, once', async () => {
  const seen: string[] = [];
  const running = await startComponents([recorded(seen, 'a'), recorded(seen, 'b')], silentLogger);
  await Promise.all([running.stop(), running.stop()]);
  assert.deepEqual(seen, ['start a', 'start b', 'stop b', 'stop a']);
});

test('when a component fails to start, earlier components are stopped and the error is thrown', async () => {
  const seen: string[] = [];
  const parts = [recorded(seen, 'a'), recorded(seen, 'b', 'start'), recorded(seen, 'c')];
  await assert.rejects(startComponents(parts, silentLogger), /b/);
  assert.deepEqual(seen, ['start a', 'start b', 'stop a']);
});

test('a component that fails to stop does not keep the others running', async () => {
  const seen: string[] = [];
  const parts = [recorded(seen, 'a'), recorded(seen, 'b', 'stop')];
  await (await startComponents(parts, silentLogger)).stop();
  assert.deepEqual(seen.slice(2), ['stop b', 'stop a']);
});
