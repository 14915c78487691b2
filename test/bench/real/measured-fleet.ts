/** What is measured on real engines, whoever does it: the floor, Everynode, Docker Swarm. */

/** Runs one container on each of several engines. Every method resolves when the request was taken, not when it is done. */
export interface MeasuredFleet {
  /** On the first engine alone: the container is wanted there, or no more. */
  label(wanted: boolean): Promise<void>;
  /** On all engines. */
  deploy(): Promise<void>;
  /** Resolves when it says that all run. */
  untilAllShown(): Promise<void>;
  /** A new version, so many engines at a time. */
  update(atOnce: number): Promise<void>;
  /** Nothing is wanted any more. */
  remove(): Promise<void>;
}
