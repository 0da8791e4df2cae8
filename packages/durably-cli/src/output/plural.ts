/** `1 run`, `2 runs`; or with a verb: `1 run waits`, `2 runs wait`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A count that was stopped at its limit: `500 or more runs`. */
export function countedUpTo(max: number, count: number, one: string, many = `${one}s`): string {
  return count < max ? counted(count, one, many) : `${max} or more ${many}`
}
