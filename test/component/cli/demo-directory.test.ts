/** `everynode demo` neither starts in a directory with files of the user nor removes one. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';

for (const flags of [[], ['--clean']]) {
  test(`demo ${flags.join(' ')} in a directory with other files is refused`, async () => {
    const data = temporaryDirectory();
    writeFileSync(join(data, 'letter.txt'), 'mine');
    const { code, stderr } = await runEverynode(['demo', '--data', data, '--port', '0', ...flags]);
    assert.equal(code, EXIT_CODES.usage, stderr);
    assert.ok(stderr.includes(`${data} is not the data directory of a demo`), stderr);
    assert.match(stderr, /--data/);
    assert.deepEqual(readdirSync(data), ['letter.txt']);
  });
}
