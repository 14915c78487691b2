/** Removal of the files that a failed command created, and of no others. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { trackNewFiles, trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

test('new files and folders are removed, in existing folders too, and existing files are kept', () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'earlier'));
  writeFileSync(join(directory, 'earlier', 'file'), 'earlier');
  const undo = trackNewFiles(directory);
  writeFileSync(join(directory, 'earlier', 'new'), '');
  mkdirSync(join(directory, 'new', 'deep'), { recursive: true });
  undo();
  assert.deepEqual(readdirSync(directory, { recursive: true }).sort(), ['earlier', 'earlier/file']);
  assert.equal(readFileSync(join(directory, 'earlier', 'file'), 'utf8'), 'earlier');
});

test('a new directory is removed with its new parents', () => {
  const directory = temporaryDirectory();
  const undo = trackNewFiles(join(directory, 'a', 'b'));
  mkdirSync(join(directory, 'a', 'b', 'c'), { recursive: true });
  undo();
  assert.deepEqual(readdirSync(directory), []);
  undo();
  assert.ok(existsSync(directory));
});

test('a new folder with a file of another program is kept, with its parents', () => {
  const directory = temporaryDirectory();
  const removeNewFolders = trackNewFolders(join(directory, 'a', 'b'), join(directory, 'a', 'c'));
  for (const name of ['b', 'c']) mkdirSync(join(directory, 'a', name), { recursive: true });
  writeFileSync(join(directory, 'a', 'b', 'file'), '');
  removeNewFolders();
  assert.deepEqual(readdirSync(join(directory, 'a'), { recursive: true }), ['b', 'b/file']);
});
