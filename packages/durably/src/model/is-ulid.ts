const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

export function isUlid(text: unknown): text is string {
  return typeof text === 'string' && ULID.test(text)
}
