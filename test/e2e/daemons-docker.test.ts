/** The shapes of well-known daemons on a real Docker. */
import { daemons } from './daemons.js';

daemons('docker');
