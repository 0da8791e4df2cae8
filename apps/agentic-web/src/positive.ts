// A setting that is a whole number of at least 1.
type Env = Readonly<Record<string, string | undefined>>

export function positive(env: Env, name: string, fallback: number): number {
  const text = env[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name} must be a whole number of at least 1, got ${JSON.stringify(text)}`)
  return value
}
