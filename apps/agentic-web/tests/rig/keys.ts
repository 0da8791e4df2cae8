/** A key for tests only. */
export function testKey(id: string, byte: number): string {
  return `${id}:${Buffer.alloc(32, byte).toString('base64')}`
}

export const TEST_KEYS = testKey('k1', 1)
