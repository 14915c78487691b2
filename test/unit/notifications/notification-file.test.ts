/** The file of --notification-file: defaults, and errors that name the field without its content. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  notificationSettings,
  readNotificationFile,
} from '../../../coordinator/controllers/notifications/notification-file.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const RECEIVER = { name: 'ops', url: 'https://chat.example/secret-path' };

test('a receiver with a name and a URL gets all topics as JSON', () => {
  assert.deepEqual(notificationSettings({ receivers: [RECEIVER] }, 'f'), {
    siteLabel: 'topology.kubernetes.io/zone',
    console: undefined,
    receivers: [
      {
        ...RECEIVER,
        form: 'json',
        topics: ['RolloutFailed', 'RolloutAwaitingApproval', 'SiteOffline', 'SiteOnline'],
      },
    ],
  });
});

for (const [content, field] of [
  [undefined, 'the file must be a map'],
  [[], 'the file must be a map'],
  [{}, 'receivers must be a list'],
  [{ receivers: [] }, 'receivers must be a list'],
  [{ receivers: [RECEIVER], sitelabel: 'x' }, 'sitelabel is not a known field'],
  [{ receivers: [RECEIVER], siteLabel: 1 }, 'siteLabel must be'],
  [{ receivers: [RECEIVER], console: 'host' }, 'console must be a URL'],
  [{ receivers: ['x'] }, 'receivers[0] must be a map'],
  [{ receivers: [{ ...RECEIVER, name: 'a b' }] }, 'receivers[0].name must be'],
  [{ receivers: [{ ...RECEIVER, url: 'ftp://x/secret-path' }] }, 'receivers[0].url must be a URL'],
  [{ receivers: [{ ...RECEIVER, url: 'https://bot:secret-path@x/' }] }, 'receivers[0].url must be a URL'],
  [{ receivers: [{ ...RECEIVER, form: 'xml' }] }, 'receivers[0].form must be one of json, slack'],
  [{ receivers: [{ ...RECEIVER, topics: ['All'] }] }, 'receivers[0].topics must be a list of RolloutFailed'],
  [{ receivers: [{ ...RECEIVER, token: 'x' }] }, 'receivers[0].token is not a known field'],
  [{ receivers: [RECEIVER, RECEIVER] }, 'receivers has two receivers with the name "ops"'],
] as const) {
  test(`${JSON.stringify(content)} is refused: ${field}`, () => {
    assert.throws(
      () => notificationSettings(content, 'file.yaml'),
      (error: unknown) => {
        assert.ok(error instanceof ExitError);
        assert.ok(error.sentence.startsWith(`file.yaml: ${field}`), error.sentence);
        assert.ok(!error.sentence.includes('secret-path'));
        return true;
      },
    );
  });
}

test('a file that is missing or is not YAML is refused', () => {
  const path = join(temporaryDirectory(), 'n.yaml');
  assert.throws(() => readNotificationFile(path), /cannot be read \(ENOENT\)/);
  writeFileSync(path, 'receivers: [\n  secret');
  assert.throws(() => readNotificationFile(path), /is not valid YAML/);
});
