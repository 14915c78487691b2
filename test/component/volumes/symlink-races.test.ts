/**
 * The agent works inside a volume while a container replaces folders by links to the host. Nothing outside may be read
 * or changed.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { FileDescriptor } from '../../../agent/volumes/file-descriptor.js';
import { folderBytes } from '../../../agent/volumes/folder-size.js';
import { applyFsGroup } from '../../../agent/volumes/fs-group.js';
import { prepareHostPath } from '../../../agent/volumes/host-path-volume.js';
import { removeFolder } from '../../../agent/volumes/pod-folders.js';
import { openSubPath } from '../../../agent/volumes/sub-path-resolution.js';
import { VolumeError } from '../../../agent/volumes/volume-error.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';
import { swapSymlinkAtEachStep } from '../../harness/pods/symlink-swapper.js';

let folder: string;
withDirectoryEach((path) => {
  folder = path;
});

const NAMED = { mount: { name: 'v', mountPath: '/v' }, container: { name: 'c' } };
const GROUP = process.getgid?.() ?? 0;

/** Opens the path and returns its location, or the message of the rejection. */
async function opened(root: string, path: string): Promise<string> {
  const volume = await FileDescriptor.open(root);
  try {
    const found = await openSubPath(volume, root, path, NAMED);
    const place = readlinkSync(found.path);
    await found.close();
    return place;
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    return error.message;
  } finally {
    await volume.close();
  }
}

/** Returns names, modes and groups of everything in the host's folder. */
function stateOf(host: string): string[] {
  const names = ['', ...(readdirSync(host, { recursive: true }) as string[])];
  return names.sort().map((name) => {
    const { mode, gid, size } = lstatSync(join(host, name));
    return `${name} ${mode.toString(8)} ${gid} ${name.endsWith('file') ? size : ''}`;
  });
}

describe('a folder that is swapped for a symbolic link', () => {
  for (const path of ['p', 'p/below', 'p/below/file', 'p/new', 'p/new/deep']) {
    test(`before any step of opening the subPath ${path} leads to no file of the host`, async (context) => {
      const steps = await swapSymlinkAtEachStep(context, folder, async ({ volume, host }, step) => {
        const before = stateOf(host);
        const place = await opened(volume, path);
        assert.ok(place.startsWith(`${volume}/`) || place.startsWith('failed to'), `step ${step}: ${place}`);
        assert.deepEqual(stateOf(host), before, `step ${step}`);
      });
      assert.ok(steps > 0);
    });
  }

  test('before any step of assigning the volume to a group changes no file of the host', async (context) => {
    const steps = await swapSymlinkAtEachStep(context, folder, async ({ volume, host }, step) => {
      const before = stateOf(host);
      await applyFsGroup(volume, { fsGroup: GROUP });
      assert.deepEqual(stateOf(host), before, `step ${step}`);
    });
    assert.ok(steps > 5, `${steps} steps`);
  });

  test('before any step of measuring the volume counts no file of the host', async (context) => {
    await swapSymlinkAtEachStep(context, folder, async ({ volume }, step) => {
      assert.ok((await folderBytes(volume)) < 1024 * 1024, `step ${step}`);
    });
  });

  test('before any step of removing the volume removes no file of the host', async (context) => {
    await swapSymlinkAtEachStep(context, folder, async ({ volume, host }, step) => {
      const before = stateOf(host);
      // An entry that was swapped during the removal may remain. Then the removal fails, and the agent retries.
      await removeFolder(volume).catch(() => removeFolder(volume));
      assert.equal(existsSync(volume), false, `step ${step}`);
      assert.deepEqual(stateOf(host), before, `step ${step}`);
    });
  });
});

