/** `everynode-agent doctor` as a user runs it, before and after the join, with a coordinator that runs and one that does not. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../../../agent/decisions/doctor/host-findings.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { accessOf } from '../../harness/console/browser.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const AGENT = resolve(fileURLToPath(import.meta.url), '../../../../agent/everynode-agent.cjs');

/** Not blocking: the coordinator runs in this process. */
function doctor(...args: string[]): Promise<{ code: number | null; findings: Finding[] }> {
  const data = join(temporaryDirectory(), 'data');
  const words = [AGENT, 'doctor', '--runtime', 'hollow', '--data', data, '--output', 'json', ...args];
  return new Promise((done, fail) => {
    execFile(process.execPath, words, (error, stdout, stderr) => {
      const code = error ? Number(error.code) : 0;
      try {
        done({ code, findings: JSON.parse(stdout) as Finding[] });
      } catch {
        fail(new Error(stderr));
      }
    });
  });
}

describe('everynode-agent doctor', () => {
  let fleet: SimulatedFleet;
  before(async () => {
    fleet = await startSimulatedFleet(1);
  });
  after(() => fleet.stop());

  test('a coordinator that answers is in order, and so is the clock', async () => {
    const { server } = accessOf(fleet.kubeconfig);
    const { code, findings } = await doctor('--server', server);
    assert.equal(code, 0);
    const [coordinator, clock] = findings.slice(-2);
    assert.match(coordinator?.found ?? '', /answered after \d+ ms$/);
    assert.deepEqual([coordinator?.result, clock?.check, clock?.result], ['ok', 'clock', 'ok']);
  });

  test('of several coordinators each is checked, and one that is away is an error', async () => {
    const { server } = accessOf(fleet.kubeconfig);
    const port = await closedPort();
    const { code, findings } = await doctor('--server', `https://127.0.0.1:${port},${server}`);
    assert.equal(code, EXIT_CODES.environment);
    const results = findings.filter(({ check }) => check === 'coordinator').map(({ result }) => result);
    assert.deepEqual(results, ['error', 'ok']);
  });

  test('without a coordinator nothing is asked', async () => {
    const { code, findings } = await doctor();
    assert.equal(code, 0);
    assert.equal(findings.at(-1)?.found, 'none is known; pass --server to check one');
  });
});

/** Returns a port that nobody listens on. */
function closedPort(): Promise<number> {
  const server = createServer();
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
