/** The example DaemonSets on a real Podman. */
import { daemons } from './daemon-shapes.js';

daemons('podman');
