/** Changes of settings files, and the versions of the agent on a host. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { InstalledVersions } from '../../../agent/install/installed-versions.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { isAbsentOrOwnLink } from '../../../shared/process/service/host-commands.js';
import { updateSettingsFile } from '../../../shared/process/settings/settings-file.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

test('a new settings file starts with its comment and contains the given settings', () => {
  assert.equal(
    updateSettingsFile(undefined, '# head\n', { server: 'https://a:1' }),
    '# head\n\nserver: https://a:1\n',
  );
});

test('given settings replace old ones; comments, order and other settings are kept', () => {
  const text = '# mine\nlabels: a=b # why\nlogLevel: debug\n';
  assert.equal(
    updateSettingsFile(text, '# head\n', { labels: 'c=d' }),
    '# mine\nlabels: c=d # why\nlogLevel: debug\n',
  );
  assert.equal(updateSettingsFile(text, '# head\n', {}), text);
});

test('a file that is not YAML is reported and not overwritten', () => {
  assert.throws(() => updateSettingsFile('a: [', '', { b: 'c' }), ExitError);
});

function versionsWith(...names: string[]): InstalledVersions {
  const directory = temporaryDirectory();
  for (const name of names) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'everynode-agent'), name);
  }
  return new InstalledVersions(directory);
}

test('switching versions keeps the previous one; switching to the same version keeps it too', () => {
  const versions = versionsWith('0.1.0', '0.2.0');
  versions.activate('0.1.0');
  assert.deepEqual([versions.current, versions.previous], ['0.1.0', '0.1.0']);
  versions.activate('0.2.0');
  versions.activate('0.2.0');
  assert.deepEqual([versions.current, versions.previous], ['0.2.0', '0.1.0']);
});

test('old versions are removed; the running, the previous and a new one are kept', () => {
  const versions = versionsWith('0.1.0', '0.2.0', '0.3.0', '0.4.0');
  versions.activate('0.2.0');
  versions.activate('0.3.0');
  versions.prune('0.4.0');
  assert.deepEqual(
    ['0.1.0', '0.2.0', '0.3.0', '0.4.0'].filter((name) => existsSync(versions.program(name))),
    ['0.2.0', '0.3.0', '0.4.0'],
  );
});

test('the command link points to the confirmed version, whichever runs', () => {
  const versions = versionsWith('0.1.0', '0.2.0');
  const commanded = () => readlinkSync(join(versions.directory, 'proven'));
  versions.activate('0.1.0');
  versions.markProven('0.1.0');
  versions.activate('0.2.0');
  assert.equal(commanded(), '0.1.0', 'on trial');
  versions.markProven('0.2.0');
  assert.equal(commanded(), '0.2.0');
});

test('a command that other software installed is left alone; a dangling link of ours is replaced', () => {
  const folder = temporaryDirectory();
  const [ours, npms, file] = ['ours', 'npms', 'file'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  symlinkSync('/versions/proven/everynode-agent', ours);
  symlinkSync('../lib/node_modules/everynode/dist/agent/everynode-agent.sh', npms);
  writeFileSync(file, '');
  const are = [ours, npms, file, join(folder, 'none')].map((path) => isAbsentOrOwnLink(path, '/versions'));
  assert.deepEqual(are, [true, false, false, true]);
});
