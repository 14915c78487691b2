/** What stopped engines leave: their processes have exited, and their folders are removed or reported. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  endProcessesBelow,
  REMOVED_FOLDERS_VARIABLE,
  removeEngineFolder,
} from '../../harness/engines/engine-remains.js';
import { RemovedFolders } from '../../runner/removed-folders.js';

function folderOfEngine(): string {
  const folder = join(temporaryDirectory(), 'engine');
  mkdirSync(join(folder, 'root'), { recursive: true });
  writeFileSync(join(folder, 'root/layer'), '');
  return folder;
}

/** Sets or deletes the variable until the end of the test. */
function useRemovedFolders(context: TestContext, path: string | undefined): void {
  const before = process.env[REMOVED_FOLDERS_VARIABLE];
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env[REMOVED_FOLDERS_VARIABLE];
    else process.env[REMOVED_FOLDERS_VARIABLE] = value;
  };
  set(path);
  context.after(() => set(before));
}

const stateOf = ({ pid }: ChildProcess): string => {
  const path = `/proc/${pid}/status`;
  return existsSync(path) ? (/^State:\s+(.)/m.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : 'X';
};

test('a process of an engine has exited before its folder is removed', async () => {
  const folder = folderOfEngine();
  const program = 'process.on("SIGTERM", () => undefined); console.log("up"); setInterval(() => 0, 1000);';
  const shim = spawn(process.execPath, ['-e', program, join(folder, 'shim')]);
  await once(shim.stdout, 'data');
  await endProcessesBelow(folder);
  assert.match(stateOf(shim), /[ZX]/);
  await until(() => shim.signalCode === 'SIGKILL');
});

test('a folder that a test leaves to the runner is removed', async (context) => {
  const removed = new RemovedFolders();
  useRemovedFolders(context, removed.path);
  const folder = folderOfEngine();
  await removeEngineFolder(folder);
  assert.equal(existsSync(folder), false);
  assert.deepEqual(readdirSync(removed.path), ['engine']);
  await removed.close();
  assert.deepEqual([existsSync(removed.path), removed.failures], [false, []]);
});

test('a folder that cannot be removed is reported once, and stays', async (context) => {
  const removed = new RemovedFolders('false');
  context.after(() => rmSync(removed.path, { recursive: true }));
  useRemovedFolders(context, removed.path);
  await removeEngineFolder(folderOfEngine());
  await Promise.all([removed.empty(), removed.empty()]);
  await removed.close();
  const path = join(removed.path, 'engine');
  assert.deepEqual(removed.failures, [
    `${path} of a test was not removed: Command failed: false -rf ${path}`,
  ]);
  assert.ok(existsSync(path));
});

test('without a runner a folder is removed at once', async (context) => {
  useRemovedFolders(context, undefined);
  const folder = folderOfEngine();
  await removeEngineFolder(folder);
  assert.equal(existsSync(folder), false);
});
