/** Three real coordinators on a real etcd: what clients and hosts notice when the leader dies or steps down. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { createKubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { CoordinatorCluster } from '../../harness/cluster/coordinator-cluster.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';
import { DAEMON_SETS, daemonSetBody, runOf } from '../../harness/processes/restore-fleet.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const NODE = 'n1';
const PATIENCE_MS = 60_000;

const configMap = (name: string) => ({ metadata: { name }, data: { name } });

/** Writes ConfigMaps one after another at the list of addresses until it is stopped. */
class Writer {
  readonly acknowledged: string[] = [];
  readonly #cluster: CoordinatorCluster;
  readonly #prefix: string;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(cluster: CoordinatorCluster, prefix: string) {
    this.#cluster = cluster;
    this.#prefix = prefix;
  }

  start(): void {
    this.#ended = this.#write();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  /** Resolves after `count` further acknowledged writes. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.acknowledged.length + count;
    await until(() => this.acknowledged.length >= wanted, {
      ...{ timeoutMs: PATIENCE_MS, what: `${count} more acknowledged writes` },
    });
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isStopped; number += 1) {
      const name = `${this.#prefix}-${number}`;
      const { code } = await this.#cluster.send('POST', CONFIG_MAPS, configMap(name));
      // 409: the attempt before, whose answer was lost, was stored.
      assert.ok(code === 201 || code === 409, `${name}: ${code}`);
      this.acknowledged.push(name);
    }
  }
}

describe('failover of three coordinators', { concurrency: 1 }, () => {
  let cluster: CoordinatorCluster | string;

  before(async () => {
    cluster = await CoordinatorCluster.open();
    if (typeof cluster === 'string') return;
    await cluster.startAgent(NODE);
    const { code } = await cluster.send('POST', DAEMON_SETS, daemonSetBody('app', 'app:1'));
    assert.equal(code, 201);
    await podOf(cluster);
  });
  beforeEach(async () => {
    if (typeof cluster === 'string') return;
    for (const member of cluster.members) if (!member.isRunning) member.start();
    for (const member of cluster.members) await cluster.untilServes(member);
    await untilAllCanLead(cluster);
  });
  after(async () => {
    if (typeof cluster !== 'string') await cluster.close();
  });

  const law = (rule: string, body: (cluster: CoordinatorCluster) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof cluster === 'string') leaveOut(context, 'failover of coordinators', cluster);
      else await body(cluster);
    });
  };

  law('every address serves reads and writes', async (cluster) => {
    for (const member of cluster.members) {
      const name = `at-${member.number}`;
      await cluster.api(member).request('POST', CONFIG_MAPS, configMap(name));
      for (const other of cluster.members) await cluster.api(other).request('GET', `${CONFIG_MAPS}/${name}`);
    }
  });

  law('no acknowledged write is lost when the leader is killed', async (cluster) => {
    const leader = await cluster.untilLeader();
    const writer = new Writer(cluster, 'killed');
    writer.start();
    await writer.untilMore(20);
    await leader.kill();
    await writer.untilMore(20);
    await writer.stop();
    assert.notEqual(cluster.leader(), leader);
    assert.deepEqual(await missing(cluster, writer.acknowledged), []);
  });

  law('a watch resumes at its resource version on the new leader without a relist', async (cluster) => {
    const leader = await cluster.untilLeader();
    const { resourceVersion } = await cluster.api(leader).items(CONFIG_MAPS);
    const first = await cluster.api(leader).watch(CONFIG_MAPS, resourceVersion);
    const writer = new Writer(cluster, 'watched');
    writer.start();
    await until(() => first.events.length >= 10, { what: 'ten events' });
    await leader.kill();
    await writer.untilMore(10);
    await writer.stop();
    const next = await cluster.untilLeader(leader);
    const seen = first.events.at(-1)?.object.metadata.resourceVersion ?? '';
    const second = await cluster.api(next).watch(CONFIG_MAPS, seen);
    await until(() => first.events.length + second.events.length >= writer.acknowledged.length, {
      what: 'all events',
    });
    const events = [...first.events, ...second.events];
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name]),
      writer.acknowledged.map((name) => ['ADDED', name]),
    );
    second.close();
  });

  law('a failover restarts no container', async (cluster) => {
    const run = runOf(await podOf(cluster));
    const leader = await cluster.untilLeader();
    await leader.kill();
    await cluster.untilLeader(leader);
    await untilPasses(async () => {
      assert.equal(await isConnected(cluster), true);
      assert.equal(runOf(await podOf(cluster)), run);
    }, PATIENCE_MS);
  });

  law('after a step-down another coordinator leads and the former leader follows', async (cluster) => {
    const leader = await cluster.untilLeader();
    const kubeconfig = `${leader.dataDir}/kubeconfig`;
    const { code, stderr } = await runEverynode(['coordinator', 'step-down', '--kubeconfig', kubeconfig]);
    assert.equal(code, 0, stderr);
    const next = await cluster.untilLeader(leader);
    await cluster.untilServes(leader);
    await cluster.api(next).request('POST', CONFIG_MAPS, configMap('after-step-down'));
    await cluster.api(leader).request('GET', `${CONFIG_MAPS}/after-step-down`);
    assert.equal(cluster.leader(), next);
  });

  test("kubectl gets, executes and reads logs at a standby's address", async (context) => {
    if (typeof cluster === 'string') return leaveOut(context, 'failover of coordinators', cluster);
    const why = whyNoKubectl();
    if (why !== undefined) return leaveOut(context, 'kubectl at a standby', why);
    const [standby] = await cluster.standbys();
    assert.ok(standby);
    const { metadata } = await podOf(cluster);
    await until(() => isConnected(cluster as CoordinatorCluster), {
      timeoutMs: PATIENCE_MS,
      what: 'the agent',
    });
    const kubectl = createKubectl(cluster.kubeconfig(standby));
    try {
      assert.match(await kubectl.ok('get nodes'), new RegExp(`${NODE} +Ready`));
      assert.equal(
        await kubectl.ok(`exec ${metadata.name} -- echo through the standby`),
        'through the standby',
      );
      assert.equal((await kubectl.run(['logs', metadata.name ?? ''])).code, 0);
    } finally {
      kubectl.remove();
    }
  });
});

