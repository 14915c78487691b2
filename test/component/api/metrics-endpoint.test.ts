/** The metrics page for Prometheus: its format, and the state of the fleet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metricsPage } from '../../harness/api/scraped-metrics.js';
import { until } from '../../harness/basics/wait-until.js';
import { applyEverywhere, numberReady } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;
/** The text format, version 0.0.4. */
const LINE = /^[a-z_][a-z0-9_]*(\{([a-z_]+="[^"\n]*",?)*\})? [0-9.e+-]+(Inf|NaN)?$/i;

let fleet: SimulatedFleet;
before(async () => {
  fleet = await startSimulatedFleet(NODES);
  await applyEverywhere(fleet, 'till');
  await until(async () => (await numberReady(fleet, 'till')) === NODES, { timeoutMs: 30_000, what: 'Pods' });
});
after(() => fleet.stop());

const page = (path?: string, headers?: Record<string, string>) => metricsPage(fleet.api, path, headers);

test('the page contains fleet, request and commit metrics in Prometheus format', async () => {
  const { text } = await page();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(
    lines.filter((line) => !LINE.test(line)),
    [],
  );
  const value = (start: string) =>
    Number(
      lines
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1),
    );
  assert.equal(value('everynode_agents_connected'), NODES);
  assert.equal(value('everynode_nodes{contact="here",ready="True"}'), NODES);
  assert.equal(value('everynode_pods{phase="Running"}'), NODES);
  assert.equal(value('kube_daemonset_status_number_ready{namespace="default",daemonset="till"}'), NODES);
  assert.ok(
    value('apiserver_request_total{verb="CREATE",group="apps",version="v1",resource="daemonsets"') >= 1,
  );
  assert.ok(value('everynode_store_writes_total') > NODES);
  assert.ok(value('everynode_link_bytes_total{direction="up",cause="status"}') > 0);
  for (const name of ['adds_total', 'queue_duration_seconds_count', 'work_duration_seconds_count'])
    assert.ok(value(`workqueue_${name}{name="daemonset-node"}`) >= NODES, name);
  for (const name of ['unfinished_work_seconds', 'longest_running_processor_seconds'])
    assert.ok(value(`workqueue_${name}{name="daemonset-node"}`) < 60, name);
  assert.equal(value('node_collector_zone_size{zone=""}'), NODES);
  assert.equal(value('node_collector_zone_health{zone=""}'), 100);
  assert.equal(value('node_collector_unhealthy_nodes_in_zone{zone=""}'), 0);
  assert.ok(value('process_resident_memory_bytes') > 0);
});

test('a drained queue is shown as empty', async () => {
  const isEmpty = async () => /^workqueue_depth\{name="daemonset"\} 0$/m.test((await page()).text);
  await until(isEmpty, { timeoutMs: 60_000, what: 'an empty queue' });
});

test('the lines of each agent are on a page of their own', async () => {
  const { text } = await page('/metrics/agents');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(
    lines.filter((line) => !LINE.test(line)),
    [],
  );
  const nodes = lines.filter((line) => line.startsWith('everynode_agent_link_bytes_total{node="node-'));
  assert.equal(nodes.length, 2 * NODES);
  assert.ok(lines.every((line) => Number(line.split(' ').at(-1)) > 0));
});

test('client-chosen names do not become labels', async () => {
  await fleet.api.send('GET', '/apis/evil/v1/invented-by-somebody');
  const { text } = await page();
  assert.ok(!text.includes('invented'));
});

test('the page requires credentials', async () => {
  assert.equal((await page('/metrics', {})).code, 401);
});
