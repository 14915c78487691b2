/** The log under faults of real etcd processes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import {
  type ClusterStorage,
  type Leadership,
  LogFull,
  LogUnavailable,
} from '../../../coordinator/store/replica/replicated-log.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { type EtcdProcesses, missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { etcdTestPki } from '../../harness/etcd/etcd-test-pki.js';
import { LossyProxy } from '../../harness/etcd/lossy-proxy.js';

const missing = missingEtcd();
const bytes = (index: number) => Buffer.from(`record ${index}`);
let name = { clusterUID: '', generation: 'first' };
let alive: NodeJS.Timeout;
const opened: ClusterStorage[] = [];

before(() => {
  alive = setInterval(() => undefined, 60_000);
});
after(() => clearInterval(alive));
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
});

function faultTest(rule: string, run: () => Promise<void>): void {
  test(rule, async (context) => {
    if (missing !== undefined) return leaveOut(context, 'faults of etcd', missing);
    name = { clusterUID: randomUUID(), generation: 'first' };
    await run();
  });
}

/** Connects with `first` as the member that is used first. */
function connect(etcd: EtcdProcesses, first = 0): ClusterStorage {
  const { endpoints } = etcd;
  const rotated = [...endpoints.slice(first), ...endpoints.slice(0, first)];
  const storage = openEtcdCluster({ access: { ...etcd.access, endpoints: rotated }, name });
  opened.push(storage);
  return storage;
}

async function lead(storage: ClusterStorage): Promise<Leadership> {
  const leadership = await storage.campaign({ memberId: 'a', bootId: 'boot' });
  assert.ok(leadership);
  return leadership;
}

/** Appends records until `stop` was called. Records the longest append. */
class Writer {
  longestMs = 0;
  next = 1;
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(storage: ClusterStorage, term: number) {
    this.#done = this.#write(storage, term);
  }

