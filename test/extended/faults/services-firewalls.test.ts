/**
 * Services while engines restart and firewalls are flushed. Two hosts, one with Docker and one with Podman.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clientDaemon, serviceOf, webDaemon } from '../../e2e/services/service-manifests.js';
import {
  assertServed,
  curl,
  curlTimes,
  elapsed,
  joinAndDeploy,
} from '../../e2e/services/two-host-clients.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';

/** The agent checks its table every 10 s. */
const RULES_RETURN_MS = 15_000;
const RETURN_MS = 60_000;
const MANIFESTS = [
  webDaemon('web', 8080),
  webDaemon('inner', 0),
  clientDaemon(),
  serviceOf('web', 'peers', { clusterIP: 'None' }),
  serviceOf('web', 'web'),
  serviceOf('inner', 'inner-local', { internalTrafficPolicy: 'Local' }),
];

/** A firewall whose reload deletes the rules of all programs, like Debian's /etc/nftables.conf. */
const FIREWALL = `#!/usr/sbin/nft -f
flush ruleset
table inet filter {
  chain input { type filter hook input priority filter; policy accept; }
}
`;

describe('Services while engines restart and firewalls change', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
    if (typeof opened !== 'string') await joinAndDeploy(opened, MANIFESTS, ['web', 'inner', 'client']);
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  type Say = (text: string) => void;
  const law = (rule: string, body: (all: TwoHosts, say: Say) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string')
        leaveOut(context, 'Services while engines restart and firewalls change', opened);
      else await body(opened, (text) => context.diagnostic(text));
    });
  };

  law('names and the daemon on the own node return after the engine restarts', async (all, say) => {
    for (const host of [all.one, all.two]) {
      restartEngine(host);
      const from = performance.now();
      await untilPasses(() => assertServed(all, host), RETURN_MS);
      say(`${host.engine}: served ${elapsed(from)} after the restart`);
    }
  });

  law('rules return after all rules of the host were flushed', async (all, say) => {
    for (const host of [all.one, all.two]) {
      host.run('nft', 'flush', 'ruleset');
      await rulesReturn(host, say);
    }
  });

  law('rules return after a firewall reloads that begins with a flush', async (all, say) => {
    for (const host of [all.one, all.two]) {
      host.write('/etc/nftables.conf', FIREWALL);
      host.run('systemctl', 'start', 'nftables');
      await rulesReturn(host, say);
      host.run('systemctl', 'reload', 'nftables');
      await rulesReturn(host, say);
    }
  });

  law('the hosts find each other again when the engine has written its own rules', async (all, say) => {
    all.one.run('systemctl', 'restart', 'docker');
    await all.kubectl.ok('delete pod -l app=web --field-selector spec.nodeName=two');
    await all.kubectl.ok('delete pod -l app=client --field-selector spec.nodeName=two');
    const from = performance.now();
    for (const host of [all.one, all.two])
      await untilPasses(() => {
        assertServed(all, host);
        const answers = new Set(curlTimes(host, 'http://web/', 12));
        assert.deepEqual([...answers].sort(), ['one', 'two'], `from ${host.name}`);
      }, RETURN_MS);
    say(`both served ${elapsed(from)} after the restart`);
  });
});

async function rulesReturn(host: TestHost, say: (text: string) => void): Promise<void> {
  const from = performance.now();
  await untilPasses(() => assert.match(host.run('nft', 'list', 'tables'), /everynode/), RULES_RETURN_MS);
  const after = elapsed(from);
  await untilPasses(() => assert.equal(curl(host, 'http://inner-local/').trim(), host.name));
  say(`${host.engine}: rules returned after ${after}, the own daemon answers after ${elapsed(from)}`);
}

/**
 * On a test host the service of Podman has its own mounts, among them the networks of its containers. A process keeps
 * them for the next start of the service, as the host itself does elsewhere.
 */
function restartEngine(host: TestHost): void {
  if (host.engine === 'docker') {
    host.run('systemctl', 'restart', 'docker');
    return;
  }
  host.run('podman', '--remote', 'ps', '-q');
  const service = host.run('systemctl', 'show', '-P', 'MainPID', 'podman.service');
  host.runDetached('nsenter', '-m', '-t', service, 'sleep', 'infinity');
  const keeper = host.run('pgrep', '-n', '-x', 'sleep');
  const start = `nsenter -m -t ${keeper} podman system service --time=0`;
  host.write(
    '/run/systemd/system/podman.service.d/zz-mounts.conf',
    `[Service]\nExecStart=\nExecStart=/usr/bin/${start}\n`,
  );
  host.run('systemctl', 'daemon-reload');
  host.run('systemctl', 'restart', 'podman.socket', 'podman.service');
}
