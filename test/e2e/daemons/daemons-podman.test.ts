/** The shapes of well-known daemons on a real Podman. */
import { daemons } from './daemon-shapes.js';

daemons('podman');
