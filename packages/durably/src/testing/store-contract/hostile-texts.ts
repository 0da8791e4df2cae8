/** Good for names, keys and messages: no NUL, no lone surrogates (the API refuses those). */
export const TEXTS: Record<string, string> = {
  emoji: '👩‍👩‍👧‍👦 🏳️‍🌈 𝒳',
  'right to left': '\u202eמזל טוב\u202c مرحبا',
  'combining marks': 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢',
  quotes: `'"\`''""\\'\\"`,
  'an SQL injection': `'); DROP TABLE runs; --`,
  'placeholders and patterns': `? $1 :name @p1 % _ \\ {} \${x}`,
  'control characters': '\u0001\u001b[31m\t\r\n\u007f\u0085\u2028\ufeff',
  'a name of every object': '__proto__',
  'another name of every object': 'constructor',
  'a number': '0123',
  'a word of SQL': 'NULL',
  spaces: '  two before and after  ',
}

/** Encoded values, as the codec writes them. */
export const VALUES: Record<string, string> = {
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, JSON.stringify(text)])),
  'an escaped NUL': JSON.stringify('a\0b'),
  'a lone surrogate': JSON.stringify('\ud800 \udfff'),
  'an own __proto__': '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
  'JSON null': 'null',
  'an empty string': '""',
  'numbers that doubles cannot hold': '[9007199254740993,1e999,0.1000000000000000055511151231257827]',
  'spacing that a JSON column would drop': '{ "b" : 1, "a" : 2, "a" : 3 }',
  'deep nesting': `${'['.repeat(500)}${']'.repeat(500)}`,
}

export const MEGABYTE = JSON.stringify('é🎈"\\'.repeat(140_000))
