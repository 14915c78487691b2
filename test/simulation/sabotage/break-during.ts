/** Breaks a class of the product while `check` runs. */
export async function breakDuring<T extends object>(
  prototype: T,
  wrong: Partial<T>,
  check: () => Promise<void>,
): Promise<void> {
  const right = Object.fromEntries(Object.keys(wrong).map((key) => [key, Reflect.get(prototype, key)]));
  Object.assign(prototype, wrong);
  try {
    await check();
  } finally {
    Object.assign(prototype, right);
  }
}