describe('symbolic links in a volume', () => {
  const links: [title: string, target: (volume: string) => string, path: string, expected: string][] = [
    ['a relative link that stays inside', () => 'p/below', 'link', 'p/below'],
    ['an absolute link that stays inside', (volume) => join(volume, 'p'), 'link/below', 'p/below'],
    ['a link up and down again', () => 'p/../p/./below', 'link', 'p/below'],
    ['a link to the volume itself', () => '.', 'link/p', 'p'],
    ['a new folder behind a link', () => 'p', 'link/new', 'p/new'],
    ['a link to itself', () => 'link', 'link', 'failed to prepare'],
    ['a link above the volume', () => '../host', 'link', 'failed to prepare'],
    ['a link above and back', (volume) => `../${volume.split('/').at(-1)}/p`, 'link', 'failed to prepare'],
    ['an absolute link outside', () => '/etc', 'link', 'failed to prepare'],
    ['a link to nothing', () => 'p/none', 'link', 'failed to prepare'],
    ['a folder below a file', () => 'p', 'file/below', 'failed to'],
  ];
  for (const [title, target, path, expected] of links) {
    test(`${title}: ${expected}`, async () => {
      const volume = join(folder, 'volume');
      mkdirSync(join(volume, 'p/below'), { recursive: true });
      writeFileSync(join(volume, 'file'), '');
      symlinkSync(target(volume), join(volume, 'link'));
      const place = await opened(volume, path);
      if (expected.startsWith('failed')) assert.ok(place.startsWith(expected), place);
      else assert.equal(place, join(volume, expected));
    });
  }

  test('a path with more components than the kernel accepts is rejected, and nothing of it is created', async () => {
    const volume = join(folder, 'volume');
    mkdirSync(volume);
    const place = await opened(volume, 'n/'.repeat(2_049));
    const made = readdirSync(volume);
    // The test's clean-up cannot remove folders nested this deep.
    await removeFolder(volume);
    assert.match(place, /^failed to prepare subPath/);
    assert.deepEqual(made, []);
  });

  test('links that together are deeper than the kernel accepts are rejected', async () => {
    const volume = join(folder, 'volume');
    const deep = Array.from({ length: 700 }, () => 'd').join('/');
    let place: FileDescriptor | undefined;
    for (let at = 0; at < 3; at += 1) {
      if (!place) mkdirSync(volume);
      const here: string = place?.path ?? volume;
      symlinkSync(deep, `${here}/link`);
      mkdirSync(`${here}/${deep}`, { recursive: true });
      const next: FileDescriptor = await FileDescriptor.open(`${here}/link`);
      await place?.close();
      place = next;
    }
    await place?.close();
    const found = [await opened(volume, 'link/link'), await opened(volume, 'link/link/link')];
    await removeFolder(volume);
    assert.match(found[0] ?? '', /\/d$/);
    assert.match(found[1] ?? '', /^failed to prepare subPath/);
  });

  test('a missing folder gets the mode of the volume', async () => {
    const volume = join(folder, 'volume');
    mkdirSync(volume);
    await applyFsGroup(volume, { fsGroup: GROUP });
    await opened(volume, 'made/below');
    const modes = ['', 'made', 'made/below'].map((name) => lstatSync(join(volume, name)).mode & 0o7777);
    assert.deepEqual(new Set(modes).size, 1, modes.map((mode) => mode.toString(8)).join());
    assert.equal((modes[0] ?? 0) & 0o2770, 0o2770);
  });
});

describe('a hostPath below a folder that a container writes to', () => {
  for (const type of ['DirectoryOrCreate', 'FileOrCreate', '']) {
    test(`of type "${type}" creates nothing at the target of a dangling link`, async () => {
      symlinkSync(join(folder, 'none'), join(folder, 'link'));
      await assert.rejects(prepareHostPath({ path: join(folder, 'link'), type }));
      assert.equal(existsSync(join(folder, 'none')), false);
    });
  }

  test('creates nothing through a link that replaces a folder just created', async (context) => {
    mkdirSync(join(folder, 'host'));
    const { makeFolder } = FileDescriptor.prototype;
    context.mock.method(
      FileDescriptor.prototype,
      'makeFolder',
      async function swap(this: FileDescriptor, name: string, mode: number) {
        await makeFolder.call(this, name, mode);
        rmdirSync(this.entry(name));
        symlinkSync(join(folder, 'host'), this.entry(name));
      },
    );
    const path = join(folder, 'made/below');
    await assert.rejects(prepareHostPath({ path, type: 'DirectoryOrCreate' }), /replaced by a link/);
    assert.deepEqual(readdirSync(join(folder, 'host')), []);
  });

  test('has the modes that upstream uses, whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      await prepareHostPath({ path: join(folder, 'made/below'), type: 'DirectoryOrCreate' });
      await prepareHostPath({ path: join(folder, 'made/file'), type: 'FileOrCreate' });
    } finally {
      process.umask(before);
    }
    const modes = ['made', 'made/below', 'made/file'].map(
      (name) => lstatSync(join(folder, name)).mode & 0o777,
    );
    assert.deepEqual(modes, [0o755, 0o755, 0o644]);
  });
});

test('folders nested deeper than a path can be long are measured, assigned to a group and removed', async () => {
  const volume = join(folder, 'volume');
  mkdirSync(volume);
  const levels = 700;
  let here = await FileDescriptor.open(volume);
  for (let level = 0; level < levels; level += 1) {
    await here.makeFolder('deep-folder', 0o755);
    const below: FileDescriptor | undefined = await here.child('deep-folder');
    assert.ok(below);
    await here.close();
    here = below;
  }
  writeFileSync(here.entry('file'), 'x'.repeat(100_000));
  await here.close();
  assert.ok((await folderBytes(volume)) > 100_000);
  await applyFsGroup(volume, { fsGroup: GROUP });
  await removeFolder(volume);
  assert.equal(existsSync(volume), false);
});

test('files whose names are not UTF-8 are measured and removed', async () => {
  const volume = join(folder, 'volume');
  mkdirSync(volume);
  writeFileSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe])]), 'x'.repeat(100_000));
  assert.ok((await folderBytes(volume)) > 100_000);
  await removeFolder(volume);
  assert.deepEqual(readdirSync(dirname(volume)), []);
});
