/** A container engine's driver with some of its calls replaced. */
import type { RuntimeDriver } from './runtime-driver.js';

/** Returns a driver that makes the calls of `replaced`, and passes all others on to `driver`. */
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
