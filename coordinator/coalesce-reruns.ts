/**
 * `work` as it is to be asked for: a run begins after it was asked for, and never beside another. All who ask during a run share
 * the one behind it; who asks hears how it ended. A run that failed holds up none.
 */
export function coalesceReruns(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return work();
      });
    last = next;
    return next;
  };
}
