/** What the service proxy logs while nft fails at each check. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NftServiceProxy } from '../../../agent/netfilter/nft-service-proxy.js';
import { createLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { serviceOf } from '../../harness/netfilter/proxied-services.js';

const path = process.env.PATH;
after(() => {
  process.env.PATH = path;
});

test('a problem that lasts is logged every 5 minutes, and not at each check', async () => {
  const folder = temporaryDirectory();
  // The table exists, and the kernel rejects each change.
  const script = `#!/bin/sh
case "$*" in
  *--check*) ;;
  *list*) echo '{"nftables": [{"chain": {"table": "everynode", "name": "services", "handle": 1}}]}' ;;
  *) echo 'Error: Could not process rule' >&2; exit 1 ;;
esac
`;
  writeFileSync(join(folder, 'nft'), script);
  chmodSync(join(folder, 'nft'), 0o755);
  process.env.PATH = `${folder}:${path}`;
  const warnings: string[] = [];
  const clock = new ManualClock();
  const log = {
    ...createLogger('error'),
    info: () => undefined,
    warn: (_: object, text: string) => warnings.push(text),
  };
  const proxy = new NftServiceProxy({
    node: () => ({ name: 'host', zone: '', addresses: [] }),
    onCondition: () => undefined,
    clock,
    log: log as never,
  });
  await proxy.start();
  void proxy.apply([serviceOf('web')]);
  const text = 'rules of services could not be checked or applied';
  const failures = async (count: number) => {
    for (let done = 0; done < count; done++) await proxy.apply([serviceOf('web')]);
  };
  await failures(5);
  assert.deepEqual(warnings, [text]);
  clock.advance(300_000);
  await until(() => warnings.length === 2, { what: 'the next warning' });
  await proxy.stop();
});
