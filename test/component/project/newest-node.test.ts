/** `.ci/newest-node`: which tests it names, and which addon it leaves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { findTests } from '../../runner/schedule.js';

const ADDON = 'node_modules/better-sqlite3/build';
const BINARY = `${ADDON}/Release/better_sqlite3.node`;
const NODE_BINARY = `export const [OWN_ARCHITECTURE, NEWEST_COORDINATOR_NODE] = ['amd64', '22'];
export const nodeFolder = () => process.cwd() + '/nodes/22';
`;
/** Records its arguments, and the addon that tests would load. */
const RUN = `import { readFileSync, writeFileSync } from 'node:fs';
const addon = readFileSync('${BINARY}', 'utf8');
writeFileSync('record', JSON.stringify({ addon, names: process.argv.slice(2) }));
process.exitCode = 1;
`;

/** A project with the script, whose runner of tests records and fails. Its addons are texts. */
class Project {
  readonly #folder = temporaryDirectory();

  constructor() {
    mkdirSync(join(this.#folder, '.ci'));
    copyFileSync('.ci/newest-node', join(this.#folder, '.ci/newest-node'));
    this.write('package.json', '{"type":"module"}');
    this.write('release/node-binary.mjs', NODE_BINARY);
    this.write('dist/test/run.js', RUN);
    this.write('node_modules/better-sqlite3/package.json', '{"version":"1.0.0"}');
    this.write(BINARY, 'installed');
    this.write('nodes/better-sqlite3-1.0.0.node', 'newest');
    mkdirSync(this.path('nodes/22/bin'), { recursive: true });
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.#folder, dirname(path)), { recursive: true });
    writeFileSync(join(this.#folder, path), text);
  }

  path(path: string): string {
    return join(this.#folder, path);
  }

  text(path: string): string {
    return readFileSync(this.path(path), 'utf8');
  }

  run(): { addon: string; names: string[]; status: number | null } {
    const { status, stderr } = spawnSync(this.path('.ci/newest-node'), { encoding: 'utf8' });
    assert.equal(stderr, '');
    return { ...JSON.parse(this.text('record')), status };
  }
}

test('every name in its list has test files', () => {
  const { names } = new Project().run();
  assert.ok(names.includes('component/store'));
  assert.deepEqual(
    names.filter((name) => findTests(name) !== name),
    [],
  );
});

test('the tests load the addon of the newest Node, and after a failure the installed addon is back', () => {
  const project = new Project();
  const { addon, status } = project.run();
  assert.deepEqual([addon, status], ['newest', 1]);
  assert.equal(project.text(BINARY), 'installed');
});

test('after a killed run the next one puts the installed addon back', () => {
  const project = new Project();
  renameSync(project.path(ADDON), project.path(`${ADDON}.installed`));
  project.write(BINARY, 'newest');
  assert.equal(project.run().addon, 'newest');
  assert.equal(project.text(BINARY), 'installed');
  const nested = `${ADDON}/build`;
  assert.deepEqual([`${ADDON}.installed`, nested].map(project.path.bind(project)).filter(existsSync), []);
});
