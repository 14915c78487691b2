/** Reads each record at the moment when etcd stores it, and checks that only the leader of its term can have appended it. */
import { type PackedCommit, unpackCommit } from '../../../coordinator/store/log/packed-commit.js';
import { type EtcdKeys, etcdKeys, type LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import { EntryReader, type LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';

interface LogTapDeps {
  readonly engine: MemoryEngine;
  readonly name: LogName;
  /** Receives each commit of the log. */
  onCommit(commit: PackedCommit): void;
  /** Receives each term with its first entry. */
  onTerm?(term: number): void;
  /** A rule is broken. */
  fail(rule: string): void;
}

export class LogTap {
  readonly #deps: LogTapDeps;
  readonly #keys: EtcdKeys;
  readonly #reader: EntryReader;
  #revision = 0;
  #isBroken = false;

  constructor(deps: LogTapDeps) {
    const { engine, name } = deps;
    this.#deps = deps;
    this.#keys = etcdKeys(name);
    this.#reader = new EntryReader({ generation: name.generation, record: 0, term: 0, chain: '' });
    engine.onChange(() => this.#read());
  }

  get lastRecord(): number {
    return this.#reader.position.record;
  }

  /** Of the last commit. */
  get revision(): number {
    return this.#revision;
  }

  #read(): void {
    if (this.#isBroken) return;
    const range = this.#keys.records(this.#reader.nextRecord);
    for (const { key, value } of this.#deps.engine.apply('Range', range).kvs) {
      const { term } = this.#reader.position;
      try {
        const entry = this.#reader.add({ index: this.#keys.indexOf(key), bytes: value });
        if (entry) this.#add(entry, term);
      } catch (error) {
        this.#fail(`the log does not continue: ${String(error)}`);
        return;
      }
    }
  }

  #add({ operation, position: { record, term } }: LogEntry, termBefore: number): void {
    const { engine, onCommit, onTerm } = this.#deps;
    const [leader] = engine.apply('Range', { key: this.#keys.leader }).kvs;
    if (Number(leader?.createRevision) !== term)
      this.#fail(`record ${record} of term ${term} was stored while term ${leader?.createRevision} led`);
    if (term !== termBefore) onTerm?.(term);
    if (term !== termBefore && operation.kind !== 'start')
      this.#fail(`term ${term} begins with an entry that is no start, at record ${record}`);
    if (operation.kind !== 'commit') return;
    for (const { revision } of unpackCommit(operation.commit)) {
      if (revision !== this.#revision + 1) this.#fail(`revision ${revision} is logged out of order`);
      this.#revision = revision;
    }
    onCommit(operation.commit);
  }

  #fail(rule: string): void {
    this.#isBroken = true;
    this.#deps.fail(rule);
  }
}
