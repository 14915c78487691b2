/** The Kubernetes libraries of CEL: facts of k8s.io/apiserver pkg/cel/library/*_test.go and validation_test.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompileError } from '../../../coordinator/cel/language/cel-error.js';
import { compileExpression, type Evaluation } from '../../../coordinator/cel/language/compile-expression.js';
import { KUBERNETES_FUNCTIONS } from '../../../coordinator/cel/libraries/kubernetes-functions.js';
import { startCpuTimer } from '../../harness/basics/cpu-time.js';

function evaluate(expression: string): Evaluation {
  const context = { variables: new Map(), functions: KUBERNETES_FUNCTIONS };
  return compileExpression(expression, context).evaluate(() => undefined);
}

const TRUE: readonly string[] = [
  "[1, 2, 2].isSorted() && !['b', 'a'].isSorted()",
  '[1, 2, 3].sum() == 6 && [0.5, 1.5].sum() == 2.0',
  "duration('2m') == [duration('1m'), duration('1m')].sum()",
  '[1, 3, 2].max() == 3 && [1, 3, 2].min() == 1',
  "['a', 'b', 'b'].indexOf('b') == 1 && ['a', 'b', 'b'].lastIndexOf('b') == 2 && [1].indexOf(5) == -1",
  'sets.contains([1, 2, 3], [2]) && !sets.contains([1], [2]) && sets.equivalent([1, 1], [1])',
  "sets.intersects([1, 2], [2, 3]) && !sets.intersects(['a'], ['b'])",
  "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
  "'1 2 3'.findAll('[0-9]') == ['1', '2', '3'] && '1 2 3'.findAll('[0-9]', 2) == ['1', '2']",
  "url('https://user:pass@example.com:80/path?k=a&k=b').getHost() == 'example.com:80'",
  "url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getPort() == '80'",
  "url('https://example.com/a b'.replace(' ', '%20')).getEscapedPath() == '/a%20b'",
  "url('/path').getScheme() == '' && url('https://a/?x=1&x=2').getQuery()['x'] == ['1', '2']",
  "isURL('https://example.com/') && !isURL('../relative') && !isURL('https://a:b:c/')",
  "quantity('50k') == quantity('50000') && quantity('1.5Gi').asInteger() == 1610612736",
  "quantity('50M').isLessThan(quantity('100M')) && quantity('200M').compareTo(quantity('0.2G')) == 0",
  "quantity('50k').add(quantity('20')).sub(50000) == quantity('20') && quantity('-1').sign() == -1",
  "!quantity('50.5').isInteger() && quantity('50.703').asApproximateFloat() == 50.703",
  "isQuantity('1.3G') && !isQuantity('200KiB') && !isQuantity('Three Hundred')",
  "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && ip('127.0.0.1').isLoopback()",
  "ip('2001:DB8::1') == ip('2001:0db8:0:0::1') && string(ip('2001:DB8::1')) == '2001:db8::1'",
  "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')",
  "!isIP('192.168.0.1.0') && !isIP('fe80::1%en0') && !isIP('::ffff:1.2.3.4') && isIP('::1')",
  "ip('169.254.1.1').isLinkLocalUnicast() && ip('224.0.0.1').isLinkLocalMulticast()",
  "ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && ip('::').isUnspecified()",
  "cidr('192.168.0.0/24').containsIP(ip('192.168.0.5')) && !cidr('192.168.0.0/24').containsIP('192.168.1.5')",
  "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/16'))",
  "cidr('192.168.1.1/24').masked() == cidr('192.168.1.0/24') && cidr('10.0.0.0/8').prefixLength() == 8",
  "cidr('2001:db8::/32').ip() == ip('2001:db8::') && !isCIDR('192.168.0.0/33') && isCIDR('::/0')",
  "!format.dns1123Label().validate('my-name').hasValue() && format.dns1123Label().validate('-a').hasValue()",
  "format.named('dns1035Label').value().validate('1a').hasValue() && !format.named('other').hasValue()",
  "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
  "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('x').hasValue()",
  "!format.date().validate('2021-01-01').hasValue() && format.date().validate('2021-02-31').hasValue()",
  "!format.dns1123LabelPrefix().validate('a-').hasValue() && format.dns1123Label().validate('a-').hasValue()",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-alpha').isLessThan(semver('1.0.0'))",
  "semver('v1.0', true) == semver('1.0.0') && !isSemver('v1.0') && isSemver('v01.2', true)",
  "semver('1.2.3+build').major() == 1 && semver('1.2.3').compareTo(semver('1.2.3')) == 0",
  'optional.of(1).hasValue() && !optional.none().hasValue() && optional.none().orValue(1) == 1',
  "{'a': 1}.?b.orValue(2) == 2 && {'a': 1}[?'a'].value() == 1 && optional.of(1).optMap(x, x + 1).value() == 2",
  'cel.bind(x, 2, x * x) == 4 && 1 < 1.5 && 2u > 1 && dyn(1) == 1.0',
  "dyn(1) != 'a' && [1, 2] + [3] == [1, 2, 3] && 'a' in {'a': 1} && !('b' in {'a': 1})",
  '[1, 2].transformMap(i, v, v * 2) == {0: 2, 1: 4} && [3, 2, 1].sort() == [1, 2, 3]',
  "has({'a': {'b': 1}}.a.b) && !has({'a': {'b': 1}}.a.c)",
  "timestamp('2023-01-31T10:00:00Z').getDayOfYear() == 30 && timestamp('2023-01-01T23:00:00Z').getHours('+02:00') == 1",
  "timestamp('2023-07-01T12:00:00Z').getHours('Europe/Berlin') == 14 && duration('90m').getHours() == 1",
  'false || true || 1 / 0 == 1',
  "[1, 2, 0].exists(x, 2 / x == 1) && ['a', 'b'].join('-') == 'a-b'",
  "type(1) == int && type('a') == string && type([1]) == list && type({}) == map && type(null) == null_type",
  "string(timestamp('2023-01-01T00:00:00.5Z')) == '2023-01-01T00:00:00.5Z' && int('-5') == -5 && double('1e3') == 1000.0",
  "'a👑b'.substring(1, 2) == '👑' && 'a👑b'.indexOf('b') == 2 && 'a👑b'.charAt(1) == '👑' && 'aXa'.lastIndexOf('a') == 2",
  "'aaa'.replace('a', 'b', 2) == 'bba' && 'abc'.replace('', '-') == '-a-b-c-' && 'a$&b'.replace('a', '$&') == '$&$&b'",
];

for (const expression of TRUE) {
  test(`${expression} is true`, () => {
    assert.deepEqual(evaluate(expression).outcome, { value: true });
  });
}

const FAILING: readonly [expression: string, error: RegExp][] = [
  ["ip('192.168.0.1.0').family() == 4", /parse error during conversion from string/],
  ["cidr('1.2.3.4').prefixLength() == 1", /network address parse error/],
  ["quantity('x').isInteger()", /quantities must match the regular expression/],
  ["quantity('1.5').asInteger() == 1", /cannot convert value to integer/],
  ['[].min() == 1', /min called on empty list/],
  ["'a'.matches(dyn('('))", /Illegal regex/],
  ["'abc'.substring(5) == ''", /index out of range: 5/],
  ["int('x') == 1", /type conversion error from 'string' to 'int'/],
  ['9223372036854775807 + 1 == 0', /integer overflow/],
  ['1 % 0 == 1', /modulus by zero/],
  ["{'a': 1}.b == 1", /no such key: b/],
  ['optional.none().value() == 1', /optional.none\(\) dereference/],
];

for (const [expression, error] of FAILING) {
  test(`${expression} fails`, () => {
    const { outcome } = evaluate(expression);
    assert.match('error' in outcome ? outcome.error.message : 'no error', error);
  });
}

const REFUSED: readonly [expression: string, error: RegExp][] = [
  ['1 + "a"', /found no matching overload for '_\+_' applied to '\(int, string\)'/],
  ['x.y', /undeclared reference to 'x' \(in container ''\)/],
  ['1 == "a"', /found no matching overload for '_==_' applied to '\(int, string\)'/],
  ["[1, 'a']", /expected type 'int' but found 'string'/],
  ['1.all(x, x > 0)', /expression of type 'int' cannot be range of a comprehension/],
  ['"a".startsWith(1)', /found no matching overload for 'startsWith' applied to 'string\.\(int\)'/],
  ['true ? 1 : "a"', /found no matching overload for '_\?_:_' applied to '\(bool, int, string\)'/],
  ['1 +', /Syntax error/],
  ['true && 1', /expected type 'bool' but found 'int'/],
];

for (const [expression, error] of REFUSED) {
  test(`${expression} does not compile`, () => {
    assert.throws(
      () => evaluate(expression),
      (thrown) => thrown instanceof CompileError && error.test(thrown.message),
    );
  });
}

test('a pattern that backtracks exponentially elsewhere takes linear time', () => {
  const text = 'a'.repeat(5_000);
  const cpuMs = startCpuTimer();
  assert.deepEqual(evaluate(`'${text}!'.matches('^(a+)+$')`).outcome, { value: false });
  assert.ok(cpuMs() < 2_000);
});
