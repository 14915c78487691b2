/** The documented commands on a real Docker. */
import { tour } from './documented-commands.js';

tour('docker');
