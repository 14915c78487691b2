/** Kills controllers before or after any of their writes. */
import type { Registry } from '../../../coordinator/registry/registry.js';

/** A write at which the controllers are killed: before it is stored, or when it is stored and not reported. */
export interface Kill {
  atWrite: number;
  when: 'before' | 'after';
}

export class WriteKills {
  #kill: Kill | undefined;
  #writes = 0;
  /** Number of kills so far. */
  kills = 0;

  /** Writes for which it returns true fail, and the controllers retry them. */
  isFailing: () => boolean = () => false;

  constructor(kill: Kill | undefined) {
    this.#kill = kill;
  }

  /** Plans a kill at one of the next writes. */
  plan(kill: Kill): void {
    this.#kill = kill;
    this.#writes = 0;
  }

  /** Wraps the writes of one life of the controllers. After a kill none of them succeeds. */
  wrap(registry: Registry): Registry {
    const life = { isOver: false };
    const guard = async <R>(write: () => Promise<R>): Promise<R> => {
      if (life.isOver) throw new Error('killed');
      if (this.isFailing()) throw new Error('the store failed');
      this.#writes += 1;
      const isKill = this.#kill !== undefined && this.#writes === this.#kill.atWrite;
      if (isKill) {
        life.isOver = true;
        this.kills += 1;
      }
      if (isKill && this.#kill?.when === 'before') throw new Error('killed');
      const result = await write();
      if (isKill) throw new Error('killed');
      return result;
    };
    return {
      ...registry,
      create: (...given: Parameters<Registry['create']>) => guard(() => registry.create(...given)),
      modify: (...given: Parameters<Registry['modify']>) => guard(() => registry.modify(...given)),
      writeStatus: (...given: Parameters<Registry['writeStatus']>) =>
        guard(() => registry.writeStatus(...given)),
      delete: (...given: Parameters<Registry['delete']>) => guard(() => registry.delete(...given)),
      get: (...given: Parameters<Registry['get']>) => registry.get(...given),
    } as Registry;
  }
}
