type Verb = (...args: unknown[]) => Promise<unknown>

/** The store, or a part of it, whose verbs reject where `admit` throws: inside `ctx.transaction`. */
export function outsideTransactions<T extends object>(part: T, admit: () => void): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return typeof member === 'object' && member ? outsideTransactions(member, admit) : member
      return async (...args: unknown[]) => {
        admit()
        return (member as Verb)(...args)
      }
    },
  })
}
