/** Checks what clients and databases see against the log. */

import { type PackedCommit, unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import type { Change } from '../../../coordinator/store/store.js';
import type { Write } from '../../../coordinator/store/write-rules.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { LogTap } from './log-tap.js';
import type { MemberContent } from './member-disk.js';

interface LoggedChange {
  readonly key: string;
  readonly value: string | undefined;
}

export class LogAudit {
  readonly #tap: LogTap;
  /** By revision. */
  readonly #changes: LoggedChange[] = [{ key: '', value: undefined }];
  readonly #present = new Map<string, number>();
  readonly #revisionOf = new Map<string, number>();
  /** Writes by their value, which no two writes share. */
  readonly #requested = new Map<string, Write>();
  /** By record: the first database there, as text. */
  readonly #contents = new Map<number, string>();
  /** The first rule that was broken. */
  violation: string | undefined;

  constructor(engine: MemoryEngine, name: LogName) {
    this.#tap = new LogTap({
      ...{ engine, name },
      onCommit: (commit) => this.#commit(commit),
      fail: (rule) => this.fail(rule),
    });
  }

  get lastRecord(): number {
    return this.#tap.lastRecord;
  }

  get revision(): number {
    return this.#changes.length - 1;
  }

  fail(rule: string): void {
    this.violation ??= rule;
  }

  requested(write: Write): void {
    if (write.kind !== 'delete') this.#requested.set(write.value.toString(), write);
  }

  acknowledged(write: Write, revision: number): void {
    const logged = this.#changes[revision];
    const value = write.kind === 'delete' ? undefined : write.value.toString();
    if (logged?.key !== write.key || logged.value !== value)
      this.fail(`an acknowledged write is lost: revision ${revision} of ${write.key}`);
  }

  /** Call it when no earlier request can take effect any more. */
  refused(write: Write, why: string): void {
    if (write.kind !== 'delete' && this.#revisionOf.has(write.value.toString()))
      this.fail(`a write that was refused (${why}) took effect: ${write.value.toString()}`);
  }

  /** A watch that had seen all changes up to `last` reports these. */
  watched(last: number, changes: readonly Change[], revision: number): void {
    let seen = last;
    for (const change of changes) {
      const logged = this.#changes[change.revision];
      if (change.revision !== seen + 1)
        this.fail(`a watch saw revision ${change.revision} after revision ${seen}`);
      if (logged?.key !== change.key || logged.value !== change.value?.toString())
        this.fail(`a watch saw a change that the log does not have: revision ${change.revision}`);
      seen = change.revision;
    }
    if (revision > seen) this.fail(`a watch missed the changes from revision ${seen + 1} to ${revision}`);
  }

  /** The database of a member has applied an entry. */
  applied(memberId: string, { position, values, revision }: MemberContent): void {
    const stored = [...values].map(([key, value]) => [key, value.revision, value.value.toString()]);
    const text = JSON.stringify([position, revision, stored.sort()]);
    const first = this.#contents.get(position.record);
    if (first === undefined) this.#contents.set(position.record, text);
    else if (first !== text)
      this.fail(
        `the databases differ at record ${position.record}: ${memberId} has ${text}, another ${first}`,
      );
    if (position.record > this.lastRecord)
      this.fail(`${memberId} applied a record that the log does not have`);
  }

  #commit(commit: PackedCommit): void {
    for (const { key, revision, value } of unpackCommit(commit)) {
      this.#checkCondition(key, value?.toString());
      this.#changes.push({ key, value: value?.toString() });
      if (value) this.#present.set(key, revision);
      else this.#present.delete(key);
      if (value) this.#revisionOf.set(value.toString(), revision);
    }
  }

  /** Compares with the log what a writer compared with the leader's memory. */
  #checkCondition(key: string, value: string | undefined): void {
    if (value === undefined) return;
    const write = this.#requested.get(value);
    const expected = write?.kind === 'update' ? write.revision : undefined;
    if (this.#present.get(key) !== expected)
      this.fail(`${value} replaced revision ${this.#present.get(key)} of ${key}, and expected ${expected}`);
    if (this.#revisionOf.has(value)) this.fail(`${value} was written twice`);
  }
}
