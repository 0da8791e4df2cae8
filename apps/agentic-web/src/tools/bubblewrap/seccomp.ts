// The filter of system calls (seccomp) for an isolated process, as the program of cBPF that bubblewrap loads. It allows everything but a list: what
// matters is decided by the namespaces, and this takes away the ways to attack the kernel behind them.
import { CLONE, CLONE3, IOCTL, KILLED, REFUSED } from './system-calls.ts'

const LOAD = 0x20
const IF_EQUAL = 0x15
const IF_AT_LEAST = 0x35
const IF_ANY_BIT = 0x45
const RETURN = 0x06

const KILL = 0x8000_0000
const ALLOW = 0x7fff_0000
const ERRNO = 0x0005_0000
const EPERM = 1
const ENOSYS = 38

/** Where `struct seccomp_data` has the number of the call, the architecture, and the lower halves of the first two arguments. */
const AT = { call: 0, architecture: 4, first: 16, second: 24 }

/** Calls of the x32 ABI have this bit, and other numbers. */
const X32 = 0x4000_0000
/** CLONE_NEW…: time, mount, cgroup, UTS, IPC, user, pid and network namespaces. */
const NEW_NAMESPACES = 0x0000_0080 | 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000
/** Types into the terminal of whoever started this. */
const TERMINAL_INPUT = [0x5412, 0x541c]

interface Architecture {
  code: number
  column: 0 | 1
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { code: 0xc000_003e, column: 0 },
  arm64: { code: 0xc000_00b7, column: 1 },
}

type Instruction = [code: number, then: number, otherwise: number, value: number]

/** Undefined for machines whose numbers are not known here. */
export function seccompFilter(architecture: string): Buffer | undefined {
  const known = ARCHITECTURES[architecture]
  return known && encode(program(known))
}

function program({ code, column }: Architecture): Instruction[] {
  const killed = numbersOf(KILLED, column)
  const refused = numbersOf(REFUSED, column)
  return [
    [LOAD, 0, 0, AT.architecture],
    ...unless([IF_EQUAL, code], KILL),
    [LOAD, 0, 0, AT.call],
    ...when([IF_AT_LEAST, X32], KILL),
    ...killed.flatMap((number) => when([IF_EQUAL, number], KILL)),
    ...refused.flatMap((number) => when([IF_EQUAL, number], ERRNO | EPERM)),
    ...when([IF_EQUAL, CLONE3[column] ?? 0], ERRNO | ENOSYS),
    ...withArgument(CLONE[column] ?? 0, AT.first, when([IF_ANY_BIT, NEW_NAMESPACES], KILL)),
    ...withArgument(
      IOCTL[column] ?? 0,
      AT.second,
      TERMINAL_INPUT.flatMap((request) => when([IF_EQUAL, request], KILL)),
    ),
    [RETURN, 0, 0, ALLOW],
  ]
}

function numbersOf(calls: typeof KILLED, column: 0 | 1): number[] {
  return Object.values(calls).flatMap((numbers) => numbers[column] ?? [])
}

type Condition = [jump: number, value: number]

function when([jump, value]: Condition, result: number): Instruction[] {
  return [
    [jump, 0, 1, value],
    [RETURN, 0, 0, result],
  ]
}

function unless([jump, value]: Condition, result: number): Instruction[] {
  return [
    [jump, 1, 0, value],
    [RETURN, 0, 0, result],
  ]
}

/** Looks at an argument of one call, which is allowed if none of the checks decides. */
function withArgument(call: number, argument: number, checks: Instruction[]): Instruction[] {
  const body: Instruction[] = [[LOAD, 0, 0, argument], ...checks, [RETURN, 0, 0, ALLOW]]
  return [[IF_EQUAL, 0, body.length, call], ...body]
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [i, [code, then, otherwise, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, i * 8)
    bytes.writeUInt8(then, i * 8 + 2)
    bytes.writeUInt8(otherwise, i * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, i * 8 + 4)
  }
  return bytes
}
