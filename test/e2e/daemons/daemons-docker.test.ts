/** The shapes of well-known daemons on a real Docker. */
import { daemons } from './daemon-shapes.js';

daemons('docker');
