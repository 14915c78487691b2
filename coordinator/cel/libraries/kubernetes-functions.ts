/** All functions that expressions of Kubernetes can call (k8s.io/apiserver pkg/cel/environment/base.go). */
import { functionsOf } from '../language/overload.js';
import { CONVERSIONS } from './conversion-library.js';
import { OPERATORS } from './operator-library.js';
import { REGEX } from './regex-library.js';
import { STRINGS } from './string-library.js';
import { TIMES } from './time-library.js';

export const KUBERNETES_FUNCTIONS = functionsOf(OPERATORS, CONVERSIONS, STRINGS, REGEX, TIMES);
