/**
 * Records a program's operations on the files below a folder, and computes what a power cut after each operation could
 * leave. A file's content is durable after a sync of the file, its name after a sync of its folder. Before that the
 * disk may have the old state, the new state or a part of it. The recorded functions are those of Node's own modules,
 * so the product's code runs unchanged.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';

type Deed =
  | { kind: 'folder' | 'empty' | 'remove' | 'sync'; path: string }
  | { kind: 'write'; path: string; bytes: Buffer }
  | { kind: 'rename'; path: string; to: string };

/** Content of each file by its path. The value of a folder is undefined. */
export type DiskState = ReadonlyMap<string, Buffer | undefined>;

/** What a disk may keep of unsynced content. */
const REMAINS: readonly ((bytes: Buffer) => Buffer)[] = [
  (bytes) => bytes,
  (bytes) => bytes.subarray(0, bytes.length >> 1),
  () => Buffer.alloc(0),
  (bytes) => Buffer.alloc(bytes.length),
];

export class RecordedDisk {
  readonly #deeds: Deed[] = [];
  #restore: (() => void) | undefined;

  /** Starts recording; the caller must call `stop`. `root` must exist. */
  constructor(private readonly root: string) {
    this.#restore = recordDeeds((deed) => {
      if (`${deed.path}/`.startsWith(`${root}/`)) this.#deeds.push(deed);
    });
  }

  /** The number of operations. */
  get deeds(): number {
    return this.#deeds.length;
  }

  stop(): void {
    this.#restore?.();
    this.#restore = undefined;
  }

  /** Returns all states that a power cut after the first `count` operations could leave. */
  statesAfter(count: number): DiskState[] {
    const states = [false, true].flatMap((keepsNames) =>
      REMAINS.map((remains) => stateAfter(this.#deeds.slice(0, count), this.root, keepsNames, remains)),
    );
    return [...new Map(states.map((state) => [fingerprint(state), state])).values()];
  }
}

interface Content {
  synced: Buffer | undefined;
  present: Buffer;
}

/** `keepsNames` is true if unsynced names are on the disk too. */
function stateAfter(
  deeds: readonly Deed[],
  root: string,
  keepsNames: boolean,
  remains: (bytes: Buffer) => Buffer,
): DiskState {
  const present = new Map<string, Content | undefined>([[root, undefined]]);
  const synced = new Map(present);
  for (const deed of deeds) {
    const known = present.get(deed.path);
    switch (deed.kind) {
      case 'folder':
        if (!present.has(deed.path)) present.set(deed.path, undefined);
        break;
      case 'empty':
        if (known) known.present = Buffer.alloc(0);
        else present.set(deed.path, { synced: undefined, present: Buffer.alloc(0) });
        break;
      case 'write':
        if (known) known.present = deed.bytes;
        break;
      case 'rename':
        present.delete(deed.path);
        present.set(deed.to, known);
        break;
      case 'remove':
        for (const path of [...present.keys()])
          if (`${path}/`.startsWith(`${deed.path}/`)) present.delete(path);
        break;
      case 'sync':
        if (known) known.synced = known.present;
        else takeNames(present, synced, deed.path);
    }
  }
  const names = keepsNames ? present : synced;
  return new Map(
    [...names]
      .filter(([path]) => upTo(path).every((each) => !each.startsWith(root) || names.has(each)))
      .map(([path, content]) => [path, content && whatIsLeft(content, remains)]),
  );
}

/** Marks the folder's names as durable. */
function takeNames<T>(present: Map<string, T>, synced: Map<string, T>, folder: string): void {
  for (const path of [...synced.keys()])
    if (dirname(path) === folder && !present.has(path)) synced.delete(path);
  for (const [path, content] of present) if (dirname(path) === folder) synced.set(path, content);
}

function whatIsLeft({ synced, present }: Content, remains: (bytes: Buffer) => Buffer): Buffer {
  return synced?.equals(present) ? present : remains(present);
}

function fingerprint(state: DiskState): string {
  return JSON.stringify([...state].map(([path, bytes]) => [path, bytes?.toString('base64')]).sort());
}

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** Wraps all functions of both modules that change files. Returns a function that restores them. */
function recordDeeds(tell: (deed: Deed) => void): () => void {
  const load = createRequire(import.meta.url);
  const now = load('node:fs') as unknown as Functions;
  const later = load('node:fs/promises') as unknown as Functions;
  const undo = [
    ...stand(now, 'Sync', tell),
    ...stand(later, '', tell),
    replace(later, 'open', (open) => async (path: unknown, flags: unknown, ...more: unknown[]) => {
      const handle = (await open(path, flags, ...more)) as Functions;
      if (flags === 'w') tell({ kind: 'empty', path: String(path) });
      replace(handle, 'writeFile', (write) => async (content: unknown) => {
        await write.call(handle, content);
        tell({ kind: 'write', path: String(path), bytes: Buffer.from(content as string) });
      });
      replace(handle, 'sync', (sync) => async () => {
        await sync.call(handle);
        tell({ kind: 'sync', path: String(path) });
      });
      return handle;
    }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const back of undo) back();
    syncBuiltinESMExports();
  };
}

/** Returns the path and its parent folders, the outermost first. */
function upTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...upTo(parent), path];
}

function stand(functions: Functions, suffix: string, tell: (deed: Deed) => void): (() => void)[] {
  const told = (name: string, deeds: (...args: unknown[]) => Deed[]) =>
    replace(functions, `${name}${suffix}`, (original) => (...args: unknown[]) => {
      const answer = original(...args);
      const tellAll = (value: unknown) => {
        for (const deed of deeds(...args)) tell(deed);
        return value;
      };
      return answer instanceof Promise ? answer.then(tellAll) : tellAll(answer);
    });
  return [
    told('mkdir', (path) => upTo(String(path)).map((each) => ({ kind: 'folder', path: each }))),
    told('rm', (path) => [{ kind: 'remove', path: String(path) }]),
    told('unlink', (path) => [{ kind: 'remove', path: String(path) }]),
    told('rename', (path, to) => [{ kind: 'rename', path: String(path), to: String(to) }]),
    told('writeFile', (path, content) => [
      { kind: 'empty', path: String(path) },
      { kind: 'write', path: String(path), bytes: Buffer.from(content as string) },
    ]),
  ];
}

function replace(
  functions: Functions,
  name: string,
  other: (original: (...args: unknown[]) => unknown) => (...args: never[]) => unknown,
): () => void {
  const original = functions[name];
  if (!original) throw new Error(`there is no ${name}`);
  functions[name] = other(original) as (...args: unknown[]) => unknown;
  return () => {
    functions[name] = original;
  };
}
