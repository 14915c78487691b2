/** The tour on a real Docker. */
import { tour } from './tour.js';

tour('docker');
