/** All functions that expressions of Kubernetes can call (k8s.io/apiserver pkg/cel/environment/base.go). */
import { functionsOf } from '../language/overload.js';
import { ADDRESSES } from './address-library.js';
import { CONVERSIONS } from './conversion-library.js';
import { NAMED_FORMATS } from './format-library.js';
import { LISTS } from './list-library.js';
import { OPERATORS } from './operator-library.js';
import { QUANTITIES } from './quantity-library.js';
import { REGEX } from './regex-library.js';
import { STRINGS } from './string-library.js';
import { TIMES } from './time-library.js';
import { URLS } from './url-library.js';
import { VERSIONS } from './version-library.js';

export const KUBERNETES_FUNCTIONS = functionsOf(
  OPERATORS,
  CONVERSIONS,
  STRINGS,
  REGEX,
  TIMES,
  LISTS,
  QUANTITIES,
  ADDRESSES,
  NAMED_FORMATS,
  VERSIONS,
  URLS,
);
