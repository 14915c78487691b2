/** Files that change together: what readers see during a change, and after a kill of the writer. */
import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { VolumeFile } from '../../../agent/decisions/container-spec/volume-files.js';
import { writeAtomically } from '../../../agent/volumes/atomic-files.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';

let folder: string;
withDirectoryEach((path) => {
  folder = path;
});

const filesOf = (texts: Record<string, string>, mode = 0o644): Map<string, VolumeFile> =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { content: Buffer.from(text), mode }]));
const write = (texts: Record<string, string>, mode?: number) => writeAtomically(folder, filesOf(texts, mode));
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const visible = () => readdirSync(folder).filter((name) => !name.startsWith('..'));
const hidden = () => readdirSync(folder).filter((name) => name.startsWith('..'));

/** Returns both files of the visible version, or undefined if it was replaced during the read. */
function readVersion(): string[] | undefined {
  const data = readlinkSync(join(folder, '..data'));
  try {
    return ['a', 'b'].map((name) => read(join(data, name)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

describe('atomic files', () => {
  test('are links through one link, with the requested mode', async () => {
    assert.equal(await write({ a: '1', 'deep/er/b': '2' }, 0o400), true);
    assert.deepEqual(visible(), ['a', 'deep']);
    assert.equal(readlinkSync(join(folder, 'a')), '..data/a');
    assert.match(readlinkSync(join(folder, '..data')), /^\.\.[0-9a-f]{16}$/);
    assert.deepEqual([read('a'), read('deep/er/b')], ['1', '2']);
    assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o400);
    assert.equal(statSync(join(folder, 'deep/er')).mode & 0o777, 0o755);
  });

  test('are not rewritten when they are unchanged', async () => {
    await write({ a: '1' });
    const before = lstatSync(join(folder, '..data')).ino;
    assert.equal(await write({ a: '1' }), false);
    assert.equal(lstatSync(join(folder, '..data')).ino, before);
  });

  test('with other names replace the old ones completely', async () => {
    await write({ a: '1', b: '2', 'd/x': '3' });
    assert.equal(await write({ b: 'two', c: '3' }), true);
    assert.deepEqual([visible(), read('b'), read('c')], [['b', 'c'], 'two', '3']);
    assert.equal(hidden().length, 2);
    assert.equal(await write({}), true);
    assert.deepEqual(visible(), []);
  });

  test('are replaced atomically: a reader gets both old or both new files', async () => {
    const texts = (version: number) => ({ a: `${version}`.repeat(4000), b: `${version}`.repeat(4000) });
    await write(texts(0));
    const writer = (async () => {
      for (let version = 1; version < 10; version += 1) await write(texts(version));
    })();
    let isOver = false;
    void writer.then(() => {
      isOver = true;
    });
    let looks = 0;
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      const texts = readVersion();
      if (!texts) continue;
      assert.equal(texts[0], texts[1]);
      assert.equal(texts[0]?.length, 4000);
      looks += 1;
    }
    await writer;
    assert.ok(looks > 0);
    assert.equal(read('a')[0], '9');
  });

  const kills: [when: string, leave: () => void][] = [
    [
      'during the write',
      () => {
        mkdirSync(join(folder, '..half.00000000'));
        writeFileSync(join(folder, '..half.00000000/a'), 'ha');
      },
    ],
    [
      'before it linked',
      () => {
        mkdirSync(join(folder, '..new.00000000'));
        writeFileSync(join(folder, '..new.00000000/a'), 'new');
        symlinkSync('..data/a', join(folder, 'added'));
      },
    ],
    [
      'before its rename',
      () => {
        mkdirSync(join(folder, '..new.00000000'));
        symlinkSync('..new.00000000', join(folder, '..data_tmp'));
      },
    ],
  ];
  for (const [when, leave] of kills) {
    test(`a writer that was killed ${when} is repaired by the next`, async () => {
      await write({ a: 'old' });
      leave();
      assert.equal(read('a'), 'old');
      await write({ a: 'new', b: '2' });
      assert.deepEqual([visible(), read('a'), read('b')], [['a', 'b'], 'new', '2']);
      assert.equal(hidden().length, 2);
    });
  }

  test('left incomplete by a kill are removed even without new content', async () => {
    await write({ a: '1' });
    mkdirSync(join(folder, '..half.00000000'));
    assert.equal(await write({ a: '1' }), false);
    assert.equal(hidden().length, 2);
  });
});
