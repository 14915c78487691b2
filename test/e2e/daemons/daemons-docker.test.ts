/** The example DaemonSets on a real Docker. */
import { daemons } from './daemon-shapes.js';

daemons('docker');
