/**
 * The independent checker of several coordinators: compares what clients were promised, what a watch saw, what engines
 * ran and what the coordinators report. Pure. It shares no rule with the product.
 */
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import type { RecordedContainer } from './container-recorder.js';
import type { Seen } from './turn-watch.js';
import type { Acknowledged } from './turn-writer.js';

/** Acknowledged writes that are not stored. `stored`: turns by name. */
export function lostWrites(
  acknowledged: readonly Acknowledged[],
  stored: ReadonlyMap<string, number>,
): string[] {
  return acknowledged.flatMap(({ name, turn, created, deleted }) => [
    ...(turn < 0 || stored.get(name) === turn
      ? []
      : [`${name} is at turn ${stored.get(name)}, and ${turn} was acknowledged last`]),
    ...[...created].filter((each) => !stored.has(each)).map((each) => `the creation of ${each} is lost`),
    ...[...deleted].filter((each) => stored.has(each)).map((each) => `the deletion of ${each} is lost`),
  ]);
}

/** Checks a watch change by change: each one once, in order, without a gap except after a list. */
export class WatchChecker {
  readonly violations: string[] = [];
  readonly #turns = new Map<string, number>();
  readonly #created = new Set<string>();
  readonly #deleted = new Set<string>();
  #version = 0;
  /** Number of lists, of which the first one began the watch. */
  lists = 0;
  changes = 0;

  /** `isTurnWriter`: whether the ConfigMap of this name counts turns. */
  constructor(private readonly isTurnWriter: (name: string) => boolean) {}

  add(seen: readonly Seen[]): void {
    for (const each of seen) {
      if (each.type === 'LIST') this.#list(each.turns, each.version);
      else this.#change(each);
    }
  }

