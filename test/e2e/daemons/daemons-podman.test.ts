/**
 * The example DaemonSets on a real Podman. They use paths of this machine, so the same examples on Docker must not run
 * at the same time.
 */
import { daemons } from './daemon-shapes.js';

daemons('podman');
