/** How `ctx.trigger` and `ctx.invoke` tell `trigger` which run asks; nobody else can say it. */
export const PARENT = Symbol('parent run')
