/** The shapes of well-known daemons on a real Podman. */
import { daemons } from './daemons.js';

daemons('podman');
