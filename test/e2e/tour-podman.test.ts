/** The tour on a real Podman. */
import { tour } from './tour.js';

tour('podman');
