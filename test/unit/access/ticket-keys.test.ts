import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadTicketKeys, SESSION_SECONDS } from '../../../coordinator/pki/tls-ticket-keys.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const NOW = Date.parse('2026-11-22T00:00:00Z');

describe('ticket keys', () => {
  test('are the same for a week, then replaced', async () => {
    const path = join(temporaryDirectory(), 'ticket-keys');
    const first = await loadTicketKeys(path, NOW);
    assert.equal(first.length, 48);
    assert.deepEqual(await loadTicketKeys(path, NOW + SESSION_SECONDS * 1000 - 1), first);
    assert.notDeepEqual(await loadTicketKeys(path, NOW + SESSION_SECONDS * 1000), first);
  });

  test('from a file with a future date or a damaged file are not used', async () => {
    const path = join(temporaryDirectory(), 'ticket-keys');
    const first = await loadTicketKeys(path, NOW);
    assert.notDeepEqual(await loadTicketKeys(path, NOW - 1), first);
    for (const text of ['', '{', '[]', 'null', '{"madeAt":1,"keys":"YQ=="}']) {
      writeFileSync(path, text);
      assert.equal((await loadTicketKeys(path, NOW)).length, 48);
    }
  });
});
