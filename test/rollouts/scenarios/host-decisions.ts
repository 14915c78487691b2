/** Decisions of the hosts themselves: windows in their own time zones, `not now`, image prefetch. */
import { strict as assert } from 'node:assert';
import type { SimulatedNode } from '../../../agent/simulate/simulated-node.js';
import { isPulling } from '../../harness/simulated/images-on-hosts.js';
import type { Scenario } from '../rollout-scenario.js';
import { ScenarioDaemonSet } from '../scenario-daemonset.js';
import { LAB_LABEL, SITE_LABEL, ZONE_LABEL } from '../scenario-fleet.js';

const LOOK_MS = 20;
const namesOf = (hosts: readonly SimulatedNode[]) => hosts.map(({ name }) => name).sort();

/** Calls `look` repeatedly until the returned function is called. */
function watching(look: () => void): () => void {
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}

/**
 * The current full hour in Berlin. A window of two hours from then is open for at least one more hour, and closed in
 * Tokyo.
 */
function hourInBerlin(): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    hour: 'numeric',
    hourCycle: 'h23',
    timeZone: 'Europe/Berlin',
  });
  return Number(format.format(new Date()));
}

const WINDOWS: Scenario = {
  name: 'a good release waits for windows in each host’s time zone until an operator overrides them',
  rows: [6],
  play: async (stage) => {
    const schedule = `0 ${hourInBerlin()} * * *`;
    const windows = [{ schedule, durationSeconds: 7200, timeZoneLabel: ZONE_LABEL }];
    const rolled = await ScenarioDaemonSet.start(stage, 'windows', { windows });
    const inBerlin = stage.select(({ labels }) => labels[ZONE_LABEL] === 'Europe.Berlin');
    const others = stage.nodes - inBerlin.length;
    await rolled.release(2);
    const isHeld = ({ codes }: { codes?: Record<string, number> }) =>
      codes?.Updated === inBerlin.length && codes.OutsideWindow === others;
    await rolled.until('Berlin to be done and Tokyo to wait', isHeld);
    assert.deepEqual(rolled.hostsThatRan(2).sort(), namesOf(inBerlin));
    await rolled.steer('override-windows', '*', 'the shops are closed today');
    const { phase, steering } = await rolled.reaches('Completed');
    const [request] = (steering?.requests ?? []).filter(({ verb }) => verb === 'override-windows');
    assert.ok(request?.user && request.reason === 'the shops are closed today');
    await rolled.remove();
    return { phase };
  },
};

const BUSY: Scenario = {
  name: 'a good release continues past hosts that postpone the update',
  rows: [7],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'busy', { updateLock: { maxSeconds: 3600 } });
    const busy = stage.select(({ labels }) => labels[LAB_LABEL] === 'yes').slice(0, 3);
    for (const host of busy) host.lockUpdates('a till in the middle of a sale');
    await rolled.release(2);
    const isHeld = ({ codes, updated }: { codes?: Record<string, number>; updated: number }) =>
      codes?.UpdateLocked === busy.length && updated === stage.nodes - busy.length;
    await rolled.until('all others to be done', isHeld);
    assert.ok(busy.every((host) => !host.hasRun('busy:2')));
    const [forced, ...patient] = busy;
    assert.ok(forced);
    await rolled.steer('override-locks', forced.name, 'a recall');
    await rolled.until(
      'the postponed host to be updated',
      ({ codes }) => codes?.UpdateLocked === patient.length,
    );
    assert.ok(patient.every((host) => !host.hasRun('busy:2')));
    for (const host of busy) host.lockUpdates(undefined);
    const { phase } = await rolled.reaches('Completed');
    await rolled.remove();
    return { phase };
  },
};

const AHEAD: Scenario = {
  name: 'a good release with prefetched images updates one host a site at a time',
  rows: [19],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'slow-to-pull', {
      spreadBy: SITE_LABEL,
      waves: [{ name: 'all', approval: 'Manual' }],
      prePull: { maxParallel: '15%', perSite: { maxParallel: 1 } },
    });
    const most = { fleet: 0, site: 0 };
    const stop = watching(() => {
      const sites = stage
        .select((host) => isPulling(host, 'slow-to-pull:2'))
        .map(({ labels }) => labels[SITE_LABEL] ?? '');
      most.fleet = Math.max(most.fleet, sites.length);
      for (const site of new Set(sites)) {
        most.site = Math.max(most.site, sites.filter((one) => one === site).length);
      }
    });
    try {
      await rolled.release(2);
      await rolled.haveFetched(2);
    } finally {
      stop();
    }
    assert.equal(most.site, 1, 'no site fetches twice at once');
    assert.ok(most.fleet > 1 && most.fleet <= Math.ceil(0.15 * stage.nodes), `${most.fleet} fetched at once`);
    assert.equal(rolled.hostsThatRan(2).length, 0, 'no Pod was replaced');
    await rolled.steer('approve', 'all');
    const { phase } = await rolled.reaches('Completed', 'rest');
    await rolled.remove();
    return { phase };
  },
};

/** Scenarios in which hosts decide. */
export const HOST_DECISIONS: readonly Scenario[] = [WINDOWS, BUSY, AHEAD];
