/** `1 run`, `2 runs`, `1,204 runs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberInWords(count)} ${count === 1 ? one : many}`
}

export function numberInWords(count: number): string {
  return count.toLocaleString('en-US')
}
