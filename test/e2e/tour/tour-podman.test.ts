/** The documented commands on a real Podman. */
import { tour } from './documented-commands.js';

tour('podman');
