/** Replaces single calls of a runtime driver. */
import type { RuntimeDriver } from './runtime-driver.js';

/** Returns a driver that uses the calls of `replaced`, and those of `driver` for all others. */
export function overrideDriver(driver: RuntimeDriver, replaced: Partial<RuntimeDriver>): RuntimeDriver {
  return new Proxy(driver, {
    get(target, name) {
      const replacement: unknown = Reflect.get(replaced, name);
      if (replacement !== undefined) return replacement;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
