/**
 * Services while agents restart, readiness flaps and a host reboots without the coordinator. Two hosts, one with Docker
 * and one with Podman.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  clientDaemon,
  ECHO_PORT,
  echoDaemon,
  NOT_READY_FILE,
  serviceOf,
  webDaemon,
} from '../../e2e/services/service-manifests.js';
import { figuresOf, startTraffic } from '../../e2e/services/service-traffic.js';
import {
  addressesOf,
  assertServed,
  clusterIpOf,
  curl,
  elapsed,
  joinAndDeploy,
  PEERS,
} from '../../e2e/services/two-host-clients.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { pause, untilPasses } from '../../harness/basics/wait-until.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { containersOf, INSTALL_COMMAND, TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';

const RETURN_MS = 60_000;
const FLAPS = 20;
/** How long the traffic continues with the new agent. */
const AFTERWARDS_MS = 2_000;
/** Its answer does not depend on readiness, which a busy machine loses for a moment. */
const ECHO = 'echo.default.svc.cluster.local';
const ECHO_PORTS = [{ name: 'echo', port: 9000, targetPort: ECHO_PORT }];
const MANIFESTS = [
  webDaemon('web', 8080),
  webDaemon('inner', 0),
  clientDaemon(),
  echoDaemon(),
  serviceOf('web', 'peers', { clusterIP: 'None' }),
  serviceOf('inner', 'inner-local', { internalTrafficPolicy: 'Local' }),
  serviceOf('echo', 'echo', { internalTrafficPolicy: 'Local', ports: ECHO_PORTS }),
];

describe('Services on disturbed hosts', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
    if (typeof opened !== 'string')
      await joinAndDeploy(opened, MANIFESTS, ['web', 'inner', 'client', 'echo']);
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  type Say = (text: string) => void;
  const law = (rule: string, body: (all: TwoHosts, say: Say) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string') leaveOut(context, 'Services on disturbed hosts', opened);
      else await body(opened, (text) => context.diagnostic(text));
    });
  };

  law('a connection survives agents that restart, are killed and are installed again', async (all, say) => {
    const address = await clusterIpOf(all, 'echo');
    for (const host of [all.one, all.two])
      for (const [what, disturb] of Object.entries(DISTURBANCES)) {
        // A host has the rules of a Service once one of its Pods has looked up its name.
        assert.deepEqual(addressesOf(host, ECHO), [address]);
        const end = await startTraffic(host, 'Pod', { address, port: 9000, name: ECHO });
        disturb(host);
        await untilPasses(() => assert.match(agentState(host), /^active/));
        await pause(AFTERWARDS_MS);
        const traffic = await end();
        say(`${host.engine}, ${what}: ${figuresOf(traffic)}`);
        assert.deepEqual(
          [traffic.steady.bad, traffic.connections.bad, traffic.answers.bad],
          [[], [], []],
          `${what} on ${host.name}: ${figuresOf(traffic)}`,
        );
        // Only an agent that is killed may lose a query that it has read.
        if (what !== 'killed') assert.equal(traffic.lostQueries, 0, `${what} on ${host.name}`);
        assert.ok(traffic.steady.good > 20 && traffic.connections.good > 5, figuresOf(traffic));
      }
  });

  law(
    'a daemon whose readiness flaps is in the answers at the end, without an error in a log',
    async (all, say) => {
      const since = all.one.run('date', '+%F %T');
      const [id = ''] = containersOf(all.one, 'web');
      const [own = ''] = containersOf(all.one, 'inner');
      for (let flap = 0; flap < FLAPS; flap += 1) {
        for (const each of [id, own])
          all.one.runEngine('exec', each, '/bin/busybox', flap % 2 === 0 ? 'touch' : 'rm', NOT_READY_FILE);
        await pause(1_000);
      }
      const from = performance.now();
      for (const host of [all.one, all.two]) await untilPasses(() => assertServed(all, host));
      say(`right ${elapsed(from)} after the last change`);
      for (const host of [all.one, all.two]) assert.deepEqual(errorsSince(host, since), []);
    },
  );

  law(
    'a host that reboots without the coordinator answers names and finds its own daemon',
    async (all, say) => {
      await all.stopCoordinator();
      try {
        for (const host of [all.one, all.two]) {
          await host.reboot();
          const from = performance.now();
          await untilPasses(() => {
            assert.equal(addressesOf(host, PEERS).includes(host.address), true);
            assert.equal(curl(host, 'http://inner-local/').trim(), host.name);
          }, RETURN_MS);
          say(`${host.engine}: served ${elapsed(from)} after the boot`);
        }
      } finally {
        await all.startCoordinator();
      }
      await all.kubectl.ok('rollout status ds/web --timeout=60s');
      for (const host of [all.one, all.two]) await untilPasses(() => assertServed(all, host), RETURN_MS);
    },
  );
});

const DISTURBANCES: Record<string, (host: TestHost) => void> = {
  restarted: (host) => host.run('systemctl', 'restart', 'everynode-agent'),
  killed: (host) => host.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'everynode-agent'),
  'installed again': (host) => host.run(...INSTALL_COMMAND),
};

const agentState = (host: TestHost): string =>
  host.run('sh', '-c', 'systemctl is-active everynode-agent 2>&1 || true');

/** Returns the error lines of the agent's journal since a time of the host. */
function errorsSince(host: TestHost, since: string): string[] {
  const journal = host.run('journalctl', '-u', 'everynode-agent', '-o', 'cat', '--since', since);
  return journal.split('\n').filter((line) => /"level":"error"|level=error/.test(line));
}
