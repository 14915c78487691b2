/**
 * The example DaemonSets on a real Docker, then on a real Podman. They use the same paths of this machine, so a second
 * file could remove the paths while the first one uses them.
 */
import { daemons } from './daemon-shapes.js';

daemons('docker');
daemons('podman');
