/**
 * Volumes with so many files that their names exceed the memory of the agent. A container can create them, and they
 * must not crash the agent.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { folderBytes } from '../../../agent/volumes/folder-size.js';
import { applyFsGroup } from '../../../agent/volumes/fs-group.js';
import { removeFolder } from '../../../agent/volumes/pod-folders.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';

let folder: string;
withDirectoryEach((path) => {
  folder = path;
});

const FILES = 60_000;
/** Enough for Node itself and the code, not for the names of all files. */
const HEAP_MB = 12;

const MODULES = new URL('../../../agent/volumes/', import.meta.url).href;

/** Runs a statement with the agent's code in a process with a small heap; rejects when the process runs out of memory. */
async function runSmall(statement: string): Promise<string> {
  const script = `
    import { folderBytes } from '${MODULES}folder-size.js';
    import { applyFsGroup } from '${MODULES}fs-group.js';
    import { removeFolder } from '${MODULES}pod-folders.js';
    const [, path] = process.argv;
    ${statement}`;
  const args = [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=1', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...args,
    '-e',
    script,
    join(folder, 'volume'),
  ]);
  return stdout.trim();
}

describe(`a folder with ${FILES} files`, () => {
  test('is measured, assigned to a group and removed with a small heap', async () => {
    const volume = join(folder, 'volume');
    mkdirSync(volume);
    for (let at = 0; at < FILES; at += 1) closeSync(openSync(join(volume, `file-${at}`), 'w'));
    assert.ok(Number(await runSmall('console.log(await folderBytes(path))')) > 0);
    await runSmall(`await applyFsGroup(path, { fsGroup: ${process.getgid?.() ?? 0} })`);
    await runSmall('await removeFolder(path)');
    assert.equal(existsSync(volume), false);
  });
});

test('each file is counted once where folders are nested deeper than the agent keeps open', async () => {
  const volume = join(folder, 'volume');
  let place = volume;
  for (let level = 0; level < 300; level += 1) {
    mkdirSync(place);
    for (const name of ['a', 'm', 'z']) writeFileSync(join(place, name), 'x');
    place = join(place, 'n');
  }
  const blocks = execFileSync('du', ['--summarize', '--block-size=512', volume], { encoding: 'utf8' });
  assert.equal(await folderBytes(volume), Number.parseInt(blocks, 10) * 512);
  const before = readdirSync('/proc/self/fd').length;
  await applyFsGroup(volume, { fsGroup: process.getgid?.() ?? 0 });
  await removeFolder(volume);
  assert.equal(existsSync(volume), false);
  assert.ok(readdirSync('/proc/self/fd').length <= before, 'no descriptor stays open');
});
