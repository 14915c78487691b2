/** Limits that the systemd units set for the two programs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const UNITS = readdirSync('systemd').filter((name) => name.endsWith('.service'));

test('there are units for the agent and the coordinator', () => {
  for (const name of ['everynode-agent.service', 'everynode-coordinator.service'])
    assert.ok(UNITS.includes(name));
});

for (const unit of UNITS) {
  test(`${unit} writes no core dump, which would contain keys and Secrets`, () => {
    const [, service = ''] = readFileSync(join('systemd', unit), 'utf8').split('\n[Service]\n');
    assert.match(service, /^LimitCORE=0$/m);
  });
}
