// Evaluates arithmetic: numbers, + - * / % ^ and parentheses. `^` binds from the right and above the sign, as in mathematics.

/** Throws with a message for the model if it is no expression. */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|[-+*/%^()]|\S/gi) ?? []
  let at = 0
  let depth = 0

  const sum = (): number => {
    let value = product()
    while (tokens[at] === '+' || tokens[at] === '-') value = tokens[at++] === '+' ? value + product() : value - product()
    return value
  }
  const product = (): number => {
    let value = signed()
    while (['*', '/', '%'].includes(tokens[at] ?? '')) {
      const operator = tokens[at++]
      const right = signed()
      if (right === 0 && operator !== '*') throw new Error('division by zero')
      value = operator === '*' ? value * right : operator === '/' ? value / right : value % right
    }
    return value
  }
  const signed = (): number => {
    let sign = 1
    while (tokens[at] === '-' || tokens[at] === '+') sign = tokens[at++] === '-' ? -sign : sign
    return sign * power()
  }
  const power = (): number => {
    const base = atom()
    if (tokens[at] !== '^') return base
    at++
    return base ** signed()
  }
  const atom = (): number => {
    const token = tokens[at++]
    if (token === '(') {
      if (++depth > 100) throw new Error('more than 100 parentheses inside each other')
      const value = sum()
      if (tokens[at++] !== ')') throw new Error('a closing parenthesis is missing')
      depth--
      return value
    }
    const value = Number(token)
    if (token === undefined || Number.isNaN(value))
      throw new Error(`expected a number at ${token === undefined ? 'the end' : JSON.stringify(token)}`)
    return value
  }

  const value = sum()
  if (at < tokens.length) throw new Error(`did not expect ${JSON.stringify(tokens[at])}`)
  if (!Number.isFinite(value)) throw new Error('the result is too large')
  return value
}