  /** Resolves when `count` more records are appended. */
  async progress(count = 20): Promise<void> {
    const goal = this.next + count;
    await Promise.race([this.#done, until(() => this.next >= goal, { what: 'appends' })]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #write(storage: ClusterStorage, term: number): Promise<void> {
    while (!this.#isStopped) {
      const began = performance.now();
      assert.equal(await storage.append({ index: this.next, bytes: bytes(this.next) }, term), 'appended');
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      this.next += 1;
    }
  }
}

async function expectAllRecords(storage: ClusterStorage, next: number): Promise<void> {
  assert.deepEqual(await storage.bounds(), { first: 1, next });
  for (let from = 1; from < next; ) {
    const page = await storage.read(from, 100);
    for (const { index, bytes: stored } of page) assert.ok(bytes(index).equals(stored), `record ${index}`);
    from += page.length;
  }
}

describe('three members with TLS', () => {
  let etcd: EtcdProcesses;
  before(async () => {
    if (missing === undefined) etcd = await startEtcd({ members: 3, pki: etcdTestPki(temporaryDirectory()) });
  });
  after(() => etcd?.stop());

  /** Runs `fault` while records are appended through the member `first`. */
  async function underLoad(first: number, fault: (writer: Writer) => Promise<void>): Promise<Writer> {
    const storage = connect(etcd, first);
    const leadership = await lead(storage);
    const writer = new Writer(storage, leadership.term);
    await writer.progress();
    await fault(writer);
    await writer.progress();
    await until(() => leadership.state === 'proven', { what: 'the proof of the leadership' });
    await writer.stop();
    await expectAllRecords(storage, writer.next);
    await leadership.resign();
    return writer;
  }

  async function whole(): Promise<void> {
    await until(() => etcd.endpoints.every((_, index) => etcd.isHealthy(index)), { what: 'three members' });
  }

  faultTest(
    'each append is stored once although the leader of etcd, which is in use, is killed',
    async () => {
      const leader = etcd.leader();
      const writer = await underLoad(leader, async ({ next }) => {
        await etcd.kill(leader);
        assert.ok(next > 1);
      });
      assert.ok(writer.longestMs < 8_000, `${writer.longestMs} ms`);
      etcd.restart(leader);
      await whole();
    },
  );

  faultTest('a member that hangs costs an attempt, and no append is rejected', async () => {
    const member = (etcd.leader() + 1) % 3;
    const writer = await underLoad(member, async (load) => {
      etcd.signal(member, 'SIGSTOP');
      await load.progress();
    });
    etcd.signal(member, 'SIGCONT');
    // The time has no upper bound here: an append that no member answers in time is rejected.
    assert.ok(writer.longestMs > 1_000, `${writer.longestMs} ms`);
    await whole();
  });

  faultTest('an append that a hanging leader of etcd holds back takes effect at most once', async () => {
    const leader = etcd.leader();
    await underLoad(leader, async (load) => {
      etcd.signal(leader, 'SIGSTOP');
      await load.progress();
      etcd.signal(leader, 'SIGCONT');
      await whole();
    });
  });

  faultTest(
    'without a quorum reads are rejected and an append waits; both work after its return',
    async () => {
      const storage = connect(etcd, 0);
      const leadership = await lead(storage);
      await storage.append({ index: 1, bytes: bytes(1) }, leadership.term);
      let wakeUps = 0;
      storage.onChange(() => {
        wakeUps += 1;
      });
      await until(() => wakeUps > 0, { what: 'the watch' });
      await etcd.kill(1);
      await etcd.kill(2);
      const append = storage.append({ index: 2, bytes: bytes(2) }, leadership.term);
      const began = performance.now();
      await assert.rejects(storage.read(1, 1), LogUnavailable);
      assert.ok(performance.now() - began < 7_000);
      await until(() => leadership.state === 'unproven', { what: 'the end of the proof' });
      const health = await storage.health();
      assert.deepEqual(
        health.map(({ error }) => error !== undefined),
        [true, true, true],
      );
      assert.ok(health[0]?.version);
      etcd.restart(1);
      etcd.restart(2);
      assert.equal(await append, 'appended');
      await until(() => leadership.state === 'proven', { what: 'the proof of the leadership' });
      await expectAllRecords(storage, 3);
      wakeUps = 0;
      await until(
        async () => {
          const { next } = await storage.bounds();
          await storage.append({ index: next, bytes: bytes(next) }, leadership.term);
          return wakeUps > 0;
        },
        { what: 'the watch to return', pollMs: 500 },
      );
      await leadership.resign();
      await whole();
    },
  );

  faultTest(
    'a coordinator that hangs with its member is replaced, and its late append is overtaken',
    async () => {
      const member = (etcd.leader() + 1) % 3;
      const old = connect(etcd, member);
      const leadership = await lead(old);
      const next = connect(etcd, (member + 1) % 3);
      await leadership.resign();
      const successor = await lead(next);
      assert.ok(successor.term > leadership.term);
      etcd.signal(member, 'SIGSTOP');
      const append = old.append({ index: 1, bytes: bytes(1) }, leadership.term);
      assert.equal(await append, 'overtaken');
      etcd.signal(member, 'SIGCONT');
      await whole();
      assert.deepEqual(await next.bounds(), { first: 1, next: 1 });
      await successor.resign();
    },
  );

  faultTest('wake-ups continue after the member in use was killed', async () => {
    const reader = connect(etcd, 0);
    let wakeUps = 0;
    reader.onChange(() => {
      wakeUps += 1;
    });
    await until(() => wakeUps > 0, { what: 'the watch' });
    await etcd.kill(0);
    const storage = connect(etcd, 1);
    const leadership = await lead(storage);
    wakeUps = 0;
    let index = 0;
    await until(
      async () => {
        index += 1;
        await storage.append({ index, bytes: bytes(index) }, leadership.term);
        return wakeUps > 1;
      },
      { what: 'a wake-up from another member', pollMs: 200 },
    );
    await leadership.resign();
    etcd.restart(0);
    await whole();
  });
});

describe('one member', () => {
  faultTest('an append and a value of which the network loses the answer are written once', async () => {
    const etcd = await startEtcd();
    const port = Number(etcd.endpoints[0]?.split(':').at(-1));
    const proxy = await LossyProxy.start(port);
    const endpoints = [`http://127.0.0.1:${proxy.port}`, ...etcd.endpoints];
    const lossy = () => {
      const storage = openEtcdCluster({ access: { endpoints, isSecure: false }, name });
      opened.push(storage);
      return storage;
    };
    /** Makes a call of which the answers of the first endpoint are lost. */
    const withLostAnswers = async <T>(call: (storage: ClusterStorage) => Promise<T>): Promise<T> => {
      const storage = lossy();
      await storage.bounds();
      proxy.loseAnswers();
      const result = await call(storage);
      proxy.restore();
      return result;
    };
    try {
      const direct = connect(etcd);
      const { term } = await lead(direct);
      const appended = await withLostAnswers((storage) =>
        storage.append({ index: 1, bytes: bytes(1) }, term),
      );
      assert.equal(appended, 'appended');
      await expectAllRecords(direct, 2);
      const put = await withLostAnswers((storage) => storage.put('keys', bytes(1), { version: 0 }));
      assert.equal(put, true);
      assert.equal(await direct.put('keys', bytes(2), { version: 0 }), false);
    } finally {
      proxy.close();
      await etcd.stop();
    }
  });

  faultTest(
    'an append continues on its own cluster if another endpoint belongs to a foreign one',
    async () => {
      const [etcd, foreign] = [await startEtcd(), await startEtcd()];
      const proxy = await LossyProxy.start(Number(etcd.endpoints[0]?.split(':').at(-1)));
      const endpoints = [`http://127.0.0.1:${proxy.port}`, ...foreign.endpoints];
      const storage = openEtcdCluster({ access: { endpoints, isSecure: false }, name });
      opened.push(storage);
      try {
        const { term } = await lead(storage);
        proxy.loseAnswers();
        let outcome = '';
        const appended = storage.append({ index: 1, bytes: bytes(1) }, term).then((result) => {
          outcome = result;
        });
        await until(async () => outcome !== '' || (await storage.health())[1]?.isForeign === true, {
          what: 'the foreign member to be recognized',
        });
        proxy.restore();
        await appended;
        assert.equal(outcome, 'appended');
        assert.equal(foreign.ctl(['get', '/everynode', '--prefix', '--keys-only']), '');
      } finally {
        proxy.close();
        await etcd.stop();
        await foreign.stop();
      }
    },
  );

  faultTest(
    'etcd without space refuses appends, keeps reads and trims, and accepts appends after a defrag',
    async () => {
      const etcd = await startEtcd({ args: ['--quota-backend-bytes=16777216'] });
      try {
        const storage = connect(etcd);
        const { term } = await lead(storage);
        const large = Buffer.alloc(1_000_000, 'x');
        let index = 1;
        const fill = async () => {
          for (; index < 100; index += 1) await storage.append({ index, bytes: large }, term);
        };
        await assert.rejects(fill(), LogFull);
        assert.ok(index > 5, `${index} records`);
        assert.deepEqual(await storage.bounds(), { first: 1, next: index });
        const [health] = await storage.health();
        assert.deepEqual(health?.alarms, ['NOSPACE']);
        await storage.trim(index, term);
        assert.deepEqual(await storage.bounds(), { first: index - 1, next: index });
        await until(
          () => {
            etcd.ctl(['defrag']);
            etcd.ctl(['alarm', 'disarm']);
            return storage.append({ index, bytes: bytes(index) }, term).then(
              (outcome) => outcome === 'appended',
              (error: unknown) => error instanceof LogFull,
            );
          },
          { what: 'space', pollMs: 500 },
        );
        assert.deepEqual(await storage.bounds(), { first: index - 1, next: index + 1 });
      } finally {
        await etcd.stop();
      }
    },
  );

  faultTest('trimming returns the space of old records: etcd stays small under a long load', async () => {
    const etcd = await startEtcd();
    try {
      const storage = connect(etcd);
      const { term } = await lead(storage);
      const large = Buffer.alloc(256 * 1_024, 'x');
      for (let index = 1; index <= 400; index += 1) {
        await storage.append({ index, bytes: large }, term);
        if (index % 20 === 0) await storage.trim(index - 10, term);
      }
      const [health] = await storage.health();
      // 100 MiB were written, 7 MiB are kept.
      assert.ok((health?.dbBytes ?? Number.POSITIVE_INFINITY) < 40 * 2 ** 20, `${health?.dbBytes} bytes`);
    } finally {
      await etcd.stop();
    }
  });

  faultTest('a connection opened before etcd starts works after its start', async () => {
    const etcd = await startEtcd();
    try {
      await etcd.kill(0);
      const storage = connect(etcd);
      await assert.rejects(storage.leader(), LogUnavailable);
      etcd.restart(0);
      await until(
        () =>
          storage.leader().then(
            (leader) => leader === undefined,
            () => false,
          ),
        { what: 'etcd' },
      );
    } finally {
      await etcd.stop();
    }
  });
});