  /** Acknowledged changes that the watch has not delivered. */
  missing(acknowledged: readonly Acknowledged[]): string[] {
    return acknowledged.flatMap(({ name, turn, created, deleted }) => {
      const seen = this.#turns.get(name) ?? -1;
      return [
        ...(seen >= turn ? [] : [`the watch saw turn ${seen} of ${name}, and ${turn} was acknowledged`]),
        ...[...created, ...deleted]
          .filter((each) => !this.#created.has(each))
          .map((each) => `the watch did not see the creation of ${each}`),
        ...[...deleted]
          .filter((each) => !this.#deleted.has(each))
          .map((each) => `the watch did not see the deletion of ${each}`),
      ];
    });
  }

  #list(turns: ReadonlyMap<string, number>, version: number): void {
    this.lists += 1;
    if (version < this.#version)
      this.violations.push(`a list has version ${version}, and the watch had seen ${this.#version}`);
    this.#version = version;
    for (const [name, turn] of turns) {
      if (this.isTurnWriter(name)) this.#turns.set(name, turn);
      else this.#created.add(name);
    }
    // What was deleted while the watch had no position was not seen.
    for (const name of this.#created) if (!turns.has(name)) this.#deleted.add(name);
  }

  #change({ type, name, turn, version }: Exclude<Seen, { type: 'LIST' }>): void {
    this.changes += 1;
    if (version <= this.#version)
      this.violations.push(`the watch saw ${type} ${name} at version ${version} after ${this.#version}`);
    this.#version = version;
    if (!this.isTurnWriter(name)) {
      const seen = type === 'DELETED' ? this.#deleted : this.#created;
      if (seen.has(name)) this.violations.push(`the watch saw ${type} ${name} twice`);
      seen.add(name);
      return;
    }
    const expected = (this.#turns.get(name) ?? -1) + 1;
    if (turn !== expected)
      this.violations.push(`the watch saw turn ${turn} of ${name} after turn ${expected - 1}`);
    this.#turns.set(name, turn);
  }
}

export interface ExpectedContainers {
  readonly hosts: readonly string[];
  /** Name of the DaemonSet that no request changes. */
  readonly steady: string;
  /** Name of the DaemonSet that is released, and the images of its releases in order. */
  readonly released: string;
  readonly releases: readonly string[];
}

/** Containers that were restarted, replaced without a release, or started twice for a release. */
export function wrongContainers(
  containers: readonly RecordedContainer[],
  { hosts, steady, released, releases }: ExpectedContainers,
): string[] {
  return hosts.flatMap((host) => {
    const own = containers.filter((each) => each.host === host);
    const restarted = own.filter(({ attempt, starts }) => attempt > 0 || starts.length > 1);
    const ofSteady = own.filter(({ name }) => name === steady);
    const [first] = ofSteady;
    return [
      ...restarted.map(
        ({ name, image }) => `the container of ${name} with ${image} on ${host} was restarted`,
      ),
      ...(ofSteady.length > 1 ? [`${steady} has had ${ofSteady.length} containers on ${host}`] : []),
      ...(first && first.state !== 'running' ? [`${steady} is ${first.state} on ${host}`] : []),
      ...releaseViolations(
        own.filter(({ name }) => name === released),
        releases,
        `${released} on ${host}`,
      ),
    ];
  });
}

/** Each release starts one container, in the order of the releases. */
function releaseViolations(
  containers: readonly RecordedContainer[],
  releases: readonly string[],
  where: string,
): string[] {
  const order = containers.map(({ image }) => releases.findIndex((release) => isImage(image, release)));
  return order.flatMap((release, index) => {
    const before = index === 0 ? 0 : (order[index - 1] ?? 0) + 1;
    if (index === 0 || release === before) return [];
    return [`${where} ran release ${release} after release ${before - 1}`];
  });
}

/** Problems that end once everything has settled. */
export function unsettledContainers(
  containers: readonly RecordedContainer[],
  { hosts, steady, released, releases }: ExpectedContainers,
): string[] {
  const release = releases.at(-1) ?? '';
  return hosts.flatMap((host) =>
    [steady, released].flatMap((name) => {
      const own = containers.filter((each) => each.host === host && each.name === name);
      const running = own.filter(({ state }) => state === 'running');
      const isNew = name !== released || isImage(running[0]?.image ?? '', release);
      return running.length === 1 && isNew
        ? []
        : [`${name} runs ${running.map(({ image }) => image).join(' and ') || 'nothing'} on ${host}`];
    }),
  );
}

/** What the coordinators report at one address; undefined = no answer. */
export interface MemberReport {
  readonly address: string;
  readonly coordinators: readonly Coordinator[] | undefined;
}

/** Differences from: all addresses name the same leader, and all others follow without a lag. */
export function disagreements(
  reports: readonly MemberReport[],
  leaderOfEtcd: string | undefined,
  members: number,
): string[] {
  return reports.flatMap(({ address, coordinators }) => {
    if (!coordinators) return [`${address} does not serve`];
    const roles = coordinators.map(({ status }) => status.role).sort();
    const expected = [...Array<string>(members - 1).fill('Follower'), 'Leader'];
    const leader = coordinators.find(({ status }) => status.role === 'Leader');
    const late = coordinators.filter(({ status }) => status.lagRecords !== 0);
    return [
      ...(roles.join() === expected.join() ? [] : [`${address} reports the roles ${roles.join(', ')}`]),
      ...(leader?.spec.memberId === leaderOfEtcd
        ? []
        : [`${address} reports the leader ${leader?.spec.memberId}, and etcd has ${leaderOfEtcd}`]),
      ...late.map(({ spec, status }) => `${spec.server} lags by ${status.lagRecords} records`),
    ];
  });
}

/** Databases of members that differ from the first one. `digests`: of all objects, by member. */
export function differentDatabases(digests: ReadonlyMap<string, string>): string[] {
  const [first] = digests.values();
  return [...digests]
    .filter(([, digest]) => digest !== first)
    .map(([member]) => `the database of ${member} differs from the first one`);
}

/** Engines name images with or without their registry. */
function isImage(image: string, name: string): boolean {
  return image === name || image.endsWith(`/${name}`);
}
