type Verb = (...args: unknown[]) => Promise<unknown>

/** The store, or a part of it, whose operations reject where `refuseInTransaction` throws: inside `ctx.transaction`. */
export function outsideTransactions<T extends object>(part: T, refuseInTransaction: () => void): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function')
        return typeof member === 'object' && member ? outsideTransactions(member, refuseInTransaction) : member
      return async (...args: unknown[]) => {
        refuseInTransaction()
        return (member as Verb)(...args)
      }
    },
  })
}
