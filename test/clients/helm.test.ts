/** Helm 3 and 4, unmodified, with a chart of many kinds, on a coordinator with hollow hosts. */
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { ConformanceFleet } from '../conformance/scenarios/conformance-fleet.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { findClient } from '../harness/clients/client-binaries.js';
import { createHelm, type Helm } from '../harness/clients/helm.js';
import { writeChart } from '../harness/clients/helm-chart.js';

/** Every kind in the chart. */
const KINDS = 'ds,sa,svc,cm,secret,role,rolebinding,clusterrole,clusterrolebinding';
const WAIT = '--wait --timeout 60s';

const helm3 = findClient('helm-3.17.2');
const helm4 = findClient('helm-4.1.4');

describe('Helm', () => {
  if ('why' in helm3 || 'why' in helm4) {
    const why = 'why' in helm3 ? helm3.why : 'why' in helm4 ? helm4.why : '';
    test('Helm is not installed', (context: TestContext) => leaveOut(context, 'Helm 3 and 4', why));
    return;
  }
  let fleet: ConformanceFleet;
  const helms = new Map<string, Helm>();

  before(async () => {
    const node = (name: string) => ({ name, labels: {}, taints: [] });
    fleet = await ConformanceFleet.start({ nodes: [node('h1'), node('h2')], unreadyImages: [] });
    for (const [name, { path }] of [['helm-3.17.2', helm3] as const, ['helm-4.1.4', helm4] as const]) {
      const helm = createHelm(fleet.kubeconfig, path);
      writeChart(join(helm.home, 'sentry'));
      helms.set(name, helm);
    }
  });
  after(async () => {
    for (const helm of helms.values()) helm.remove();
    await fleet.stop();
  });

  const helmNamed = (name: string): Helm => {
    const helm = helms.get(name);
    assert.ok(helm);
    return helm;
  };
  /** Distinct images of the ready Pods of a release. */
  const images = async (release: string): Promise<string> => {
    const path = 'jsonpath={.items[?(@.status.containerStatuses[0].ready)].spec.containers[0].image}';
    const text = await fleet.kubectl.ok(`get pods -n apps -l app=${release} -o ${path}`);
    return [...new Set(text.split(' '))].join(' ');
  };
  const interval = (release: string) =>
    fleet.kubectl.ok(`get cm ${release} -n apps -o jsonpath={.data.interval}`);

  for (const [name, release] of [
    ['helm-3.17.2', 'three'],
    ['helm-4.1.4', 'four'],
  ] as const) {
    test(`${name} installs, upgrades, rolls back and uninstalls with --wait`, async () => {
      const helm = helmNamed(name);
      await helm.ok(`install ${release} ./sentry -n apps --create-namespace ${WAIT}`);
      assert.equal(await images(release), 'sentry:1');
      await helm.ok(`upgrade ${release} ./sentry -n apps --set image.tag=2,interval=60 ${WAIT}`);
      assert.deepEqual([await images(release), await interval(release)], ['sentry:2', '60']);
      await helm.ok(`rollback ${release} 1 -n apps ${WAIT}`);
      assert.deepEqual([await images(release), await interval(release)], ['sentry:1', '30']);
      assert.match(await helm.ok('list -n apps'), new RegExp(`^${release}\\s+apps\\s+3\\s.*deployed`, 'm'));
      await helm.ok(`uninstall ${release} -n apps ${WAIT}`);
      const left = await fleet.kubectl.ok(`get ${KINDS} -n apps -o name`);
      assert.deepEqual(
        left.split('\n').filter((line) => line.endsWith(`/${release}`)),
        [],
      );
    });
  }

  for (const name of ['helm-3.17.2', 'helm-4.1.4']) {
    test(`${name} renders the coordinator's own chart to objects that the API accepts strictly`, async () => {
      const helm = helmNamed(name);
      const { writeHelmChart } = await import(pathToFileURL(resolve('release/helm-chart.mjs')).href);
      const target = join(helm.home, 'chart.tgz');
      await writeHelmChart({ root: resolve('.'), version: '1.2.3', epoch: 0, target });
      await helm.ok('lint --strict chart.tgz');
      assert.match((await helm.run('template x chart.tgz')).stderr, /advertise must be the name or address/);
      const port = 'service.type=NodePort,service.port=30443,service.nodePort=30443';
      const values = `advertise=co.example,${port},storage.className=fast,image.tag=9`;
      const text = await helm.ok(`template shop chart.tgz -n default --set ${values}`);
      const [service, set, ...others] = parseAllDocuments(text).map((each) => each.toJS());
      assert.deepEqual(others, []);
      const [container] = set.spec.template.spec.containers;
      assert.equal(container.image, 'everynode.dev/coordinator:9');
      assert.deepEqual(
        container.env.map((each: { value: unknown }) => each.value),
        ['co.example', '30443'],
      );
      assert.deepEqual(service.spec.ports, [
        { name: 'https', port: 30_443, nodePort: 30_443, targetPort: 'https' },
      ]);
      const { serviceName, volumeClaimTemplates, ...rest } = set.spec;
      assert.equal(serviceName, service.metadata.name);
      assert.deepEqual(service.spec.selector, set.spec.template.metadata.labels);
      const [claim] = volumeClaimTemplates;
      assert.equal(claim.spec.storageClassName, 'fast');
      // Everynode has no StatefulSets. Everything in it is also part of these.
      rest.template.spec.volumes.push({ name: 'data', persistentVolumeClaim: { claimName: 'data' } });
      const deployment = { ...set, kind: 'Deployment', spec: rest };
      const items = [service, deployment, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim }];
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      const applied = await fleet.kubectl.ok('apply --dry-run=server --validate=strict -f -', list);
      assert.equal(applied.match(/ created \(server dry run\)$/gm)?.length, 3, applied);
      assert.deepEqual(set.spec.template.spec.hostAliases, [{ ip: '127.0.0.1', hostnames: ['co.example'] }]);
      const byAddress = await helm.ok('template shop chart.tgz --set advertise=2001:db8::1');
      const [, ofAddress] = parseAllDocuments(byAddress).map((each) => each.toJS());
      assert.deepEqual(ofAddress.spec.template.spec.hostAliases, [], 'an IPv6 address is no host name');
    });
  }

  test('helm-4.1.4 names the other owner of a field on conflict, and takes over by force', async () => {
    const helm = helmNamed('helm-4.1.4');
    await helm.ok(`install contested ./sentry -n apps --create-namespace ${WAIT}`);
    await fleet.kubectl.ok('set image ds/contested main=other:9 -n apps');
    const refused = await helm.run('upgrade contested ./sentry -n apps --set image.tag=2');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /conflict with "kubectl-set" using apps\/v1/);
    await helm.ok(`upgrade contested ./sentry -n apps --set image.tag=2 --force-conflicts ${WAIT}`);
    assert.equal(await images('contested'), 'sentry:2');
    await helm.ok(`uninstall contested -n apps ${WAIT}`);
  });

  test('helm-4.1.4 continues a release of helm-3.17.2, and the reverse', async () => {
    await helmNamed('helm-3.17.2').ok(`install moved ./sentry -n apps --create-namespace ${WAIT}`);
    await helmNamed('helm-4.1.4').ok(`upgrade moved ./sentry -n apps --set image.tag=2 ${WAIT}`);
    const serverSide = '--server-side=true --set image.tag=3';
    await helmNamed('helm-4.1.4').ok(`upgrade moved ./sentry -n apps ${serverSide} ${WAIT}`);
    assert.equal(await images('moved'), 'sentry:3');
    await helmNamed('helm-4.1.4').ok(`uninstall moved -n apps ${WAIT}`);
  });

  test("a chart's Service has an address and ports of two protocols, and no warning", async () => {
    const helm = helmNamed('helm-4.1.4');
    await helm.ok(`install served ./sentry -n apps --create-namespace ${WAIT}`);
    const list = await fleet.kubectl.ok('get svc served -n apps');
    assert.match(list, /served +ClusterIP +10\.96\.\d+\.\d+ +<none> +9100\/TCP,53\/UDP,53\/TCP/);
    await helm.ok(`uninstall served -n apps ${WAIT}`);
    const { stderr } = await fleet.kubectl.run('create service clusterip lone --tcp=80'.split(' '));
    assert.equal(stderr, '');
  });
});
