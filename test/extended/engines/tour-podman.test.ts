/** The documented commands on a real Podman. */
import { tour } from '../../e2e/tour/documented-commands.js';

tour('podman');
