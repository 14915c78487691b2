/** Which versions of the C and C++ libraries executables need, from their ELF files. */
import { readFileSync } from 'node:fs';

const SHT_GNU_VERNEED = 0x6f_ff_ff_fe;

/**
 * The GCC whose libstdc++ has a symbol version first: https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html. Older
 * symbol versions than those listed come with GCC 5 at the latest.
 */
const GCC_OF_SYMBOLS = {
  'GLIBCXX_3.4': {
    21: '5',
    22: '6',
    23: '7',
    24: '7.2',
    25: '8',
    26: '9',
    27: '9.2',
    28: '9.3',
    29: '11',
    30: '12',
    31: '13',
    32: '13.2',
    33: '14',
  },
  'CXXABI_1.3': { 9: '5', 10: '6', 11: '7', 12: '9', 13: '11', 14: '13', 15: '14' },
};
/** Node's own builds need these. */
const OLDEST_GCC = '5';
const OLDEST_GLIBC = '2.28';

/** Returns the symbol versions, such as `GLIBC_2.34`, that a 64-bit little-endian ELF file needs. */
export function neededSymbolVersions(file) {
  const elf = readFileSync(file);
  if (elf.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${file} is not a 64-bit ELF file`);
  const headers = Number(elf.readBigUInt64LE(0x28));
  const [size, count] = [elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c)];
  const section = (index) => headers + index * size;
  const offsetOf = (header) => Number(elf.readBigUInt64LE(header + 0x18));
  const needs = Array.from({ length: count }, (_, index) => section(index)).find(
    (header) => elf.readUInt32LE(header + 4) === SHT_GNU_VERNEED,
  );
  if (needs === undefined) return [];
  const names = offsetOf(section(elf.readUInt32LE(needs + 0x28)));
  const nameAt = (offset) => elf.toString('latin1', names + offset, elf.indexOf(0, names + offset));
  const found = new Set();
  let library = offsetOf(needs);
  for (let left = elf.readUInt32LE(needs + 0x2c); left > 0; left--) {
    let version = library + elf.readUInt32LE(library + 8);
    for (let more = elf.readUInt16LE(library + 2); more > 0; more--) {
      found.add(nameAt(elf.readUInt32LE(version + 8)));
      version += elf.readUInt32LE(version + 12);
    }
    library += elf.readUInt32LE(library + 12);
  }
  return [...found].sort();
}

/**
 * Returns the oldest glibc, and the oldest GCC with a libstdc++, that have all of the symbol versions. Throws an Error for
 * a version of an unknown GCC, because a guess would install a program that does not start.
 */
export function libraryMinimums(symbolVersions) {
  const glibc = symbolVersions.flatMap((each) => /^GLIBC_([0-9.]+)$/.exec(each)?.[1] ?? []);
  return {
    glibc: newest([OLDEST_GLIBC, ...glibc]),
    gcc: newest([OLDEST_GCC, ...symbolVersions.flatMap(gccOf)]),
  };
}

function gccOf(symbolVersion) {
  const [, family, number] = /^((?:GLIBCXX|CXXABI)_\d+\.\d+)(?:\.(\d+))?$/.exec(symbolVersion) ?? [];
  if (family === undefined) return [];
  const known = GCC_OF_SYMBOLS[family];
  if (known && Number(number ?? 0) < Number(Object.keys(known)[0])) return [OLDEST_GCC];
  if (known?.[number]) return [known[number]];
  throw new Error(`${symbolVersion}: add its GCC to GCC_OF_SYMBOLS in release/shared-libraries.mjs`);
}

function newest(versions) {
  const compare = (a, b) => a.localeCompare(b, 'en', { numeric: true });
  return versions.sort(compare).at(-1);
}