/** Resolves with the ready Pod of the DaemonSet. */
async function podOf(cluster: CoordinatorCluster): Promise<Pod> {
  let pod: Pod | undefined;
  await until(
    async () => {
      const { body } = await cluster.send('GET', PODS);
      [pod] = (body as { items: Pod[] }).items;
      return pod?.status?.containerStatuses?.[0]?.ready === true;
    },
    { timeoutMs: PATIENCE_MS, what: 'the Pod to be ready' },
  );
  return pod as Pod;
}

/** True if the agent has connected to the present leader. */
async function isConnected(cluster: CoordinatorCluster): Promise<boolean> {
  return (await cluster.send('GET', `/apis/${FLEET_GROUP}/v1/hosts/${NODE}/meters`)).code === 200;
}

/** Returns the acknowledged names that are not stored. */
async function missing(cluster: CoordinatorCluster, names: readonly string[]): Promise<string[]> {
  const { body } = await cluster.send('GET', CONFIG_MAPS);
  const stored = new Set((body as { items: Pod[] }).items.map(({ metadata }) => metadata.name));
  return names.filter((name) => !stored.has(name));
}

/** The leader refuses to step down without a follower that can take over. */
async function untilAllCanLead(cluster: CoordinatorCluster): Promise<void> {
  const roles = async () => {
    const { body } = await cluster.send('GET', `/apis/${FLEET_GROUP}/v1/coordinators`);
    return (body as { items: Coordinator[] }).items.map(({ status }) => status.role).join(' ');
  };
  await until(async () => /^(Follower )*Leader( Follower)*$/.test(await roles()) || roles(), {
    ...{ timeoutMs: PATIENCE_MS, what: 'followers that can take over' },
  });
}
