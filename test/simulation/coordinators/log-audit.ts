/** Reads each record at the moment when etcd stores it, and checks what clients and databases see against it. */

import { unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import { type EtcdKeys, etcdKeys, type LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import { EntryReader, type LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import type { Change } from '../../../coordinator/store/store.js';
import type { Write } from '../../../coordinator/store/write-rules.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import type { MemberContent } from './member-disk.js';

interface LoggedChange {
  readonly key: string;
  readonly value: string | undefined;
}

export class LogAudit {
  readonly #engine: MemoryEngine;
  readonly #keys: EtcdKeys;
  readonly #reader: EntryReader;
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
    this.#engine = engine;
    this.#keys = etcdKeys(name);
    this.#reader = new EntryReader({ generation: name.generation, record: 0, term: 0, chain: '' });
    engine.onChange(() => this.#read());
  }

  get lastRecord(): number {
    return this.#reader.position.record;
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

  #read(): void {
    if (this.violation) return;
    const range = this.#keys.records(this.#reader.nextRecord);
    for (const { key, value } of this.#engine.apply('Range', range).kvs) {
      const { term } = this.#reader.position;
      try {
        const entry = this.#reader.add({ index: this.#keys.indexOf(key), bytes: value });
        if (entry) this.#add(entry, term);
      } catch (error) {
        this.fail(`the log does not continue: ${String(error)}`);
        return;
      }
    }
  }

  #add({ operation, position: { record, term } }: LogEntry, termBefore: number): void {
    const [leader] = this.#engine.apply('Range', { key: this.#keys.leader }).kvs;
    if (Number(leader?.createRevision) !== term)
      this.fail(`record ${record} of term ${term} was stored while term ${leader?.createRevision} led`);
    if (term !== termBefore && operation.kind !== 'start')
      this.fail(`term ${term} begins with an entry that is no start, at record ${record}`);
    if (operation.kind !== 'commit') return;
    for (const { key, revision, value } of unpackCommit(operation.commit)) {
      if (revision !== this.#changes.length) this.fail(`revision ${revision} is logged out of order`);
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
