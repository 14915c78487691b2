/** The interface of every measured fleet on real engines: the floor, Everynode, Docker Swarm. */

/**
 * Runs one container on each of several engines. Every method resolves when the request is accepted, before it is
 * carried out.
 */
export interface MeasuredFleet {
  /** Adds or removes the label for the first engine, which starts or stops its container. */
  label(wanted: boolean): Promise<void>;
  /** Starts the container on all engines. */
  deploy(): Promise<void>;
  /** Resolves when the fleet reports that all containers run. */
  untilAllShown(): Promise<void>;
  /** Updates `atOnce` engines at a time. */
  update(atOnce: number): Promise<void>;
  /** Removes all containers. */
  remove(): Promise<void>;
}
